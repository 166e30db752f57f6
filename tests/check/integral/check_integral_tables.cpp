// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares every entry of cudaintegral's tables, as tensors and as pictures, with the definition.
#include <cstring>
#include <iterator>

#include "tests/check/common/filterharness.h"
#include "tests/check/common/pictures/tensors.h"

using namespace check;

namespace {

Integral table(Output output, bool same_size = false, ElementType type = ElementType::automatic) {
  return {output, same_size, type};
}

/// Calls `what` with every kind of table in both layouts.
template <class What>
void for_each_table(What what) {
  for (Output output : all_tables)
    for (bool same_size : {false, true})
      what(table(output, same_size));
}

/// Makes a picture whose samples are all as large as the format allows.
Picture brightest(const FormatSpec& format, int width, int height) {
  return picture_with(format, width, height, [&](int, int, int) { return format.peak(); });
}

/// Returns the element type in the output caps.
std::string type_out(FilterHarness& filter) {
  const Owned<GstCaps> caps = current_caps(filter.sink_pad());
  const gchar* type = gst_structure_get_string(gst_caps_get_structure(caps, 0), "types");
  return type != nullptr ? type : "no tensor";
}

}  // namespace

TEST(test_formats_and_sizes, .times(formats().size())) {
  const FormatSpec& format = format_number(index);
  for_each_table([&](const Integral& how) {
    FilterHarness filter("cudaintegral", how.properties());
    unsigned seed = 1;
    for (const Size& size : {Size{1, 1}, Size{1, 2}, Size{2, 1}, Size{1, 37}, Size{41, 1},
                             Size{5, 3}, Size{16, 16}, Size{17, 9}, Size{33, 31}, Size{131, 6}}) {
      filter.accept_caps(format, size.width, size.height,
                         colorimetry(format, seed % 2 == 0 && format.family != Family::rgb));
      const Picture picture = make_picture(format, size.width, size.height,
                                           all_contents[seed % std::size(all_contents)], seed);
      expect_tensor(filter, picture, how, all_layouts[seed % std::size(all_layouts)]);
      ++seed;
    }
  });
}

// In CUDA memory, the rows of a table follow each other without a gap as well.
TEST(test_tables_in_cuda_memory, .unless(unless_testing_cuda())) {
  constexpr auto map_cuda = static_cast<GstMapFlags>(GST_MAP_READ | GST_MAP_FLAG_LAST << 1);
  for (const char* name : {"GRAY8", "NV12", "BGRA", "GRAY16_LE"})
    for (ElementType type : all_element_types)
      for_each_table([&](Integral how) {
        how.type = type;
        const FormatSpec& format = format_named(name);
        FilterHarness filter("cudaintegral", how.properties());
        filter.accept_downstream("other/tensors(memory:CUDAMemory)");
        for (const Size& size :
             {Size{1, 1}, Size{1, 37}, Size{41, 1}, Size{33, 31}, Size{131, 6}, Size{301, 233}}) {
          filter.accept_caps(format, size.width, size.height, colorimetry(format, false));
          // The later ones come in buffers that return to the pool.
          for (unsigned seed : {1u, 2u, 3u}) {
            const Picture picture =
                make_picture(format, size.width, size.height, Content::random, seed);
            expect_tensor(filter, picture, how, odd_layout);
          }
          const Owned<GstBuffer> out = filter.process(
              to_buffer(make_picture(format, size.width, size.height, Content::natural, 4)));
          GstMapInfo on_device, on_host;
          fail_unless_equals_int(gst_buffer_n_memory(out), 1);
          fail_unless(gst_buffer_map(out, &on_device, map_cuda));
          gst_buffer_unmap(out, &on_device);
          fail_unless(gst_buffer_map(out, &on_host, GST_MAP_READ));
          gst_buffer_unmap(out, &on_host);
          fail_unless_equals_uint64(on_device.size, on_host.size);
          fail_unless(on_device.data != on_host.data);
        }
      });
}

// This includes sums beyond 32 bits and beyond the integers that a float holds exactly.
TEST(test_element_types) {
  for (const char* name : {"GRAY8", "NV12", "BGRA", "P010_10LE", "GRAY16_LE"})
    for (ElementType type : all_element_types)
      for_each_table([&](Integral how) {
        how.type = type;
        const FormatSpec& format = format_named(name);
        FilterHarness filter("cudaintegral", how.properties());
        filter.accept_caps(format, 301, 233, colorimetry(format, false));
        for (Content content : {Content::random, Content::natural})
          expect_tensor(filter, make_picture(format, 301, 233, content, 7), how, odd_layout);
        expect_tensor(filter, brightest(format, 301, 233), how);
      });
}

