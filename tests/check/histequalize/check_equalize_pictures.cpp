// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares the pixels of cudahistequalize with the definition, for every format and many sizes,
// memory layouts, ranges and settings.

#include "tests/check/common/definitions/equalizedefinition.h"
#include "tests/check/common/filterharness.h"
#include "tests/check/common/pictures/photographs.h"
#include "tests/check/common/pictures/random.h"
#include "tests/check/common/pipelines.h"

using namespace check;

namespace {

constexpr Size sizes[] = {{1, 1}, {1, 2},   {2, 1},  {1, 37},  {41, 1},
                          {5, 3}, {16, 16}, {17, 9}, {33, 31}, {130, 6}};

/// Sends one picture with every memory layout and every setting that is valid for its format.
void expect_definition(FilterHarness& filter, const Picture& picture, bool limited,
                       const std::string& what) {
  for (bool each_channel : {false, true})
    for (double strength : {1.0, each_channel ? 0.75 : 0.3}) {
      if (each_channel && !picture.format->has_single_colors())
        continue;
      const Equalization how = {each_channel, strength, limited};
      filter.set(how.properties());
      const Picture expected = equalized(picture, how);
      for (std::size_t i = 0; i < std::size(all_layouts); ++i)
        expect_picture(filter.process(picture, all_layouts[i]), expected,
                       what + (limited ? ", limited, " : ", full, ") + text_of(how.properties()) +
                           "layout " + std::to_string(i));
    }
  filter.set("channels", "luma");  // the next caps may have a YUV format, which excludes "rgb"
}

}  // namespace

TEST(test_sizes_and_layouts, .times(formats().size())) {
  const FormatSpec& format = format_number(index);
  FilterHarness filter;
  unsigned seed = 1;
  for (const Size& size : sizes)
    for (bool limited : {false, true}) {
      if (limited && format.family == Family::rgb)
        continue;
      filter.accept_caps(format, size.width, size.height, colorimetry(format, limited));
      const Content content = seed % 2 == 0 ? Content::random : Content::natural;
      expect_definition(filter, make_picture(format, size.width, size.height, content, seed),
                        limited, "sizes");
      ++seed;
    }
}

TEST(test_contents, .times(formats().size())) {
  const FormatSpec& format = format_number(index);
  FilterHarness filter;
  unsigned seed = 100;
  for (bool limited : {false, true}) {
    if (limited && format.family == Family::rgb)
      continue;
    filter.accept_caps(format, 67, 45, colorimetry(format, limited));
    for (Content content : all_contents)
      expect_definition(filter, make_picture(format, 67, 45, content, ++seed), limited,
                        "content " + std::to_string(static_cast<int>(content)));
  }
}

// The frames are large enough for several threads, blocks and row tails.
TEST(test_large_frames, .times(formats().size())) {
  const FormatSpec& format = format_number(index);
  FilterHarness filter;
  filter.accept_caps(format, 1283, 721, colorimetry(format, false));
  const Picture picture = make_picture(format, 1283, 721, Content::natural, 9);
  expect_picture(filter.process(picture, odd_layout), equalized(picture, {}), "large");
}

TEST(test_extreme_shapes) {
  FilterHarness filter;
  for (const char* name : {"GRAY8", "NV12", "RGB", "GRAY16_LE", "YUY2"})
    for (const Size& size : {Size{32767, 1}, Size{1, 32767}}) {
      const FormatSpec& format = format_named(name);
      filter.accept_caps(format, size.width, size.height, colorimetry(format, false));
      const Picture picture = make_picture(format, size.width, size.height, Content::natural, 17);
      expect_picture(filter.process(picture), equalized(picture, {}), "extreme shape");
    }
}

TEST(test_8k) {
  const FormatSpec& format = format_named("GRAY8");
  FilterHarness filter;
  filter.accept_caps(format, 7680, 4320);
  for (Content content : {Content::random, Content::two_valued}) {
    const Picture picture = make_picture(format, 7680, 4320, content, 9);
    expect_picture(filter.process(picture), equalized(picture, {}), "8K");
  }
}

