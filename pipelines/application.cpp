// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Equalises generated frames: pushes them into the pipeline as a camera's SDK would deliver them,
// pulls the equalised frames, and reads the statistics in the element's messages.
//
//   application [FRAMES]
//
// Build it with Meson together with the plug-in, or anywhere with
//   g++ -std=c++17 application.cpp -o application $(pkg-config --cflags --libs gstreamer-app-1.0
//   gstreamer-video-1.0)

#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/gst.h>
#include <gst/video/video.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

constexpr const char* usage =
    "usage: application [FRAMES]\n"
    "\n"
    "  FRAMES   number of frames to equalise, at least 1 (default: 300)\n";

constexpr int width = 1280, height = 720, rate = 30;

template <class T, void (*release)(T*)>
struct Releaser {
  void operator()(T* object) const { release(object); }
};
using Element = std::unique_ptr<GstElement, Releaser<void, gst_object_unref>>;
using Bus = std::unique_ptr<GstBus, Releaser<void, gst_object_unref>>;
using Message = std::unique_ptr<GstMessage, Releaser<GstMessage, gst_message_unref>>;
using Sample = std::unique_ptr<GstSample, Releaser<GstSample, gst_sample_unref>>;

/// Makes a frame of a foggy scene with few grey values, which slowly gets brighter.
GstBuffer* make_frame(int number) {
  GstBuffer* buffer = gst_buffer_new_allocate(nullptr, gsize{width} * height, nullptr);
  GstMapInfo map;
  gst_buffer_map(buffer, &map, GST_MAP_WRITE);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      map.data[y * width + x] = static_cast<std::uint8_t>(
          80 + (number / 8) % 64 + (((x + 4 * number) ^ y) & 63) / 4 + 16 * y / height);
  gst_buffer_unmap(buffer, &map);
  GST_BUFFER_PTS(buffer) = gst_util_uint64_scale(number, GST_SECOND, rate);
  GST_BUFFER_DURATION(buffer) = gst_util_uint64_scale(1, GST_SECOND, rate);
  return buffer;
}

/// Finds the smallest and the largest grey value of a frame. Takes the row pitch from
/// GstVideoFrame, because rows may be padded.
void range_of(GstSample* sample, int& low, int& high) {
  GstVideoInfo info;
  GstVideoFrame frame;
  if (!gst_video_info_from_caps(&info, gst_sample_get_caps(sample)) ||
      !gst_video_frame_map(&frame, &info, gst_sample_get_buffer(sample), GST_MAP_READ))
    throw std::runtime_error("an output frame cannot be mapped; GST_DEBUG=2 prints the reason");
  low = 255;
  high = 0;
  for (int y = 0; y < height; ++y) {
    const auto* row = static_cast<const std::uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, 0)) +
                      std::ptrdiff_t{y} * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0);
    const auto [lowest, highest] = std::minmax_element(row, row + width);
    low = std::min<int>(low, *lowest);
    high = std::max<int>(high, *highest);
  }
  gst_video_frame_unmap(&frame);
}

/// Prints pending warnings and statistics. Throws the text of an error.
void read_messages(GstBus* bus) {
  while (Message message{gst_bus_pop(bus)}) {
    GError* error = nullptr;
    switch (GST_MESSAGE_TYPE(message.get())) {
      case GST_MESSAGE_ERROR: {
        gst_message_parse_error(message.get(), &error, nullptr);
        const std::string text = error->message;
        g_error_free(error);
        throw std::runtime_error(text);
      }
      case GST_MESSAGE_WARNING:
        gst_message_parse_warning(message.get(), &error, nullptr);
        std::printf("warning: %s\n", error->message);
        g_error_free(error);
        break;
      case GST_MESSAGE_ELEMENT: {
        const GstStructure* statistics = gst_message_get_structure(message.get());
        guint64 time = 0;
        double mean = 0, entropy = 0;
        if (gst_structure_has_name(statistics, "cudahistequalize") &&
            gst_structure_get(statistics, "running-time", G_TYPE_UINT64, &time, "mean",
                              G_TYPE_DOUBLE, &mean, "entropy", G_TYPE_DOUBLE, &entropy, nullptr))
          std::printf("%6.2f s: before equalisation the mean is %.1f, the entropy %.2f bits\n",
                      static_cast<double>(time) / GST_SECOND, mean, entropy);
        break;
      }
      default:
        break;
    }
  }
}

