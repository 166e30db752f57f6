// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Measures the frame rates of the elements in a pipeline. The program pushes a few frames, or pairs
// of them, through an element into a fakesink as fast as it accepts them. The frames are painted
// beforehand, so that only the element's own work is measured.

#include <gst/gst.h>
#include <gst/video/video.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/kernels/common/contents.h"
#include "tests/kernels/common/layouts.h"

namespace cudavision::bench {
namespace {

template <class T, void (*release)(T*)>
struct Releaser {
  void operator()(T* object) const { release(object); }
};
void unref_object(GstElement* element) {
  gst_object_unref(element);
}
void unref_pad(GstPad* pad) {
  gst_object_unref(pad);
}
void unref_caps(GstCaps* caps) {
  gst_caps_unref(caps);
}
void unref_buffer(GstBuffer* buffer) {
  gst_buffer_unref(buffer);
}
using Element = std::unique_ptr<GstElement, Releaser<GstElement, unref_object>>;
using Pad = std::unique_ptr<GstPad, Releaser<GstPad, unref_pad>>;
using Caps = std::unique_ptr<GstCaps, Releaser<GstCaps, unref_caps>>;
using Buffer = std::unique_ptr<GstBuffer, Releaser<GstBuffer, unref_buffer>>;

/// The memory of the input frames.
enum class Memory {
  plain,     ///< system memory that does not come from the element
  proposed,  ///< buffers of the pool that the element proposes
  cuda,      ///< CUDA memory, for the output as well
};

const char* name(Memory memory) {
  return memory == Memory::plain      ? "system"
         : memory == Memory::proposed ? "proposed pool"
                                      : "CUDAMemory";
}

struct Subject {
  const char* element;
  const char* properties;  ///< written as for gst-launch-1.0
  const char* format;
  int width, height;
  Memory memory;
  const char* output_format = nullptr;  ///< if it differs
};

/// Stands for a sigma that changes with every frame.
constexpr char swept[] = "sigma: 0 to 60";

std::vector<Subject> all_subjects() {
  std::vector<Subject> subjects{
      {"cudahistequalize", "", "GRAY8", 1920, 1080, Memory::plain},
      {"cudahistequalize", "", "GRAY8", 1920, 1080, Memory::proposed},
      {"cudahistequalize", "", "NV12", 1920, 1080, Memory::plain},
      {"cudahistequalize", "", "NV12", 1920, 1080, Memory::proposed},
      {"cudahistequalize", "", "NV12", 1920, 1080, Memory::cuda},
      {"cudahistequalize", "", "NV12", 3840, 2160, Memory::cuda},
      {"cudahistequalize", "", "BGRx", 1920, 1080, Memory::proposed},
      {"cudagaussblur", "sigma=1.2", "GRAY8", 1920, 1080, Memory::plain},
      {"cudagaussblur", swept, "NV12", 1920, 1080, Memory::cuda},
      {"cudasgmstereo", "refine=false speckle-size=0", "NV12", 1920, 1080, Memory::cuda,
       "GRAY16_LE"},
      {"cudasgmstereo", "", "NV12", 1920, 1080, Memory::cuda, "GRAY16_LE"},
      {"cudasgmstereo", "", "NV12", 1920, 1080, Memory::proposed, "GRAY16_LE"},
  };
  for (const Memory memory : {Memory::proposed, Memory::cuda})
    for (const char* format : {"GRAY8", "NV12"})
      for (const int scale : {1, 2})
        for (const char* properties :
             {"sigma=1.2", "sigma=0 kernel-size=15", "sigma=0 kernel-size=31"})
          subjects.push_back(
              {"cudagaussblur", properties, format, 1920 * scale, 1080 * scale, memory});
  return subjects;
}

struct Result {
  Subject subject;
  std::string backend;
  double frames_per_second = 0;
  double host_microseconds = 0;  ///< processor time per frame, summed over all threads
};

double processor_seconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Paints a natural-looking picture into every plane.
void paint_buffer(const GstVideoInfo& info, GstBuffer* buffer, std::uint64_t seed) {
  GstVideoFrame frame;
  if (!gst_video_frame_map(&frame, &info, buffer, GST_MAP_WRITE))
    throw std::runtime_error("a frame cannot be mapped");
  for (guint p = 0; p < GST_VIDEO_FRAME_N_PLANES(&frame); ++p) {
    const int rows = GST_VIDEO_FRAME_COMP_HEIGHT(&frame, p);
    const int bytes =
        GST_VIDEO_FRAME_COMP_WIDTH(&frame, p) * GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, p);
    Frame plane;
    plane.planes[0] = {static_cast<std::uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, p)), bytes,
                       rows, GST_VIDEO_FRAME_PLANE_STRIDE(&frame, p)};
    test::paint(test::gray_layout(bytes, rows), plane, test::Content::natural, seed + p);
  }
  gst_video_frame_unmap(&frame);
}

