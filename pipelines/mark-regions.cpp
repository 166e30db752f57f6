// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Plays a pipeline like gst-launch-1.0, and marks regions of its frames like a detector: a probe
// adds a GstVideoRegionOfInterestMeta for each region. A text file lists the regions and their
// times. Applications can mark regions from other sources in the same way.
//
//   mark-regions [--keep-tags] FILE ELEMENT ! identity name=mark ! ELEMENT ...
//
// Without --keep-tags, chapters and all tags except languages are removed before an element named
// "mux". At the end, the program lists the frames without a region.
//
// Build it with Meson together with the plug-in, or anywhere with
//   g++ -std=c++17 mark-regions.cpp -o mark-regions $(pkg-config --cflags --libs
//   gstreamer-video-1.0)

#include <gst/gst.h>
#include <gst/video/gstvideometa.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr const char* usage =
    "usage: mark-regions [--keep-tags] FILE ELEMENT ! identity name=mark ! ELEMENT ...\n"
    "\n"
    "  --keep-tags  let all tags of a video, such as titles and comments, pass the element\n"
    "             named \"mux\"; without this option, only language tags pass\n"
    "  FILE       a region in each line: BEGIN END X Y WIDTH HEIGHT [LABEL], times in seconds, "
    "other numbers in pixels;\n"
    "             empty lines and lines that begin with # are ignored\n"
    "  ELEMENT    a pipeline as for gst-launch-1.0; the frames that pass the element named "
    "\"mark\" "
    "are marked\n";

template <class T, void (*release)(T*)>
struct Releaser {
  void operator()(T* object) const { release(object); }
};
using Element = std::unique_ptr<GstElement, Releaser<void, gst_object_unref>>;
using Bus = std::unique_ptr<GstBus, Releaser<void, gst_object_unref>>;
using Pad = std::unique_ptr<GstPad, Releaser<void, gst_object_unref>>;
using Message = std::unique_ptr<GstMessage, Releaser<GstMessage, gst_message_unref>>;

struct Region {
  double begin, end;  ///< stream time in seconds; the region exists in [begin, end)
  gint x, y;
  guint width, height;
  std::string label;
};

// Negative coordinates are valid: such a region is clipped at the left or upper edge of the frame.
bool is_coordinate(double value) {
  return value >= G_MININT && value <= G_MAXINT;
}

bool is_number_of_pixels(double value) {
  return value >= 0 && value <= G_MAXINT;
}

std::vector<Region> read_regions(const std::string& file) {
  if (g_file_test(file.c_str(), G_FILE_TEST_IS_DIR))
    throw std::runtime_error(file + ": this is a folder; name a file");
  std::ifstream stream(file);
  if (!stream)
    throw std::runtime_error(
        file + ": there is no such file, or it cannot be read; correct its name or permissions");
  std::vector<Region> regions;
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) {
    std::istringstream words(line);
    std::string first;
    if (!(words >> first) || first[0] == '#')
      continue;
    words.seekg(0);
    double begin, end, x, y, width, height;
    std::string label, more;
    bool complete(words >> begin >> end >> x >> y >> width >> height);
    // Refuses letters directly after the last number. Text after the label, such as a second
    // region, is refused below.
    complete &= words.eof() || std::isspace(words.peek());
    words >> label >> more;
    if (!complete || !more.empty() || end < begin || !is_coordinate(x) || !is_coordinate(y) ||
        !is_number_of_pixels(width) || !is_number_of_pixels(height))
      throw std::runtime_error(
          file + ", line " + std::to_string(number) + ": \"" + line +
          "\" is not BEGIN END X Y WIDTH HEIGHT [LABEL] with END >= BEGIN and sizes >= 0");
    regions.push_back({begin, end, static_cast<gint>(x), static_cast<gint>(y),
                       static_cast<guint>(width), static_cast<guint>(height),
                       label.empty() ? "region" : label});
  }
  if (regions.empty())
    throw std::runtime_error(
        file + ": there is no region in this file; add a line BEGIN END X Y WIDTH HEIGHT for each");
  return regions;
}

Element build(const char** launch) {
  GError* error = nullptr;
  Element pipeline{gst_parse_launchv_full(launch, nullptr, GST_PARSE_FLAG_FATAL_ERRORS, &error)};
  if (error) {
    const std::string text = error->message;
    g_error_free(error);
    throw std::runtime_error(text);
  }
  if (!GST_IS_PIPELINE(pipeline.get()))
    throw std::invalid_argument(std::string("a single element is not a pipeline\n") + usage);
  return pipeline;
}

/// Numbers of frames, and the time spans of successive frames without a region, in seconds.
struct Report {
  struct Span {
    double begin, end;
  };
  int frames = 0, without = 0;
  bool last_without = false;
  std::vector<Span> spans;
};

struct Marker {
  std::vector<Region> regions;
  Report report;
};