// 32 bits hold at most 66051 squares of 255.
TEST(test_automatic_type) {
  struct Case {
    const char* format;
    Output output;
    Size size;
    const char* type;
  };
  for (const Case& c : {Case{"GRAY8", Output::squared_sum, {22017, 3}, "uint32"},
                        Case{"GRAY8", Output::squared_sum, {22018, 3}, "uint64"},
                        Case{"RGBx", Output::squared_sum, {3, 22017}, "uint32"},
                        Case{"RGBx", Output::squared_sum, {3, 22018}, "uint64"},
                        Case{"GRAY16_LE", Output::sum, {65535, 1}, "uint32"},
                        Case{"GRAY16_LE", Output::sum, {32769, 2}, "uint64"},
                        Case{"GRAY16_LE", Output::squared_sum, {1, 1}, "uint32"},
                        Case{"GRAY16_LE", Output::squared_sum, {2, 1}, "uint64"},
                        Case{"I420_10LE", Output::tilted_sum, {2048, 2050}, "uint32"},
                        Case{"I420_10LE", Output::tilted_sum, {2049, 2050}, "uint64"}}) {
    const FormatSpec& format = format_named(c.format);
    const Integral how = table(c.output);
    FilterHarness filter("cudaintegral", how.properties());
    filter.accept_caps(format, c.size.width, c.size.height, colorimetry(format, false));
    if (c.output == Output::tilted_sum)  // its definition is slow
      filter.process(to_buffer(Picture(format, c.size.width, c.size.height)));
    else
      expect_tensor(filter, brightest(format, c.size.width, c.size.height), how);
    fail_unless(type_out(filter) == c.type, "%s %dx%d, %s: %s", c.format, c.size.width,
                c.size.height, nick_of(c.output), type_out(filter).c_str());
  }
}

// Sums modulo 2^32 still give the exact sum of a box if that is below 2^32.
TEST(test_modulo) {
  const FormatSpec& format = format_named("GRAY16_LE");
  const Integral how = table(Output::sum, false, ElementType::uint32);
  FilterHarness filter("cudaintegral", how.properties());
  filter.accept_caps(format, 400, 300);
  const Picture picture = brightest(format, 400, 300);
  expect_tensor(filter, picture, how);
  const std::vector<std::uint8_t> bytes = tensor_of(picture, how).bytes;
  const auto entry = [&](int x, int y) {
    std::uint32_t value;
    std::memcpy(&value, bytes.data() + 4 * static_cast<std::size_t>(401 * y + x), sizeof value);
    return value;
  };
  fail_unless(entry(400, 300) == 120000u * 65535u);
  const std::uint32_t box = entry(390, 290) - entry(290, 290) - entry(390, 190) + entry(290, 190);
  fail_unless(box == 100u * 100 * 65535);
}

TEST(test_large_frames) {
  for (const char* name : {"GRAY8", "NV12", "RGB", "P010_10LE", "GRAY16_LE"})
    for_each_table([&](const Integral& how) {
      const FormatSpec& format = format_named(name);
      FilterHarness filter("cudaintegral", how.properties());
      filter.accept_caps(format, 683, 421, colorimetry(format, false));
      expect_tensor(filter, make_picture(format, 683, 421, Content::natural, 9), how, odd_layout);
    });
}

TEST(test_extreme_shapes) {
  for (Output output : {Output::sum, Output::squared_sum})
    for (const char* name : {"GRAY8", "I420", "xRGB", "GRAY16_LE"})
      for (const Size& size : {Size{65535, 1}, Size{1, 65535}, Size{32767, 3}}) {
        // GStreamer's size arithmetic fails for the largest I420 rows.
        const FormatSpec& format = format_named(name);
        const Integral how = table(output);
        FilterHarness filter("cudaintegral", how.properties());
        filter.accept_caps(format, size.width, size.height, colorimetry(format, false));
        expect_tensor(filter, make_picture(format, size.width, size.height, Content::natural, 17),
                      how);
      }
}

// An interlaced frame is treated as one picture.
TEST(test_interleaved_fields) {
  const FormatSpec& format = format_named("YUY2");
  const Integral how = table(Output::sum);
  FilterHarness filter("cudaintegral");
  filter.accept_caps(format, 36, 26, ", interlace-mode=interleaved");
  Picture picture = make_picture(format, 36, 26, Content::natural, 1);
  picture.interlaced = true;
  expect_tensor(filter, picture, how);
}

TEST(test_renegotiation) {
  FilterHarness filter("cudaintegral");
  renegotiate(filter, [&](const Picture& picture, const std::string&) {
    expect_tensor(filter, picture, table(Output::sum), odd_layout);
  });
}

// If downstream accepts only video, the output is the picture of the table.
TEST(test_pictures, .times(formats().size())) {
  const FormatSpec& format = format_number(index);
  for_each_table([&](const Integral& how) {
    for (const char* out : {"GRAY8", "GRAY16_LE"}) {
      FilterHarness filter("cudaintegral", how.properties());
      filter.accept_downstream(std::string("video/x-raw, format=") + out);
      for (const Size& size : {Size{1, 1}, Size{1, 19}, Size{23, 1}, Size{31, 17}, Size{90, 44}}) {
        filter.accept_caps(format, size.width, size.height, colorimetry(format, false));
        for (Content content : all_contents)
          expect_gray_picture(filter, make_picture(format, size.width, size.height, content, 5),
                              how, format_named(out), shifted_layout);
      }
      expect_gray_picture(filter, Picture(format, 90, 44), how, format_named(out));
    }
  });
}

// The picture has 8 bits by default. The sums of this test exceed 2^32.
TEST(test_pictures_of_large_sums) {
  for (Output output : {Output::sum, Output::squared_sum}) {
    const FormatSpec& format = format_named("GRAY16_LE");
    const Integral how = table(output);
    FilterHarness filter("cudaintegral", how.properties());
    filter.accept_downstream("video/x-raw");
    filter.accept_caps(format, 700, 500);
    expect_gray_picture(filter, brightest(format, 700, 500), how, format_named("GRAY8"));
    expect_gray_picture(filter, make_picture(format, 700, 500, Content::random, 3), how,
                        format_named("GRAY8"), odd_layout);
  }
}
