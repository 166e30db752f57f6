// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Prints two distances for each pair of frames: the distances of the middle of the left frame and
// of the nearest point. An appsink receives the depth maps from cudasgmstereo.
//
//   distance FOCAL-LENGTH BASELINE LEFT RIGHT
//   distance FOCAL-LENGTH BASELINE BOTH
//   distance --calibration FILE LEFT RIGHT
//   distance --calibration FILE BOTH
//
// Build it with Meson together with the plug-in, or anywhere with
//   g++ -std=c++17 distance.cpp -o distance $(pkg-config --cflags --libs gstreamer-app-1.0)

#include <gst/app/gstappsink.h>
#include <gst/gst.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>

namespace {

constexpr const char* usage =
    "usage: distance FOCAL-LENGTH BASELINE LEFT RIGHT\n"
    "       distance FOCAL-LENGTH BASELINE BOTH\n"
    "       distance --calibration FILE LEFT RIGHT\n"
    "       distance --calibration FILE BOTH\n"
    "\n"
    "  FOCAL-LENGTH  the focal length of the cameras, in pixels of their frames\n"
    "  BASELINE      the distance between the cameras, in mm\n"
    "  FILE          the calibration file of pipelines/calibrate.py: it contains both lengths, "
    "and\n"
    "                cudasgmstereo rectifies the frames by it\n"
    "  LEFT RIGHT    the pipelines that deliver their frames, as for gst-launch-1.0, each in "
    "quotes:\n"
    "                'v4l2src device=/dev/video0 ! decodebin ! videoconvert'\n"
    "  BOTH          the pipeline of one camera whose frames hold both pictures side by side\n"
    "\n"
    "The exit status is 1 if cudasgmstereo warned that the distances are wrong.\n";

template <class T, void (*release)(T*)>
struct Releaser {
  void operator()(T* object) const { release(object); }
};
using Element = std::unique_ptr<GstElement, Releaser<void, gst_object_unref>>;
using Bus = std::unique_ptr<GstBus, Releaser<void, gst_object_unref>>;
using Message = std::unique_ptr<GstMessage, Releaser<GstMessage, gst_message_unref>>;
using Sample = std::unique_ptr<GstSample, Releaser<GstSample, gst_sample_unref>>;

/// Distances in mm; 0 means unknown.
struct Distances {
  unsigned middle, nearest;
};

// docs/pipelines.md shows these lines.
Distances distances_in(GstSample* sample) {
  const GstStructure* caps = gst_caps_get_structure(gst_sample_get_caps(sample), 0);
  int width = 0, height = 0;
  gst_structure_get_int(caps, "width", &width);
  gst_structure_get_int(caps, "height", &height);
  GstMapInfo map;
  gst_buffer_map(gst_sample_get_buffer(sample), &map, GST_MAP_READ);
  /* GRAY16_LE; each row begins at a multiple of 4 bytes */
  const gsize pitch = (gsize)(width + width % 2);
  const guint16* depth = (const guint16*)map.data;
  Distances distances = {depth[pitch * (height / 2) + width / 2], 0};
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const unsigned mm = depth[pitch * y + x]; /* 0: unknown */
      if (mm != 0 && (distances.nearest == 0 || mm < distances.nearest))
        distances.nearest = mm;
    }
  gst_buffer_unmap(gst_sample_get_buffer(sample), &map);
  return distances;
}

// Quotes a file name for a launch line.
std::string quoted(const std::string& name) {
  std::string text = "\"";
  for (const char c : name) {
    if (c == '"' || c == '\\')
      text += '\\';
    text += c;
  }
  return text + '"';
}

// Returns the properties of cudasgmstereo that describe the cameras.
std::string cameras_of(const char* first, const char* second) {
  if (std::strcmp(first, "--calibration") == 0)
    return "calibration=" + quoted(second);
  return std::string("focal-length=") + first + " baseline=" + second;
}

