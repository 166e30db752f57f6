// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares cudagaussblur's border colour with hand-calculated BT.601, BT.709 and BT.2020 samples.
#include "tests/check/common/definitions/blurdefinition.h"
#include "tests/check/common/filterharness.h"

using namespace check;

namespace {

struct Case {
  const char* format;
  const char* colorimetry;  ///< nullptr for caps without colorimetry
  std::uint32_t argb;
  std::vector<int> samples;  ///< Y; Y, U, V; or R, G, B; then alpha, if any
};

constexpr char bt601_full[] = "1:4:16:4";  // range:matrix:transfer:primaries
constexpr char bt709_full[] = "1:3:5:1";

constexpr std::uint32_t white = 0xffffffff, black = 0xff000000, red = 0xffff0000,
                        green = 0xff00ff00, blue = 0xff0000ff, yellow = 0xffffff00;

const std::vector<Case> cases = {
    {"I420", "bt601", white, {235, 128, 128}},
    {"I420", "bt601", black, {16, 128, 128}},
    {"I420", "bt601", red, {81, 90, 240}},
    {"I420", "bt601", green, {145, 54, 34}},
    {"I420", "bt601", blue, {41, 240, 110}},
    {"YV12", "bt601", yellow, {210, 16, 146}},
    {"NV12", "bt709", red, {63, 102, 240}},
    {"NV21", "bt709", green, {173, 42, 26}},
    {"NV12", "bt709", blue, {32, 240, 118}},
    {"Y42B", "bt709", white, {235, 128, 128}},
    {"Y444", bt601_full, red, {76, 85, 255}},
    {"YUY2", bt601_full, green, {150, 44, 21}},
    {"UYVY", bt601_full, blue, {29, 255, 107}},
    {"Y444", bt601_full, yellow, {226, 1, 149}},  // U is 0.5, a tie, which rounds up
    {"YUY2", bt709_full, red, {54, 99, 255}},
    {"Y444", bt709_full, green, {182, 30, 12}},
    {"P010_10LE", "bt709", red, {250, 409, 960}},
    {"I420_10LE", bt709_full, red, {217, 395, 1023}},
    {"P010_10LE", "bt2020-10", red, {294, 387, 960}},
    {"I420_10LE", "bt709", white, {940, 512, 512}},
    // Without colorimetry: BT.601 in limited range for YUV, full range for gray.
    {"I420", nullptr, red, {81, 90, 240}},
    {"GRAY8", nullptr, red, {76}},
    {"GRAY8", nullptr, white, {255}},
    {"GRAY8", "bt709", red, {63}},
    {"GRAY8", bt709_full, green, {182}},
    {"GRAY16_LE", nullptr, white, {65535}},
    {"GRAY16_LE", nullptr, red, {19595}},
    {"GRAY16_LE", "bt601", white, {60160}},
    {"RGB", nullptr, 0xff123456, {0x12, 0x34, 0x56}},
    {"BGR", nullptr, 0xff123456, {0x12, 0x34, 0x56}},
    {"RGBx", nullptr, 0x00123456, {0x12, 0x34, 0x56}},
    {"BGRx", nullptr, 0x00123456, {0x12, 0x34, 0x56}},
    {"xRGB", nullptr, 0x80123456, {0x12, 0x34, 0x56}},
    {"xBGR", nullptr, 0x80123456, {0x12, 0x34, 0x56}},
    {"RGBA", nullptr, 0x80123456, {0x12, 0x34, 0x56, 0x80}},
    {"BGRA", nullptr, 0x80123456, {0x12, 0x34, 0x56, 0x80}},
    {"ARGB", nullptr, 0x01123456, {0x12, 0x34, 0x56, 0x01}},
    {"ABGR", nullptr, 0xfe123456, {0x12, 0x34, 0x56, 0xfe}},
    {"GBR", nullptr, 0xff123456, {0x12, 0x34, 0x56}},
    {"RGBP", nullptr, 0xff123456, {0x12, 0x34, 0x56}},
    {"BGRP", nullptr, 0xff123456, {0x12, 0x34, 0x56}},
    {"VUYA", "bt601", 0x40ff0000, {81, 90, 240, 64}},
    {"P012_LE", "bt709", white, {3760, 2048, 2048}},
    {"I420_12LE", bt601_full, black, {0, 2048, 2048}},
    {"Y444_16LE", "bt601", white, {60160, 32768, 32768}},
    {"GRAY16_BE", nullptr, red, {19595}},
    {"GBR_12LE", nullptr, 0xff0133ff, {16, 819, 4095}},
    {"ARGB64_LE", nullptr, 0x80ff3300, {65535, 13107, 0, 32896}},
    {"RGBA64_LE", nullptr, 0x80ff3300, {65535, 13107, 0, 32896}},
    // 2 bits of alpha: 0, 85, 170 or 255 in 8 bits.
    {"RGB10A2_LE", nullptr, 0x80123456, {72, 209, 345, 2}},
    {"BGR10A2_LE", nullptr, 0x2a123456, {72, 209, 345, 0}},
    {"BGR10A2_LE", nullptr, 0x2b123456, {72, 209, 345, 1}},
};

std::vector<Component> components_of(const FormatSpec& format) {
  std::vector<Component> list;
  for (const Place& place : format.places)
    list.push_back({place});
  list.insert(list.end(), format.others.begin(), format.others.end());
  return list;
}

Picture single_pixel(const FormatSpec& format, const std::vector<int>& samples) {
  const std::vector<Component> components = components_of(format);
  fail_unless_equals_int(samples.size(), components.size());
  Picture picture(format, 1, 1);
  for (std::size_t i = 0; i < components.size(); ++i)
    picture.set_sample_at(components[i].place, 0, 0, samples[i]);
  return picture;
}

std::string caps_for(const Case& color) {
  return caps_of(format_named(color.format), 1, 1,
                 color.colorimetry ? std::string(", colorimetry=") + color.colorimetry : "");
}

std::string described(const Case& color) {
  gchar* number = g_strdup_printf("%08x in ", color.argb);
  const std::string text = number + caps_for(color);
  g_free(number);
  return text;
}

}  // namespace