void run(int frames) {
  GError* error = nullptr;
  Element pipeline{gst_parse_launch(
      "appsrc name=source is-live=false format=time block=true max-buffers=4 "
      "! cudahistequalize name=equalize post-messages=true message-interval=1000000000 "
      "! appsink name=sink sync=false max-buffers=4",
      &error)};
  if (error) {
    const std::string text = error->message;
    g_error_free(error);
    throw std::runtime_error(text +
                             " (if cudahistequalize is missing, set GST_PLUGIN_PATH to the folder "
                             "of libgstcudavision.so)");
  }
  GstBin* bin = GST_BIN(pipeline.get());
  Element source{gst_bin_get_by_name(bin, "source")};
  Element equalize{gst_bin_get_by_name(bin, "equalize")};
  Element sink{gst_bin_get_by_name(bin, "sink")};
  Bus bus{gst_element_get_bus(pipeline.get())};

  GstVideoInfo info;
  gst_video_info_set_format(&info, GST_VIDEO_FORMAT_GRAY8, width, height);
  GST_VIDEO_INFO_FPS_N(&info) = rate;
  GST_VIDEO_INFO_FPS_D(&info) = 1;
  GstCaps* caps = gst_video_info_to_caps(&info);
  gst_app_src_set_caps(GST_APP_SRC(source.get()), caps);
  gst_caps_unref(caps);

  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  const auto start = std::chrono::steady_clock::now();

  // Pushes from its own thread, as a camera's SDK would. This blocks while appsrc's queue is full.
  std::thread producer([&] {
    for (int number = 0; number < frames; ++number)
      if (gst_app_src_push_buffer(GST_APP_SRC(source.get()), make_frame(number)) != GST_FLOW_OK)
        return;  // the pipeline is stopping; the bus has the reason
    gst_app_src_end_of_stream(GST_APP_SRC(source.get()));
  });

  int received = 0, low = 0, high = 0;
  std::string failure;
  try {
    for (;;) {
      Sample sample{gst_app_sink_try_pull_sample(GST_APP_SINK(sink.get()), GST_SECOND / 10)};
      read_messages(bus.get());
      if (sample) {
        range_of(sample.get(), low, high);
        ++received;
      } else if (gst_app_sink_is_eos(GST_APP_SINK(sink.get()))) {
        break;
      }
    }
    read_messages(bus.get());
  } catch (const std::exception& exception) {
    failure = exception.what();
  }
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;

  GValue value = G_VALUE_INIT;
  g_object_get_property(G_OBJECT(equalize.get()), "active-backend", &value);
  gchar* text = gst_value_serialize(&value);
  const std::string backend = text;
  g_free(text);
  g_value_unset(&value);

  // Stopping the pipeline also wakes a producer whose push is blocked.
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
  producer.join();
  if (!failure.empty())
    throw std::runtime_error(failure);
  if (received != frames)
    throw std::runtime_error("only " + std::to_string(received) + " of " + std::to_string(frames) +
                             " frames arrived at the sink");
  std::printf(
      "%d frames of %dx%d on the backend %s, %.0f frames/s including making and checking them; "
      "grey values of the last frame: %d to %d\n",
      received, width, height, backend.c_str(), received / time.count(), low, high);
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  if (argc > 1 && (std::strcmp(argv[1], "--help") == 0 || std::strcmp(argv[1], "-h") == 0)) {
    std::fputs(usage, stdout);
    return 0;
  }
  guint64 frames = 300;
  if (argc > 1 && !g_ascii_string_to_unsigned(argv[1], 10, 1, G_MAXINT, &frames, nullptr)) {
    std::fprintf(stderr, "application: FRAMES=\"%s\" is not a whole number from 1 to %d\n%s",
                 argv[1], G_MAXINT, usage);
    return 2;
  }
  if (argc > 2) {
    std::fprintf(stderr, "application: \"%s\" is one argument too many\n%s", argv[2], usage);
    return 2;
  }
  try {
    run(static_cast<int>(frames));
    return 0;
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "%s\n", exception.what());
    return 1;
  }
}