/// Runs an element between pads of this program and a fakesink.
class Bench {
 public:
  Bench(const Subject& subject, const std::string& backend) : pipeline_(gst_pipeline_new(nullptr)) {
    element_ = gst_element_factory_make(subject.element, nullptr);
    if (!element_)
      throw std::runtime_error(std::string("there is no element ") + subject.element +
                               "; run this within `meson devenv`, or set GST_PLUGIN_PATH");
    gst_util_set_object_arg(G_OBJECT(element_), "backend", backend.c_str());
    set_properties(subject.properties);
    GstElement* filter = gst_element_factory_make("capsfilter", nullptr);
    GstElement* sink = gst_element_factory_make("fakesink", nullptr);
    if (!filter || !sink)
      throw std::runtime_error(
          "capsfilter or fakesink is missing; install GStreamer's core elements");
    g_object_set(sink, "sync", FALSE, "async", FALSE, "enable-last-sample", FALSE, nullptr);

    caps_ = caps_of(subject, subject.format);
    const Caps output =
        caps_of(subject, subject.output_format ? subject.output_format : subject.format);
    g_object_set(filter, "caps", output.get(), nullptr);
    gst_bin_add_many(GST_BIN(pipeline_.get()), element_, filter, sink, nullptr);
    if (!gst_element_link_many(element_, filter, sink, nullptr))
      throw std::runtime_error("the elements cannot be linked");
    for (const char* name : {"sink", "sink_left", "sink_right"})
      if (const Pad sink_pad{gst_element_get_static_pad(element_, name)}) {
        sources_.emplace_back(GST_PAD(gst_object_ref_sink(gst_pad_new(nullptr, GST_PAD_SRC))));
        gst_pad_set_active(sources_.back().get(), TRUE);
        if (gst_pad_link(sources_.back().get(), sink_pad.get()) != GST_PAD_LINK_OK)
          throw std::runtime_error("the element's sink pad cannot be linked");
      }
  }

