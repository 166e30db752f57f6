// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Prints the sum and mean of a box in each frame. cudaintegral computes the integral image, from
// which the sum over a box of any size takes four reads.
//
//   box-sum X0 Y0 X1 Y1 ELEMENT ! ELEMENT ...
//
// Build it with Meson together with the plug-in, or anywhere with
//   g++ -std=c++17 box-sum.cpp -o box-sum $(pkg-config --cflags --libs gstreamer-app-1.0)

#include <gst/app/gstappsink.h>
#include <gst/gst.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>

namespace {

constexpr const char* usage =
    "usage: box-sum X0 Y0 X1 Y1 ELEMENT ! ELEMENT ...\n"
    "\n"
    "  X0 Y0 X1 Y1   the box: columns X0 to X1 - 1, rows Y0 to Y1 - 1\n"
    "  ELEMENT       the pipeline that delivers the frames, as for gst-launch-1.0\n";

template <class T, void (*release)(T*)>
struct Releaser {
  void operator()(T* object) const { release(object); }
};
using Element = std::unique_ptr<GstElement, Releaser<void, gst_object_unref>>;
using Bus = std::unique_ptr<GstBus, Releaser<void, gst_object_unref>>;
using Message = std::unique_ptr<GstMessage, Releaser<GstMessage, gst_message_unref>>;
using Sample = std::unique_ptr<GstSample, Releaser<GstSample, gst_sample_unref>>;

struct Box {
  guint64 x0, y0, x1, y1;
};

// docs/elements/cudaintegral.md shows these lines.
guint32 box_sum(GstSample* sample, gsize x0, gsize y0, gsize x1, gsize y1) {
  const GstStructure* caps = gst_caps_get_structure(gst_sample_get_caps(sample), 0);
  const char* dimensions = gst_structure_get_string(caps, "dimensions"); /* "1:columns:rows:1" */
  const gsize columns = g_ascii_strtoull(dimensions + 2, NULL, 10);
  GstMapInfo map;
  gst_buffer_map(gst_sample_get_buffer(sample), &map, GST_MAP_READ);
  const guint32* s = (const guint32*)map.data;
  const guint32 sum =
      s[y1 * columns + x1] - s[y0 * columns + x1] - s[y1 * columns + x0] + s[y0 * columns + x0];
  gst_buffer_unmap(gst_sample_get_buffer(sample), &map);
  return sum;
}

std::string text_of(const Box& box) {
  return "X0=" + std::to_string(box.x0) + " Y0=" + std::to_string(box.y0) +
         " X1=" + std::to_string(box.x1) + " Y1=" + std::to_string(box.y1);
}

Box parse_box(char** arguments) {
  guint64 numbers[4];
  for (int i = 0; i < 4; ++i)
    if (!g_ascii_string_to_unsigned(arguments[i], 10, 0, G_MAXINT, &numbers[i], nullptr))
      throw std::invalid_argument(std::string("\"") + arguments[i] +
                                  "\" is not a number from 0 to 2147483647\n" + usage);
  const Box box{numbers[0], numbers[1], numbers[2], numbers[3]};
  if (box.x0 >= box.x1 || box.y0 >= box.y1)
    throw std::invalid_argument("the box " + text_of(box) +
                                " is empty: X1 must be above X0, and Y1 above Y0\n" + usage);
  return box;
}

// uint32 suffices for boxes of up to 4096×4096 8-bit pixels in frames of any size. Entries of the
// table are modulo 2^32, so the sum over a box is exact if it is below 2^32.
Element build(const std::string& frames) {
  GError* error = nullptr;
  Element pipeline{gst_parse_launch(
      (frames + " ! cudaintegral element-type=uint32 ! appsink name=sink max-buffers=4 sync=false")
          .c_str(),
      &error)};
  if (error) {
    const std::string text = error->message;
    g_error_free(error);
    throw std::runtime_error(
        text +
        " (if cudaintegral is missing, set GST_PLUGIN_PATH to the folder of libgstcudavision.so)");
  }
  return pipeline;
}

void check_box(GstSample* sample, const Box& box) {
  const GstStructure* caps = gst_caps_get_structure(gst_sample_get_caps(sample), 0);
  unsigned columns = 0, rows = 0;
  std::sscanf(gst_structure_get_string(caps, "dimensions"), "1:%u:%u", &columns, &rows);
  // The table has one more column and row than the frame.
  const std::string width = std::to_string(columns - 1), height = std::to_string(rows - 1);
  if (box.x1 >= columns || box.y1 >= rows)
    throw std::runtime_error("the box " + text_of(box) + " is not inside the frames of " + width +
                             "x" + height + " pixels: set X1 to at most " + width +
                             " and Y1 to at most " + height);
}

// Prints pending warnings. Throws the text of an error.
void read_messages(GstBus* bus) {
  const auto kinds = static_cast<GstMessageType>(GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);
  while (const Message message{gst_bus_pop_filtered(bus, kinds)}) {
    const bool is_error = GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_ERROR;
    GError* error = nullptr;
    if (is_error)
      gst_message_parse_error(message.get(), &error, nullptr);
    else
      gst_message_parse_warning(message.get(), &error, nullptr);
    const std::string text = error->message;
    g_error_free(error);
    if (is_error)
      throw std::runtime_error(std::string(GST_MESSAGE_SRC_NAME(message.get())) + ": " + text);
    std::fprintf(stderr, "warning: %s\n", text.c_str());
  }
}

// Plays until EOS. Throws the text of an error.
void play(GstElement* pipeline, const Box& box) {
  const Element sink{gst_bin_get_by_name(GST_BIN(pipeline), "sink")};
  const Bus bus{gst_element_get_bus(pipeline)};
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  while (const Sample sample{gst_app_sink_pull_sample(GST_APP_SINK(sink.get()))}) {
    check_box(sample.get(), box);
    const guint32 sum = box_sum(sample.get(), box.x0, box.y0, box.x1, box.y1);
    const GstBuffer* buffer = gst_sample_get_buffer(sample.get());
    std::printf("%8.3f s: sum %u, mean %.2f\n",
                static_cast<double>(GST_BUFFER_PTS(buffer)) / GST_SECOND, sum,
                sum / static_cast<double>((box.x1 - box.x0) * (box.y1 - box.y0)));
    read_messages(bus.get());
  }
  read_messages(bus.get());
}

void run(const Box& box, const std::string& frames) {
  const Element pipeline = build(frames);
  try {
    play(pipeline.get(), box);
  } catch (...) {
    gst_element_set_state(pipeline.get(), GST_STATE_NULL);
    throw;
  }
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  if (argc > 1 && (std::strcmp(argv[1], "--help") == 0 || std::strcmp(argv[1], "-h") == 0)) {
    std::fputs(usage, stdout);
    return 0;
  }
  if (argc < 6) {
    std::fprintf(stderr, "box-sum: at least 5 arguments needed, %d given\n%s", argc - 1, usage);
    return 2;
  }
  try {
    std::string frames;
    for (int i = 5; i < argc; ++i)
      frames += std::string(i > 5 ? " " : "") + argv[i];
    run(parse_box(argv + 1), frames);
    return 0;
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "box-sum: %s\n", error.what());
    return 2;
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "box-sum: %s\n", exception.what());
    return 1;
  }
}