void add_to(Report& report, double seconds, bool has_region) {
  ++report.frames;
  if (!has_region) {
    ++report.without;
    if (report.last_without)
      report.spans.back().end = seconds;
    else
      report.spans.push_back({seconds, seconds});
  }
  report.last_without = !has_region;
}

/// Returns the stream time of a frame in seconds, or a negative number if it has none.
double time_of(GstPad* pad, GstBuffer* frame) {
  GstEvent* event = gst_pad_get_sticky_event(pad, GST_EVENT_SEGMENT, 0);
  if (!event)
    return -1;
  const GstSegment* segment = nullptr;
  gst_event_parse_segment(event, &segment);
  const guint64 time = gst_segment_to_stream_time(segment, GST_FORMAT_TIME, GST_BUFFER_PTS(frame));
  gst_event_unref(event);
  return GST_CLOCK_TIME_IS_VALID(time) ? static_cast<double>(time) / GST_SECOND : -1;
}

/// Adds a meta for each region whose time interval contains the frame's time.
GstPadProbeReturn mark(GstPad* pad, GstPadProbeInfo* info, gpointer data) {
  auto& marker = *static_cast<Marker*>(data);
  const double seconds = time_of(pad, GST_PAD_PROBE_INFO_BUFFER(info));
  // Metas can be added only to a writable buffer.
  GstBuffer* frame = gst_buffer_make_writable(GST_PAD_PROBE_INFO_BUFFER(info));
  bool marked = false;
  for (const Region& region : marker.regions)
    if (seconds >= region.begin && seconds < region.end) {
      gst_buffer_add_video_region_of_interest_meta(
          frame, region.label.c_str(), static_cast<guint>(region.x), static_cast<guint>(region.y),
          region.width, region.height);
      marked = true;
    }
  add_to(marker.report, std::max(seconds, 0.0), marked);
  GST_PAD_PROBE_INFO_DATA(info) = frame;
  return GST_PAD_PROBE_OK;
}

void attach(GstElement* pipeline, Marker& marker) {
  const Element element{gst_bin_get_by_name(GST_BIN(pipeline), "mark")};
  if (!element)
    throw std::invalid_argument(std::string("the pipeline has no element named \"mark\"\n") +
                                usage);
  const Pad pad{gst_element_get_static_pad(element.get(), "src")};
  if (!pad)
    throw std::invalid_argument(
        "the element named \"mark\" has no pad src: use identity name=mark");
  gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_BUFFER, mark, &marker, nullptr);
}

/// Returns true for the titles that Matroska muxers give to tracks without a title.
bool is_default(const GstTagList* tags) {
  const gchar* title = nullptr;
  return gst_tag_list_get_scope(tags) == GST_TAG_SCOPE_STREAM &&
         gst_tag_list_peek_string_index(tags, GST_TAG_TITLE, 0, &title) &&
         (std::strcmp(title, "Audio") == 0 || std::strcmp(title, "Video") == 0);
}

/// Removes chapters and all tags except languages; if `keep` is set, only default titles.
GstPadProbeReturn filter_tags(GstPad*, GstPadProbeInfo* info, gpointer keep) {
  GstEvent* event = GST_PAD_PROBE_INFO_EVENT(info);
  if (GST_EVENT_TYPE(event) == GST_EVENT_TOC)
    return keep ? GST_PAD_PROBE_OK : GST_PAD_PROBE_DROP;
  if (GST_EVENT_TYPE(event) != GST_EVENT_TAG)
    return GST_PAD_PROBE_OK;
  GstTagList* tags = nullptr;
  gst_event_parse_tag(event, &tags);
  GstTagList* kept = keep ? gst_tag_list_copy(tags) : gst_tag_list_new_empty();
  gst_tag_list_set_scope(kept, gst_tag_list_get_scope(tags));
  if (keep && is_default(tags))
    gst_tag_list_remove_tag(kept, GST_TAG_TITLE);
  for (const char* name : {GST_TAG_LANGUAGE_CODE, GST_TAG_LANGUAGE_NAME})
    if (const GValue* value = gst_tag_list_get_value_index(tags, name, 0))
      gst_tag_list_add_value(kept, GST_TAG_MERGE_REPLACE, name, value);
  GST_PAD_PROBE_INFO_DATA(info) = gst_event_new_tag(kept);
  gst_event_unref(event);
  return GST_PAD_PROBE_OK;
}

void filter_tags_of(GstPad* pad, gpointer keep) {
  if (GST_PAD_IS_SINK(pad))
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, filter_tags, keep, nullptr);
}