  ~Bench() {
    for (const Pad& source : sources_)
      gst_pad_set_active(source.get(), FALSE);
    gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
    if (pool_) {
      gst_buffer_pool_set_active(pool_, FALSE);
      gst_object_unref(pool_);
    }
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  Result measure(const Subject& subject, double seconds) {
    if (gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE)
      throw std::runtime_error(error_message("the pipeline does not start"));
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    for (const Pad& source : sources_) {
      gst_pad_push_event(source.get(), gst_event_new_stream_start("bench"));
      if (!gst_pad_push_event(source.get(), gst_event_new_caps(caps_.get())))
        throw std::runtime_error(error_message("the element refuses these caps"));
      gst_pad_push_event(source.get(), gst_event_new_segment(&segment));
    }
    prepare_frames(subject);

    run(0.3);  // a warm-up, during which the element allocates its memory
    const double processor_start = processor_seconds();
    const auto start = std::chrono::steady_clock::now();
    const long frames = run(seconds);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;

    gchar* backend = nullptr;
    Result result{subject, "", static_cast<double>(frames) / elapsed.count(),
                  1e6 * (processor_seconds() - processor_start) / static_cast<double>(frames)};
    GValue value = G_VALUE_INIT;
    g_object_get_property(G_OBJECT(element_), "active-backend", &value);
    backend = gst_value_serialize(&value);
    g_value_unset(&value);
    result.backend = backend ? backend : "";
    g_free(backend);
    return result;
  }

 private:
  static Caps caps_of(const Subject& subject, const char* format) {
    const std::string features = subject.memory == Memory::cuda ? "(memory:CUDAMemory)" : "";
    const std::string text = "video/x-raw" + features + ", format=" + format +
                             ", width=" + std::to_string(subject.width) +
                             ", height=" + std::to_string(subject.height) + ", framerate=30/1";
    return Caps(gst_caps_from_string(text.c_str()));
  }

  void set_properties(const char* text) {
    sweeps_ = std::string(text) == swept;
    if (sweeps_)
      return;
    std::istringstream words(text);
    for (std::string word; words >> word;) {
      const std::size_t equals = word.find('=');
      gst_util_set_object_arg(G_OBJECT(element_), word.substr(0, equals).c_str(),
                              word.substr(equals + 1).c_str());
    }
  }

  /// Pushes frames, or pairs of them, for the given time and returns their number.
  long run(double seconds) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    long frames = 0;
    do {
      if (sweeps_)
        g_object_set(element_, "sigma", 0.2 * static_cast<double>(frames % 300), nullptr);
      for (std::size_t i = 0; i < sources_.size(); ++i) {
        const std::size_t number = static_cast<std::size_t>(frames) + i;
        GstBuffer* const buffer = gst_buffer_copy(frames_[number % frames_.size()].get());
        GST_BUFFER_PTS(buffer) = pushed_ * GST_SECOND / 30;
        if (gst_pad_push(sources_[i].get(), buffer) != GST_FLOW_OK)
          throw std::runtime_error(error_message("the element refuses a frame"));
      }
      ++frames;
      ++pushed_;
    } while (std::chrono::steady_clock::now() < end);
    return frames;
  }

  void prepare_frames(const Subject& subject) {
    constexpr int count = 4;
    GstVideoInfo info;
    if (!gst_video_info_from_caps(&info, caps_.get()))
      throw std::runtime_error("these caps do not describe video");
    if (subject.memory != Memory::plain)
      take_proposed_pool(info);
    for (int i = 0; i < count; ++i) {
      GstBuffer* buffer = nullptr;
      if (!pool_)
        buffer = gst_buffer_new_allocate(nullptr, info.size, nullptr);
      else if (gst_buffer_pool_acquire_buffer(pool_, &buffer, nullptr) != GST_FLOW_OK)
        throw std::runtime_error("the proposed pool gives no buffer");
      frames_.emplace_back(buffer);
      paint_buffer(info, buffer, static_cast<std::uint64_t>(i) * 10);
    }
  }

  void take_proposed_pool(const GstVideoInfo& info) {
    GstQuery* query = gst_query_new_allocation(caps_.get(), TRUE);
    guint size = static_cast<guint>(info.size), least = 0, most = 0;
    if (gst_pad_peer_query(sources_[0].get(), query) && gst_query_get_n_allocation_pools(query) > 0)
      gst_query_parse_nth_allocation_pool(query, 0, &pool_, &size, &least, &most);
    gst_query_unref(query);
    if (!pool_)
      throw std::runtime_error("the element proposes no pool");
    GstStructure* config = gst_buffer_pool_get_config(pool_);
    gst_buffer_pool_config_set_params(config, caps_.get(), size, 4, 0);
    if (!gst_buffer_pool_set_config(pool_, config) || !gst_buffer_pool_set_active(pool_, TRUE))
      throw std::runtime_error("the proposed pool cannot be configured");
  }

  std::string error_message(const std::string& otherwise) const {
    GstBus* bus = gst_element_get_bus(pipeline_.get());
    GstMessage* message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
    gst_object_unref(bus);
    if (!message)
      return otherwise;
    GError* error = nullptr;
    gst_message_parse_error(message, &error, nullptr);
    const std::string text = otherwise + ": " + error->message;
    g_error_free(error);
    gst_message_unref(message);
    return text;
  }

  Element pipeline_;
  GstElement* element_ = nullptr;  // belongs to the pipeline
  bool sweeps_ = false;
  std::vector<Pad> sources_;
  Caps caps_;
  std::uint64_t pushed_ = 0;  // frames
  GstBufferPool* pool_ = nullptr;
  std::vector<Buffer> frames_;
};