// These weights are not exact in 8 bits; rint() rounds ties to even.
TEST(test_strengths) {
  for (const char* name : {"GRAY8", "I420_10LE", "GRAY16_LE", "BGRA"}) {
    const FormatSpec& format = format_named(name);
    FilterHarness filter;
    filter.accept_caps(format, 61, 23, colorimetry(format, false));
    const Picture picture = make_picture(format, 61, 23, Content::natural, 5);
    for (double strength : {0.0, 0.5 / 256, 1.0 / 256, 1.5 / 256, 2.5 / 256, 0.1, 0.25, 1.0 / 3,
                            0.5, 0.7, 127.5 / 256, 253.5 / 256, 254.5 / 256, 255.5 / 256, 1.0}) {
      filter.set("strength", text_of(strength));
      expect_picture(filter.process(picture, odd_layout), equalized(picture, {false, strength}),
                     "strength=" + text_of(strength));
    }
  }
}

// Gray caps without colorimetry mean the full range.
TEST(test_gray_without_colorimetry) {
  for (const char* name : {"GRAY8", "GRAY16_LE"}) {
    const FormatSpec& format = format_named(name);
    FilterHarness filter;
    filter.accept_caps(format, 40, 30);
    const Picture picture = make_picture(format, 40, 30, Content::natural, 3);
    expect_picture(filter.process(picture), equalized(picture, {}), "no colorimetry");
  }
}

// YUV caps without colorimetry mean GStreamer's default, the limited range.
TEST(test_yuv_without_colorimetry) {
  for (const char* name : {"I420", "NV12", "P010_10LE"})
    for (int height : {30, 720}) {
      const FormatSpec& format = format_named(name);
      FilterHarness filter;
      filter.accept_caps(format, 40, height);
      const Picture picture = make_picture(format, 40, height, Content::natural, 3);
      expect_picture(filter.process(picture), equalized(picture, {false, 1, true}),
                     "no colorimetry");
    }
}

TEST(test_range_change_takes_effect) {
  const FormatSpec& format = format_named("NV12");
  FilterHarness filter;
  const Picture picture = make_picture(format, 40, 30, Content::natural, 8);
  for (bool limited : {true, false, true}) {
    filter.accept_caps(format, 40, 30, colorimetry(format, limited));
    expect_picture(filter.process(picture), equalized(picture, {false, 1, limited}),
                   limited ? "limited" : "full");
  }
}

TEST(test_formats_with_the_same_samples_agree, .times(std::size(formats_of_the_same_samples))) {
  const FormatSpec& one = format_named(formats_of_the_same_samples[index][0]);
  const FormatSpec& other = format_named(formats_of_the_same_samples[index][1]);
  for (bool limited : {false, true}) {
    const Picture a = make_picture(one, 75, 53, Content::natural, 21);
    FilterHarness first, second;
    first.accept_caps(one, 75, 53, colorimetry(one, limited));
    second.accept_caps(other, 75, 53, colorimetry(other, limited));
    expect_picture(second.process(converted(a, other)), converted(first.process(a), other),
                   std::string("as in ") + one.name);
  }
}

// The element reads `word >> 6` from P010. The low bits of luma have no effect and do not appear in
// the output.
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

// Words of more than ten bits are invalid samples, but must not cause accesses outside a table.
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

// The equalisation treats both fields as one picture.
TEST(test_interleaved_fields) {
  const FormatSpec& format = format_named("YUY2");
  FilterHarness filter;
  filter.accept_caps(format, 36, 26, colorimetry(format, false) + ", interlace-mode=interleaved");
  const Picture picture = make_picture(format, 36, 26, Content::natural, 1);
  expect_picture(filter.process(picture), equalized(picture, {}), "interleaved");
}

// Tests random combinations. A failure prints its seed.
TEST(test_random_cases, .times(10)) {
  FilterHarness filter;
  for (unsigned i = 0; i < 40; ++i) {
    const unsigned seed = 1000u * static_cast<unsigned>(index) + i;
    Random random(seed);
    const FormatSpec& format = random.any_format();
    const int width = static_cast<int>(random.log_uniform(1, 200));
    const int height = static_cast<int>(random.log_uniform(1, 200));
    const bool limited = format.family != Family::rgb && random.below(2) == 1;
    const Layout layout = random.any_layout();
    const Content content = random.one_of(all_contents);
    const bool each_channel = format.has_single_colors() && random.below(2) == 1;
    const Equalization how = {each_channel, random.below(257) / 256.0, limited};
    filter.set("channels", "luma");
    filter.accept_caps(format, width, height, colorimetry(format, limited));
    filter.set(how.properties());
    const Picture picture = make_picture(format, width, height, content, seed);
    expect_picture(filter.process(picture, layout), equalized(picture, how),
                   "seed " + std::to_string(seed));
  }
}

