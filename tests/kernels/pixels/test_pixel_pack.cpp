// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares the packs in which CUDA threads process pixels with bytewise code. Tests AccessPlanner.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "cuda/core/error.h"
#include "cuda/pixels/access_pattern.h"
#include "cuda/pixels/pixel_pack.h"
#include "tests/kernels/common/layouts.h"
#include "tests/kernels/common/random.h"
#include "tests/kernels/common/settings.h"

namespace cudavision::test {
namespace {

struct alignas(16) Piece {
  std::uint8_t bytes[16];
};

/// A plane of random bytes with rows at addresses divisible by 16.
struct Plane {
  Plane(int row_bytes, int rows, int gap, Random& random)
      : pitch((row_bytes + 15) / 16 * 16 + 16 * gap), pieces(pitch / 16 * rows) {
    for (std::size_t i = 0; i < pieces.size() * 16; ++i)
      data()[i] = static_cast<std::uint8_t>(random.next() >> 32);
  }
  std::uint8_t* data() { return pieces[0].bytes; }
  std::vector<std::uint8_t> bytes() { return {data(), data() + pieces.size() * 16}; }
  int pitch;
  std::vector<Piece> pieces;
};

/// Reads and changes every pixel with a pack type, and compares all bytes of the output.
template <class Pack, Rows kRows, class Get, class Put>
void go_through(int width, int height, int row_bytes, int planes, int gap, const Get& get,
                const Put& put) {
  Random random(mixed_seed(settings().seed, width * 1000 + height));
  std::vector<Plane> in, out, expected;
  for (int p = 0; p < planes; ++p) {
    in.emplace_back(row_bytes, height, gap, random);
    out.emplace_back(row_bytes, height, gap, random);
    expected.push_back(out.back());
    for (int y = 0; y < height; ++y)
      std::memcpy(expected[p].data() + expected[p].pitch * y, in[p].data() + in[p].pitch * y,
                  row_bytes);
  }
  PackedImage picture;
  for (int p = 0; p < planes; ++p)
    picture.planes[p] = {in[p].data(), out[p].data(), in[p].pitch, out[p].pitch};
  const int pack_bytes = 4 * Pack::words / planes;
  picture.per_row = (row_bytes + pack_bytes - 1) / pack_bytes;
  picture.rows = height;
  picture.count = picture.per_row * height;
  picture.width = width;
  picture.row_bytes = row_bytes;
  picture.shift = 6;
  picture.largest = 1023;

  // Visits every pack once, in three interleaved sequences, as three threads would.
  const PackStride stride(3, picture.per_row);
  std::vector<int> visits(picture.count);
  for (std::uint32_t thread = 0; thread < 3; ++thread)
    for (PackCursor<kRows> at(picture, thread); at.inside(picture); at.advance(picture, stride)) {
      ++visits.at(kRows == Rows::linear ? at.x : at.y * picture.per_row + at.x);
      std::uint32_t data[Pack::words];
      Pack::template load<kRows>(picture, at, data);
      const int existing = pixels_in<Pack, kRows>(picture, at);
      for (int i = 0; i < existing; ++i) {
        const int number = static_cast<int>(at.x) * Pack::pixels + i;
        const int x = kRows == Rows::linear ? number % width : number;
        const int y = kRows == Rows::linear ? number / width : at.y;
        get(in, expected, x, y, data, i, picture);
        put(data, i, picture);
      }
      Pack::template store<kRows>(picture, at, data);
    }
  EXPECT_EQ(visits, std::vector<int>(picture.count, 1));
  for (int p = 0; p < planes; ++p)
    EXPECT_EQ(out[p].bytes(), expected[p].bytes()) << width << "×" << height << ", plane " << p;
}

template <int kStep, int kOffset, Rows kRows>
void luma_bytes(int width, int height, int gap) {
  using Pack = LumaBytes<kStep, kOffset>;
  const int row_bytes = kStep == 1 ? width : (width + 1) / 2 * 4;
  go_through<Pack, kRows>(
      width, height, row_bytes, 1, gap,
      [](auto& in, auto& expected, int x, int y, const std::uint32_t* data, int i, auto& picture) {
        const int at = y * in[0].pitch + x * kStep + kOffset;
        EXPECT_EQ(Pack::value(data, i, picture), in[0].data()[at]);
        expected[0].data()[at] = static_cast<std::uint8_t>(in[0].data()[at] ^ 0x5a);
      },
      [](std::uint32_t* data, int i, auto& picture) {
        Pack::set(data, i, Pack::value(data, i, picture) ^ 0x5a, picture);
      });
}

const int widths[] = {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 48, 53};

TEST(PixelPack, LumaBytes) {
  for (const int width : widths)
    for (const int gap : {0, 1}) {
      luma_bytes<1, 0, Rows::ragged>(width, 5, gap);
      luma_bytes<2, 0, Rows::ragged>(width, 5, gap);
      luma_bytes<2, 1, Rows::ragged>(width, 5, gap);
    }
  for (const int width : {16, 32, 64}) {
    luma_bytes<1, 0, Rows::whole>(width, 7, 1);
    luma_bytes<1, 0, Rows::linear>(width, 7, 0);
    luma_bytes<2, 1, Rows::whole>(width, 7, 2);
    luma_bytes<2, 0, Rows::linear>(width, 7, 0);
  }
}

template <bool kAllBits>
void luma_words(int width, int height, int gap) {
  using Pack = LumaWords<kAllBits>;
  const auto word_at = [](Plane& plane, int at) {
    return static_cast<unsigned>(plane.data()[at] | plane.data()[at + 1] << 8);
  };
  go_through<Pack, Rows::ragged>(
      width, height, 2 * width, 1, gap,
      [&](auto& in, auto& expected, int x, int y, const std::uint32_t* data, int i, auto& picture) {
        const int at = y * in[0].pitch + 2 * x;
        const unsigned word = word_at(in[0], at);
        const unsigned value = kAllBits ? word : word >> 6 < 1023 ? word >> 6 : 1023;
        EXPECT_EQ(Pack::value(data, i, picture), value);
        const unsigned changed = kAllBits ? value ^ 0x1234 : (value ^ 0x2a5) << 6;
        expected[0].data()[at] = static_cast<std::uint8_t>(changed);
        expected[0].data()[at + 1] = static_cast<std::uint8_t>(changed >> 8);
      },
      [](std::uint32_t* data, int i, auto& picture) {
        Pack::set(data, i, Pack::value(data, i, picture) ^ (kAllBits ? 0x1234 : 0x2a5), picture);
      });
}

TEST(PixelPack, LumaWords) {
  for (const int width : widths)
    for (const int gap : {0, 3}) {
      luma_words<false>(width, 3, gap);
      luma_words<true>(width, 3, gap);
    }
}

template <class Pack, Rows kRows>
void packed_colour(int width, int height, int gap) {
  constexpr int step = Pack::bytes;
  go_through<Pack, kRows>(
      width, height, step * width, 1, gap,
      [](auto& in, auto& expected, int x, int y, const std::uint32_t* data, int i, auto&) {
        const int at = y * in[0].pitch + step * x;
        const std::uint32_t pixel = Pack::pixel(data, i);
        for (int b = 0; b < step; ++b) {
          EXPECT_EQ(byte_of(pixel, b), in[0].data()[at + b]);
          expected[0].data()[at + b] = static_cast<std::uint8_t>(in[0].data()[at + b] + 77 + b);
        }
      },
      [](std::uint32_t* data, int i, auto&) {
        const std::uint32_t pixel = Pack::pixel(data, i);
        std::uint32_t changed = 0;
        for (int b = 0; b < step; ++b)
          changed |= ((byte_of(pixel, b) + 77 + b) & 0xff) << (8 * b);
        Pack::set(data, i, changed);
      });
}

TEST(PixelPack, PackedColour) {
  for (const int width : widths)
    for (const int gap : {0, 1}) {
      packed_colour<PackedColour<3>, Rows::ragged>(width, 4, gap);
      packed_colour<PackedColour<4>, Rows::ragged>(width, 4, gap);
    }
  packed_colour<PackedColour<3>, Rows::whole>(32, 4, 1);
  packed_colour<PackedColour<3>, Rows::linear>(32, 4, 0);
  packed_colour<PackedColour<4>, Rows::whole>(12, 4, 1);
  packed_colour<PackedColour<4>, Rows::linear>(12, 4, 0);
}

TEST(PixelPack, PlanarColour) {
  for (const int width : widths)
    go_through<PlanarColour, Rows::ragged>(
        width, 4, width, 3, 1,
        [](auto& in, auto& expected, int x, int y, const std::uint32_t* data, int i, auto&) {
          for (int c = 0; c < 3; ++c) {
            const int at = y * in[c].pitch + x;
            EXPECT_EQ(byte_of(PlanarColour::pixel(data, i), c), in[c].data()[at]);
            expected[c].data()[at] = static_cast<std::uint8_t>(in[c].data()[at] + 50 + c);
          }
        },
        [](std::uint32_t* data, int i, auto&) {
          const std::uint32_t pixel = PlanarColour::pixel(data, i);
          std::uint32_t changed = 0;
          for (int c = 0; c < 3; ++c)
            changed |= ((byte_of(pixel, c) + 50 + c) & 0xff) << (8 * c);
          PlanarColour::set(data, i, changed);
        });
}

TEST(PixelPack, PackedLuminanceIsTheLuminance) {
  Random random(settings().seed);
  for (int i = 0; i < 200000; ++i) {
    const auto pixel = static_cast<std::uint32_t>(random.next() >> 32);
    // Red, green and blue are bytes 2, 1 and 0 in BGRx, and bytes 1, 2 and 3 in xRGB.
    PackedImage bgrx, xrgb;
    bgrx.weights_low = 299 % 256 << 16 | 587 % 256 << 8 | 114;
    bgrx.weights_high = 299 / 256 << 16 | 587 / 256 << 8;
    xrgb.weights_low = 299 % 256 << 8 | 587 % 256 << 16 | 114u << 24;
    xrgb.weights_high = 299 / 256 << 8 | 587 / 256 << 16;
    const auto byte = [&](int b) { return pixel >> (8 * b) & 0xff; };
    ASSERT_EQ(packed_luminance(pixel, bgrx),
              (299 * byte(2) + 587 * byte(1) + 114 * byte(0)) / 1000);
    ASSERT_EQ(packed_luminance(pixel, xrgb),
              (299 * byte(1) + 587 * byte(2) + 114 * byte(3)) / 1000);
  }
}

TEST(PixelPack, SelectBytes) {
  EXPECT_EQ(select_bytes(0x33221100u, 0x77665544u, 0x7520u), 0x77552200u);
  EXPECT_EQ(dot_bytes(0x01020304u, 0xff000210u, 5), 255u + 6u + 64u + 5u);
}

/* The access patterns that AccessPlanner selects for formats */

AccessPlan plan_of(const FrameLayout& layout, int pitch, int misalignment) {
  alignas(16) static std::uint8_t memory[32];
  ConstFrame in;
  Frame out;
  for (int p = 0; p < layout.plane_count; ++p) {
    const PlaneShape& plane = layout.planes[p];
    in.planes[p] = {memory, plane.row_bytes, plane.rows, pitch};
    out.planes[p] = {memory + misalignment, plane.row_bytes, plane.rows, pitch};
  }
  return AccessPlanner(layout).plan(in, out);
}

TEST(AccessPlanner, FindsDensePacksWhereRowsAreAligned) {
  const struct {
    const char* layout;
    AccessPattern dense, scattered;
  } expectations[] = {
      {"GRAY8", AccessPattern::luma_bytes_1, AccessPattern::scattered_luma_1},
      {"NV12", AccessPattern::luma_bytes_1, AccessPattern::scattered_luma_1},
      {"YUY2", AccessPattern::luma_bytes_2_0, AccessPattern::scattered_luma_1},
      {"UYVY", AccessPattern::luma_bytes_2_1, AccessPattern::scattered_luma_1},
      {"P010", AccessPattern::luma_words, AccessPattern::scattered_luma_2},
      {"RGB", AccessPattern::packed_colour_3, AccessPattern::scattered_colour},
      {"xRGB", AccessPattern::packed_colour_4, AccessPattern::scattered_colour},
      {"GBR", AccessPattern::planar_colour, AccessPattern::scattered_colour},
  };
  for (const auto& expected : expectations) {
    const FrameLayout layout = layout_named(expected.layout, 64, 4);
    const int pitch = 512;
    EXPECT_EQ(plan_of(layout, pitch, 0).kind, expected.dense) << expected.layout;
    EXPECT_EQ(plan_of(layout, pitch, 0).rows, Rows::whole) << expected.layout;
    EXPECT_EQ(plan_of(layout, pitch, 1).kind, expected.scattered) << expected.layout;
    EXPECT_EQ(plan_of(layout, pitch + 8, 0).kind, expected.scattered) << expected.layout;
  }
  EXPECT_EQ(plan_of(layout_named("GRAY8", 64, 4), 64, 0).rows, Rows::linear);
  EXPECT_EQ(plan_of(layout_named("GRAY8", 63, 4), 64, 0).rows, Rows::ragged);
  EXPECT_EQ(plan_of(layout_named("YUY2", 63, 4), 128, 0).rows, Rows::ragged);
}

TEST(AccessPlanner, RefusesPitchesBeyondTwoGigabytes) {
  std::uint8_t byte = 0;
  ConstFrame in;
  in.planes[0] = {&byte, 1, 2, std::ptrdiff_t{1} << 32};
  EXPECT_THROW(AccessPlanner(gray_layout(1, 2)).plan(in, Frame{}), Error);
}

}  // namespace
}  // namespace cudavision::test