struct Options {
  std::string backend = "auto", json;
  double seconds = 1;
};

constexpr const char* usage =
    "usage: bench_pipelines [--backend auto|cpu|cuda] [--seconds S] [--json FILE]\n"
    "\n"
    "  --backend   the backend of the elements (default: auto)\n"
    "  --seconds   the time for each line of the table in seconds (default: 1)\n"
    "  --json      also write the results to FILE\n";

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--help" || option == "-h") {
      std::cout << usage;
      std::exit(0);
    }
    if ((option != "--backend" && option != "--seconds" && option != "--json") || i + 1 == argc)
      throw std::invalid_argument("bench_pipelines: unknown argument \"" + option + "\"\n" + usage);
    const std::string value = argv[++i];
    if (option == "--json") {
      options.json = value;
    } else if (option == "--backend") {
      if (value != "auto" && value != "cpu" && value != "cuda")
        throw std::invalid_argument("bench_pipelines: --backend must be auto, cpu or cuda, not \"" +
                                    value + "\"");
      options.backend = value;
    } else {
      options.seconds = g_ascii_strtod(value.c_str(), nullptr);
      if (!(options.seconds > 0 && options.seconds <= 3600))
        throw std::invalid_argument(
            "bench_pipelines: --seconds must be above 0, at most 3600, not \"" + value + "\"");
    }
  }
  return options;
}

void print_line(const Result& result) {
  const std::string size =
      std::to_string(result.subject.width) + "x" + std::to_string(result.subject.height);
  std::printf("%-18s %-28s %-7s %-10s %-14s %-8s %10.1f %12.1f %12.1f\n", result.subject.element,
              result.subject.properties, result.subject.format, size.c_str(),
              name(result.subject.memory), result.backend.c_str(), result.frames_per_second,
              1e6 / result.frames_per_second, result.host_microseconds);
  std::fflush(stdout);
}

void write_json(std::ostream& stream, const std::vector<Result>& results) {
  stream << "{\n  \"pipelines\": [";
  const char* separator = "\n";
  for (const Result& result : results) {
    stream << separator << "    {\"element\": \"" << result.subject.element
           << "\", \"properties\": \"" << result.subject.properties << "\", \"format\": \""
           << result.subject.format << "\", \"width\": " << result.subject.width
           << ", \"height\": " << result.subject.height << ", \"memory\": \""
           << name(result.subject.memory) << "\", \"backend\": \"" << result.backend
           << "\", \"frames_per_second\": " << result.frames_per_second
           << ", \"host_microseconds\": " << result.host_microseconds << "}";
    separator = ",\n";
  }
  stream << "\n  ]\n}\n";
}

void run(const Options& options) {
  std::ofstream json;
  if (!options.json.empty()) {
    json.open(options.json);
    if (!json)
      throw std::runtime_error("bench_pipelines: cannot write " + options.json);
  }
  std::printf("%-18s %-28s %-7s %-10s %-14s %-8s %10s %12s %12s\n", "element", "properties",
              "format", "size", "memory", "backend", "frames/s", "µs/frame", "host µs");
  std::vector<Result> results;
  int not_measured = 0;
  for (const Subject& subject : all_subjects()) {
    // The CPU backend does not accept frames in CUDA memory.
    if (subject.memory == Memory::cuda && !results.empty() && results.front().backend == "cpu") {
      ++not_measured;
      continue;
    }
    Bench bench(subject, options.backend);
    results.push_back(bench.measure(subject, options.seconds));
    print_line(results.back());
  }
  if (not_measured > 0)
    std::printf("%d rows with frames in CUDAMemory were not measured, because the backend is cpu\n",
                not_measured);
  if (json.is_open()) {
    write_json(json, results);
    json.flush();
    if (!json)
      throw std::runtime_error("bench_pipelines: writing " + options.json + " failed");
  }
}

}  // namespace
}  // namespace cudavision::bench

int main(int argc, char** argv) {
  try {
    const auto options = cudavision::bench::parse(argc, argv);
    gst_init(nullptr, nullptr);
    cudavision::bench::run(options);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