/// Filters the tags on all sink pads of the muxer, including pads that are added later.
void filter_tags_of(GstElement* pipeline, bool keep) {
  const Element mux{gst_bin_get_by_name(GST_BIN(pipeline), "mux")};
  if (!mux)
    return;
  g_signal_connect(mux.get(), "pad-added", G_CALLBACK(+[](GstElement*, GstPad* pad, gpointer kept) {
                     filter_tags_of(pad, kept);
                   }),
                   GINT_TO_POINTER(keep));
  gst_element_foreach_sink_pad(
      mux.get(),
      [](GstElement*, GstPad* pad, gpointer kept) -> gboolean {
        filter_tags_of(pad, kept);
        return TRUE;
      },
      GINT_TO_POINTER(keep));
}

std::string clock(double seconds) {
  char text[32];
  std::snprintf(text, sizeof(text), "%d:%04.1f", static_cast<int>(seconds / 60),
                seconds - 60 * static_cast<int>(seconds / 60));
  return text;
}

/// Lists the frames without a region. Throws if no frame has a region.
void print(const Report& report) {
  if (report.without > 0) {
    std::printf("%d of %d frames have no region:", report.without, report.frames);
    for (const Report::Span& span : report.spans)
      std::printf("%s %s to %s", &span == report.spans.data() ? "" : ",", clock(span.begin).c_str(),
                  clock(span.end).c_str());
    std::printf("\n");
  }
  if (report.without == report.frames)
    throw std::runtime_error("no frame has a region: compare the times in the file with the video");
}

volatile std::sig_atomic_t interrupted = 0;

/// Prints the position of the pipeline over the previous position, as gst-launch-1.0 does.
void print_progress(GstElement* pipeline) {
  gint64 position = 0, duration = 0;
  if (!gst_element_query_position(pipeline, GST_FORMAT_TIME, &position))
    return;
  std::printf("\r%.1f s", static_cast<double>(position) / GST_SECOND);
  if (gst_element_query_duration(pipeline, GST_FORMAT_TIME, &duration) && duration > 0)
    std::printf(" of %.1f s", static_cast<double>(duration) / GST_SECOND);
  std::printf("  ");
  std::fflush(stdout);
}

/// Plays until EOS. Throws the text of an error.
void play(GstElement* pipeline) {
  const bool on_terminal = isatty(STDOUT_FILENO) != 0;
  const Bus bus{gst_element_get_bus(pipeline)};
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  for (;;) {
    // Ctrl-C sends EOS, so that an output file becomes complete.
    if (interrupted == 1) {
      interrupted = 2;
      gst_element_send_event(pipeline, gst_event_new_eos());
      std::signal(SIGINT, SIG_DFL);
    }
    const Message message{gst_bus_timed_pop(bus.get(), GST_SECOND / 10)};
    if (on_terminal && !message)
      print_progress(pipeline);
    GError* error = nullptr;
    switch (message ? GST_MESSAGE_TYPE(message.get()) : GST_MESSAGE_UNKNOWN) {
      case GST_MESSAGE_EOS:
        if (on_terminal) {
          print_progress(pipeline);
          std::printf("\n");
        }
        return;
      case GST_MESSAGE_ERROR: {
        gst_message_parse_error(message.get(), &error, nullptr);
        const std::string text = error->message;
        g_error_free(error);
        throw std::runtime_error(std::string(GST_MESSAGE_SRC_NAME(message.get())) + ": " + text);
      }
      case GST_MESSAGE_WARNING:
        gst_message_parse_warning(message.get(), &error, nullptr);
        std::printf("warning: %s\n", error->message);
        g_error_free(error);
        break;
      case GST_MESSAGE_LATENCY:
        gst_bin_recalculate_latency(GST_BIN(pipeline));
        break;
      default:
        break;
    }
  }
}

void run(int argc, char** argv) {
  if (argc > 1 && (std::strcmp(argv[1], "--help") == 0 || std::strcmp(argv[1], "-h") == 0)) {
    std::fputs(usage, stdout);
    return;
  }
  const bool keep_tags = argc > 1 && std::strcmp(argv[1], "--keep-tags") == 0;
  char** const arguments = argv + (keep_tags ? 2 : 1);
  if (arguments[0] && arguments[0][0] == '-')
    throw std::invalid_argument(std::string("unknown option \"") + arguments[0] + "\"\n" + usage);
  if (!arguments[0] || !arguments[1])
    throw std::invalid_argument(std::string("FILE or the pipeline is missing\n") + usage);
  Marker marker{read_regions(arguments[0]), {}};
  const Element pipeline = build(const_cast<const char**>(arguments + 1));
  attach(pipeline.get(), marker);
  filter_tags_of(pipeline.get(), keep_tags);
  std::signal(SIGINT, [](int) { interrupted = 1; });
  try {
    play(pipeline.get());
  } catch (...) {
    gst_element_set_state(pipeline.get(), GST_STATE_NULL);
    throw;
  }
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
  print(marker.report);
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(nullptr, nullptr);
  try {
    run(argc, argv);
    return 0;
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "mark-regions: %s\n", error.what());
    return 2;
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "mark-regions: %s\n", exception.what());
    return 1;
  }
}