Element build(const std::string& cameras, const std::string& left, const std::string& right) {
  std::string description = "cudasgmstereo name=stereo output=depth " + cameras;
  if (right.empty())
    description += " frame-packing=side-by-side";
  description += " ! appsink name=sink max-buffers=4 sync=false";
  description += " " + left + " ! queue ! stereo.sink_left";
  if (!right.empty())
    description += " " + right + " ! queue ! stereo.sink_right";
  GError* error = nullptr;
  Element pipeline{gst_parse_launch(description.c_str(), &error)};
  if (error) {
    const std::string text = error->message;
    g_error_free(error);
    throw std::runtime_error(
        text +
        " (if cudasgmstereo is missing, set GST_PLUGIN_PATH to the folder of libgstcudavision.so)");
  }
  return pipeline;
}

std::string text_of(unsigned mm) {
  return mm == 0 ? "unknown" : std::to_string(mm) + " mm";
}

constexpr auto all_problems = static_cast<GstMessageType>(GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);

// Prints pending warnings. Throws the text of an error. Returns true if the distances are wrong:
// cudasgmstereo has posted a warning that is not about speed.
bool read_messages(GstBus* bus, GstMessageType kinds) {
  bool wrong = false;
  while (const Message message{gst_bus_pop_filtered(bus, kinds)}) {
    const bool is_error = GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_ERROR;
    GError* error = nullptr;
    if (is_error)
      gst_message_parse_error(message.get(), &error, nullptr);
    else
      gst_message_parse_warning(message.get(), &error, nullptr);
    const std::string source = GST_MESSAGE_SRC_NAME(message.get()), text = error->message;
    g_error_free(error);
    if (is_error)
      throw std::runtime_error(source + ": " + text);
    std::fprintf(stderr, "warning: %s\n", text.c_str());
    wrong |= source == "stereo" && text.find("Frames are processed on the CPU") == text.npos &&
             text.find("takes time for disparities") == text.npos;
  }
  return wrong;
}

// Plays until EOS. Throws the text of an error. Returns true if the distances are wrong.
bool play(GstElement* pipeline) {
  const Element sink{gst_bin_get_by_name(GST_BIN(pipeline), "sink")};
  const Bus bus{gst_element_get_bus(pipeline)};
  bool wrong = false;
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  while (const Sample sample{gst_app_sink_pull_sample(GST_APP_SINK(sink.get()))}) {
    const Distances distances = distances_in(sample.get());
    const GstBuffer* buffer = gst_sample_get_buffer(sample.get());
    std::printf("%8.3f s: middle %s, nearest %s\n",
                static_cast<double>(GST_BUFFER_PTS(buffer)) / GST_SECOND,
                text_of(distances.middle).c_str(), text_of(distances.nearest).c_str());
    // Frames that arrived before an error are printed first.
    wrong |= read_messages(bus.get(), GST_MESSAGE_WARNING);
  }
  // If there is only one pair, the element posts its warnings at EOS.
  return read_messages(bus.get(), all_problems) || wrong;
}

bool run(GstElement* pipeline) {
  bool wrong = false;
  try {
    wrong = play(pipeline);
  } catch (...) {
    gst_element_set_state(pipeline, GST_STATE_NULL);
    throw;
  }
  gst_element_set_state(pipeline, GST_STATE_NULL);
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  if (argc > 1 && (std::strcmp(argv[1], "--help") == 0 || std::strcmp(argv[1], "-h") == 0)) {
    std::fputs(usage, stdout);
    return 0;
  }
  if (argc != 4 && argc != 5) {
    std::fprintf(stderr, "distance: 3 or 4 arguments needed, %d given\n%s", argc - 1, usage);
    return 2;
  }
  try {
    const Element pipeline = build(cameras_of(argv[1], argv[2]), argv[3], argc > 4 ? argv[4] : "");
    return run(pipeline.get()) ? 1 : 0;
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "distance: %s\n", exception.what());
    return 1;
  }
}