// At the largest sigma, a single pixel in the opposite colour takes on the border's colour. With 16
// bits, the opposite colour could shift the result by one level, so the pixel has the border's
// colour from the start.
TEST(test_colors) {
  for (const Case& color : cases) {
    const FormatSpec& format = format_named(color.format);
    std::vector<int> opposite = color.samples;
    for (int& sample : opposite)
      sample = format.peak() - sample;
    const Picture border = single_pixel(format, color.samples);
    Picture picture = format.bits == 16 ? border : single_pixel(format, opposite);

    FilterHarness filter(
        "cudagaussblur",
        {{"sigma", "127"}, {"border", "constant"}, {"border-color", std::to_string(color.argb)}});
    fail_unless(filter.send_caps(caps_for(color)));
    const Picture out = filter.process(picture);
    for (const Component& component : components_of(format))
      fail_unless(out.sample_at(component.place, 0, 0) == border.sample_at(component.place, 0, 0),
                  "%s: %d instead of %d in plane %d at %d", described(color).c_str(),
                  out.sample_at(component.place, 0, 0), border.sample_at(component.place, 0, 0),
                  component.place.plane, component.place.offset);
  }
}

TEST(test_color_follows_caps) {
  const FormatSpec& format = format_named("I420");
  FilterHarness filter("cudagaussblur",
                       {{"sigma", "127"}, {"border", "constant"}, {"border-color", "0xffff0000"}});
  for (const auto& [colorimetry, luma] :
       {std::pair{"bt601", 81}, std::pair{"bt709", 63}, std::pair{bt709_full, 54}}) {
    filter.accept_caps(format, 1, 1, std::string(", colorimetry=") + colorimetry);
    fail_unless_equals_int(filter.process(Picture(format, 1, 1)).sample(0, 0, 0), luma);
  }
}
