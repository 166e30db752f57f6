// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Plays a pipeline as gst-launch-1.0 does, and marks regions of its frames, as a detector would: a
// probe adds a GstVideoRegionOfInterestMeta for each. The regions, with their times, come from a
// text file. In this way, an application can tell elements what it knows about a frame.
//
//   mark-regions FILE ELEMENT ! identity name=mark ! ELEMENT ...
//
// Build it with Meson together with the plug-in, or anywhere with
//   g++ -std=c++17 mark-regions.cpp -o mark-regions $(pkg-config --cflags --libs
//   gstreamer-video-1.0)

#include <gst/gst.h>
#include <gst/video/gstvideometa.h>

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
    "usage: mark-regions FILE ELEMENT ! identity name=mark ! ELEMENT ...\n"
    "\n"
    "  FILE       a region in each line: BEGIN END X Y WIDTH HEIGHT [LABEL], times in seconds, the "
    "rest in pixels;\n"
    "             empty lines and lines that begin with # do not count\n"
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
  double begin, end;  ///< in seconds of stream time; the region is there from begin to before end
  gint x, y;
  guint width, height;
  std::string label;
};

// A region that the left or upper edge of the frame cuts off begins before it.
bool is_place(double value) {
  return value >= G_MININT && value <= G_MAXINT;
}

bool is_number_of_pixels(double value) {
  return value >= 0 && value <= G_MAXINT;
}

std::vector<Region> read_regions(const std::string& file) {
  std::ifstream stream(file);
  if (!stream)
    throw std::runtime_error(file + ": there is no such file, or it cannot be read");
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
    // A second region on the line, or a number that goes on with letters, must not pass for a
    // label.
    complete &= words.eof() || std::isspace(words.peek());
    words >> label >> more;
    if (!complete || !more.empty() || end < begin || !is_place(x) || !is_place(y) ||
        !is_number_of_pixels(width) || !is_number_of_pixels(height))
      throw std::runtime_error(file + ", line " + std::to_string(number) + ": \"" + line +
                               "\" is not BEGIN END X Y WIDTH HEIGHT [LABEL]");
    regions.push_back({begin, end, static_cast<gint>(x), static_cast<gint>(y),
                       static_cast<guint>(width), static_cast<guint>(height),
                       label.empty() ? "region" : label});
  }
  if (regions.empty())
    throw std::runtime_error(file + ": there is no region in this file");
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

/// Adds the regions of a frame's time to the frame.
GstPadProbeReturn mark(GstPad* pad, GstPadProbeInfo* info, gpointer data) {
  const auto& regions = *static_cast<const std::vector<Region>*>(data);
  GstBuffer* frame = GST_PAD_PROBE_INFO_BUFFER(info);
  GstEvent* event = gst_pad_get_sticky_event(pad, GST_EVENT_SEGMENT, 0);
  if (!event || !GST_BUFFER_PTS_IS_VALID(frame)) {
    g_clear_pointer(&event, gst_event_unref);
    return GST_PAD_PROBE_OK;
  }
  const GstSegment* segment = nullptr;
  gst_event_parse_segment(event, &segment);
  const guint64 time = gst_segment_to_stream_time(segment, GST_FORMAT_TIME, GST_BUFFER_PTS(frame));
  gst_event_unref(event);
  const double seconds = static_cast<double>(time) / GST_SECOND;
  // Metas can be added to a buffer only by its sole owner.
  frame = gst_buffer_make_writable(frame);
  for (const Region& region : regions)
    if (seconds >= region.begin && seconds < region.end)
      gst_buffer_add_video_region_of_interest_meta(
          frame, region.label.c_str(), static_cast<guint>(region.x), static_cast<guint>(region.y),
          region.width, region.height);
  GST_PAD_PROBE_INFO_DATA(info) = frame;
  return GST_PAD_PROBE_OK;
}

void attach(GstElement* pipeline, std::vector<Region>& regions) {
  const Element element{gst_bin_get_by_name(GST_BIN(pipeline), "mark")};
  if (!element)
    throw std::invalid_argument(std::string("the pipeline has no element named \"mark\"\n") +
                                usage);
  const Pad pad{gst_element_get_static_pad(element.get(), "src")};
  if (!pad)
    throw std::invalid_argument(
        "the element named \"mark\" has no pad src: use identity name=mark");
  gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_BUFFER, mark, &regions, nullptr);
}

volatile std::sig_atomic_t interrupted = 0;

/// Plays until EOS; throws the text of an error.
void play(GstElement* pipeline) {
  const Bus bus{gst_element_get_bus(pipeline)};
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  for (;;) {
    // Ctrl-C sends EOS, so that a file being written is completed.
    if (interrupted == 1) {
      interrupted = 2;
      gst_element_send_event(pipeline, gst_event_new_eos());
      std::signal(SIGINT, SIG_DFL);
    }
    const Message message{gst_bus_timed_pop(bus.get(), GST_SECOND / 10)};
    GError* error = nullptr;
    switch (message ? GST_MESSAGE_TYPE(message.get()) : GST_MESSAGE_UNKNOWN) {
      case GST_MESSAGE_EOS:
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
  if (argc > 1 && argv[1][0] == '-')
    throw std::invalid_argument(std::string("unknown option \"") + argv[1] + "\"\n" + usage);
  if (argc < 3)
    throw std::invalid_argument(usage);
  std::vector<Region> regions = read_regions(argv[1]);
  const Element pipeline = build(const_cast<const char**>(argv + 2));
  attach(pipeline.get(), regions);
  std::signal(SIGINT, [](int) { interrupted = 1; });
  try {
    play(pipeline.get());
  } catch (...) {
    gst_element_set_state(pipeline.get(), GST_STATE_NULL);
    throw;
  }
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
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