namespace {

/// Compares the element's output for a photograph with the definition. Caps and properties are
/// given as in a launch line.
void expect_equalized(const Photograph& photograph, const FormatSpec& format,
                      const std::string& more_caps, const std::string& properties,
                      const Equalization& how) {
  const auto [before, after] = photograph_through(
      photograph, format, more_caps, "cudahistequalize backend=" + test_backend() + properties);
  expect_picture(after, equalized(before, how), photograph.file + more_caps + properties);
}

}  // namespace

TEST(test_gray_photographs, .unless(unless_photographs())) {
  for (const Photograph& photograph : photographs)
    expect_equalized(photograph, format_named("GRAY8"), ",colorimetry=1:4:0:0", "", {});
}

TEST(test_color_photographs, .unless(unless_photographs())) {
  const Equalization limited{false, 1, true}, each{true}, half{false, 0.5};
  for (const Photograph& photograph : photographs) {
    expect_equalized(photograph, format_named("I420"), ",colorimetry=bt601", "", limited);
    expect_equalized(photograph, format_named("NV12"), ",colorimetry=1:4:7:1", "", {});
    expect_equalized(photograph, format_named("RGBx"), "", "", {});
    expect_equalized(photograph, format_named("BGR"), "", " channels=rgb", each);
    expect_equalized(photograph, format_named("GBR"), "", " strength=0.5", half);
  }
}

TEST(test_deep_photographs, .unless(unless_photographs())) {
  const Equalization limited{false, 1, true};
  for (const Photograph& photograph : photographs) {
    expect_equalized(photograph, format_named("GRAY16_LE"), "", "", {});
    expect_equalized(photograph, format_named("P010_10LE"), ",colorimetry=bt709", "", limited);
    expect_equalized(photograph, format_named("I420_10LE"), ",colorimetry=bt709", "", limited);
  }
}

/* Negotiation of channels=rgb */

namespace {

/// Returns the format that reaches the element e in a pipeline that ends without an error.
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

// videoconvert converts, and a source that has the choice makes RGB frames.
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
  // Otherwise videoconvert leaves frames as they are.
  const std::string plain = format_at_sink(
      "videotestsrc num-buffers=2 ! video/x-raw,format=I420 ! videoconvert ! cudahistequalize "
      "name=e ! fakesink",
      [](GstElement*) {});
  fail_unless_equals_string(plain.c_str(), "I420");
}

// The same while playing. The frames that are on their way are no reason to warn.
TEST(test_channels_change_to_rgb) {
  for (const char* converter : {"videoconvert", "videoconvert ! queue"}) {
    int warnings = 0;
    const std::string format = format_at_sink(
        std::string("videotestsrc num-buffers=50 ! video/x-raw,format=NV12 ! ") + converter +
            " ! cudahistequalize name=e ! fakesink name=sink signal-handoffs=true",
        [&](GstElement* pipeline) {
          const Owned<GstBus> bus(gst_element_get_bus(pipeline));
          gst_bus_enable_sync_message_emission(bus);
          const auto count =
              +[](GstBus*, GstMessage*, gpointer number) { ++*static_cast<int*>(number); };
          g_signal_connect(bus.get(), "sync-message::warning", G_CALLBACK(count), &warnings);
          const auto change = +[](GstElement*, GstBuffer*, GstPad*, gpointer element) {
            gst_util_set_object_arg(G_OBJECT(element), "channels", "rgb");
          };
          g_signal_connect_object(element_in(pipeline, "sink").get(), "handoff", G_CALLBACK(change),
                                  element_in(pipeline, "e").get(), static_cast<GConnectFlags>(0));
        });
    fail_unless(format_named(format.c_str()).family == Family::rgb, "%s: %s", converter,
                format.c_str());
    fail_unless_equals_int(warnings, 0);
  }
}

// Upstream that cannot convert is a reason to warn.
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
  fail_unless_equals_int(filter.messages().complaints(), 1);
  expect_words(filter.messages().text(GST_MESSAGE_WARNING), {"channels=rgb", "videoconvert"});
}
