// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests how cudahistequalize handles the range and samples of formats, when a new number of tiles
// takes effect, and the negotiation of channels=rgb.
#include "tests/check/common/definitions/equalizedefinition.h"
#include "tests/check/common/filterharness.h"
#include "tests/check/common/pipelines.h"

using namespace check;

// Without colorimetry, gray has full range and YUV limited range, regardless of the previous caps.
TEST(test_range_without_colorimetry) {
  FilterHarness filter;
  for (const char* name : {"GRAY8", "I420", "GRAY16_LE", "NV12", "P010_10LE"})
    for (int height : {30, 720}) {
      const FormatSpec& format = format_named(name);
      const Picture picture = make_picture(format, 40, height, Content::natural, 3);
      filter.accept_caps(format, 40, height);
      expect_picture(filter.process(picture),
                     equalized(picture, {false, 1, format.family == Family::yuv}), name);
    }
}

TEST(test_p010_low_bits) {
  const FormatSpec& format = format_named("P010_10LE");
  const Picture clean = make_picture(format, 35, 19, Content::natural, 4);
  Picture dirty = clean;
  for (int y = 0; y < clean.height; ++y)
    for (int x = 0; x < clean.width; ++x)
      dirty.planes[0].row(y)[2 * x] |= static_cast<std::uint8_t>((x * 7 + y) & 0x3f);
  FilterHarness filter;
  filter.accept_caps(format, 35, 19, colorimetry(format, true));
  expect_picture(filter.process(dirty), equalized(clean, {false, 1, true}), "low bits set");
}

// Samples of more than ten bits are invalid, but must not cause accesses outside a table.
TEST(test_samples_above_the_bit_depth) {
  const FormatSpec& format = format_named("I420_10LE");
  FilterHarness filter{{"post-messages", "true"}};
  filter.accept_caps(format, 64, 33, colorimetry(format, true));
  Picture picture = make_picture(format, 64, 33, Content::random, 4);
  for (std::uint8_t& byte : picture.planes[0].bytes)
    byte |= 0xa5;
  const Picture out = filter.process(picture);
  for (std::size_t p : {std::size_t{1}, std::size_t{2}})
    fail_unless(out.planes[p].bytes == picture.planes[p].bytes, "chroma changed");
}

namespace {

Equalization with_tiles(int x, int y) {
  Equalization how;
  how.adaptive = true;
  how.tiles_x = x;
  how.tiles_y = y;
  return how;
}

Properties all_properties(const Equalization& how) {
  return joined(how.tile_properties(), how.properties());
}

void expect_equalized(FilterHarness& filter, const Picture& picture, const Equalization& how) {
  expect_picture(filter.process(picture), equalized(picture, how),
                 text_of(all_properties(how)) + std::to_string(picture.width) + "x" +
                     std::to_string(picture.height) + (how.limited ? ", limited" : ", full"));
}

std::string format_at_sink(const std::string& pipeline, const Look& feed) {
  std::string format;
  run_pipeline(pipeline, feed, [&](GstElement* running) {
    const Owned<GstElement> element = element_in(running, "e");
    const Owned<GstPad> sink(gst_element_get_static_pad(element, "sink"));
    const Owned<GstCaps> caps(gst_pad_get_current_caps(sink));
    format = gst_structure_get_string(gst_caps_get_structure(caps, 0), "format");
  });
  return format;
}

}  // namespace

TEST(test_grid_waits_for_a_start) {
  const Picture picture = make_picture(gray(), 90, 70, Content::natural, 3);
  const Equalization first = with_tiles(4, 4), second = with_tiles(2, 5);
  FilterHarness filter(all_properties(first));
  filter.accept_caps(gray(), 90, 70, colorimetry(gray(), false));
  expect_equalized(filter, picture, first);
  filter.set(second.tile_properties());
  expect_equalized(filter, picture, first);
  filter.restart();
  filter.accept_caps(gray(), 90, 70, colorimetry(gray(), false));
  expect_equalized(filter, picture, second);
  fail_unless_equals_int(filter.messages().complaints(), 0);
}

// With channels=rgb, videoconvert converts to RGB, and a source with several formats produces RGB.
TEST(test_channels_ask_for_rgb) {
  for (const char* upstream :
       {"videotestsrc num-buffers=2 ! video/x-raw,format=I420 ! videoconvert",
        "videotestsrc num-buffers=2 ! video/x-raw,format=P010_10LE ! videoconvert ! queue",
        "videotestsrc num-buffers=2"}) {
    const std::string format =
        format_at_sink(std::string(upstream) + " ! cudahistequalize name=e channels=rgb ! fakesink",
                       [](GstElement*) {});
    fail_unless(format_named(format.c_str()).has_single_colors(), "%s: %s", upstream,
                format.c_str());
  }
  const std::string plain = format_at_sink(
      "videotestsrc num-buffers=2 ! video/x-raw,format=I420 ! videoconvert ! cudahistequalize "
      "name=e ! fakesink",
      [](GstElement*) {});
  fail_unless_equals_string(plain.c_str(), "I420");
}

// channels=rgb is set while playing. Frames that are already in flight must not cause a warning.
TEST(test_channels_change_to_rgb) {
  for (const char* converter : {"videoconvert", "videoconvert ! queue"}) {
    int warnings = 0;
    const std::string format = format_at_sink(
        std::string("videotestsrc num-buffers=50 ! video/x-raw,format=NV12 ! ") + converter +
            " ! cudahistequalize name=e ! fakesink name=sink",
        [&](GstElement* pipeline) {
          const Owned<GstBus> bus(gst_element_get_bus(pipeline));
          gst_bus_enable_sync_message_emission(bus);
          const auto count =
              +[](GstBus*, GstMessage*, gpointer number) { ++*static_cast<int*>(number); };
          g_signal_connect(bus.get(), "sync-message::warning", G_CALLBACK(count), &warnings);
          on_buffers_at(pipeline, "sink", [element = element_in(pipeline, "e").get()](GstBuffer*) {
            set_property(element, "channels", "rgb");
          });
        });
    fail_unless(format_named(format.c_str()).family == Family::rgb, "%s: %s", converter,
                format.c_str());
    fail_unless_equals_int(warnings, 0);
  }
}

// If upstream cannot convert to RGB, the element warns.
TEST(test_channels_change_without_rgb) {
  FilterHarness filter;
  const FormatSpec& format = format_named("NV12");
  filter.accept_caps(format, 32, 16, colorimetry(format, false));
  const Picture picture = make_picture(format, 32, 16, Content::natural, 1);
  filter.process(picture);
  filter.messages().clear();
  filter.set("channels", "rgb");
  filter.process(picture);
  filter.process(picture);
  filter.messages().expect_one(GST_MESSAGE_WARNING, {"channels=rgb", "videoconvert"});
}
