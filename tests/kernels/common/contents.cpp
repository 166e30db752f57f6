// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/common/contents.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "tests/kernels/common/random.h"

namespace cudavision::test {
namespace {

std::uint32_t lattice(std::uint64_t seed, int x, int y) {
  const auto point = (static_cast<std::uint64_t>(static_cast<std::uint32_t>(x)) << 32) |
                     static_cast<std::uint32_t>(y);
  return static_cast<std::uint32_t>(Random(seed ^ (point * 0xd6e8feb86659fd93u)).next() >> 48);
}

class Painter {
 public:
  Painter(Content content, std::uint64_t seed, int width, int height)
      : content_(content), seed_(seed), random_(seed), width_(width), height_(height) {
    first_ = static_cast<int>(random_.next() & 0xffff);
    second_ = static_cast<int>(random_.next() & 0xffff);
    spark_x_ = random_.between(0, width - 1);
    spark_y_ = random_.between(0, height - 1);
    direction_ = random_.between(0, 2);
  }

  void row(int y, int bits, std::vector<int>& samples) {
    const int largest = (1 << bits) - 1;
    const int first = first_ >> (16 - bits);
    const int second = second_ >> (16 - bits);
    samples.resize(static_cast<std::size_t>(width_));
    switch (content_) {
      case Content::random:
        for (int& sample : samples)
          sample = static_cast<int>(random_.next() & static_cast<std::uint64_t>(largest));
        break;
      case Content::natural:
        natural_row(y, bits, samples);
        break;
      case Content::flat:
        std::fill(samples.begin(), samples.end(), first);
        break;
      case Content::two_valued:
        for (int x = 0; x < width_; ++x)
          samples[x] = lattice(seed_, x / 37, y / 19) % 3 == 0 ? first : second;
        break;
      case Content::spark:
        std::fill(samples.begin(), samples.end(), first);
        if (y == spark_y_)
          samples[spark_x_] = second;
        break;
      case Content::gradient:
        for (int x = 0; x < width_; ++x)
          samples[x] = gradient(x, y, largest);
        break;
      case Content::narrow:
        for (int& sample : samples)
          sample = std::min(largest, first + static_cast<int>(random_.next() % 5));
        break;
      case Content::zeros:
        std::fill(samples.begin(), samples.end(), 0);
        break;
      case Content::maximum:
        std::fill(samples.begin(), samples.end(), largest);
        break;
    }
  }

 private:
  int gradient(int x, int y, int largest) const {
    const std::int64_t along_x = width_ > 1 ? std::int64_t{largest} * x / (width_ - 1) : 0;
    const std::int64_t along_y = height_ > 1 ? std::int64_t{largest} * y / (height_ - 1) : 0;
    return static_cast<int>(direction_ == 0   ? along_x
                            : direction_ == 1 ? along_y
                                              : (along_x + along_y) / 2);
  }

  /// Adds grain to interpolated random lattices of spacings 128, 32 and 8, weighted 5 : 2 : 1.
  void natural_row(int y, int bits, std::vector<int>& samples) {
    std::vector<std::uint32_t> sums(static_cast<std::size_t>(width_), 0);
    for (const int shift : {7, 5, 3}) {
      const int cell_y = y >> shift;
      const auto fy = static_cast<std::uint32_t>(y & ((1 << shift) - 1));
      const auto spacing = 1u << shift;
      std::uint32_t left = 0, right = 0;
      for (int x = 0; x < width_; ++x) {
        const auto fx = static_cast<std::uint32_t>(x) & (spacing - 1);
        if (fx == 0) {
          const int cell_x = x >> shift;
          const auto column = [&](int cx) {
            const std::uint64_t seed = seed_ + static_cast<std::uint64_t>(shift);
            return (lattice(seed, cx, cell_y) * (spacing - fy) +
                    lattice(seed, cx, cell_y + 1) * fy) >>
                   shift;
          };
          left = x == 0 ? column(cell_x) : right;
          right = column(cell_x + 1);
        }
        const std::uint32_t value = (left * (spacing - fx) + right * fx) >> shift;
        sums[x] += value * (shift == 7 ? 5 : shift == 5 ? 2 : 1);
      }
    }
    for (int x = 0; x < width_; ++x) {
      const auto grain = static_cast<int>(random_.next() & 0x3ff) - 0x200;
      // The values span less than the full range, so that equalisation has an effect.
      const int value = 0x1800 + static_cast<int>(sums[x] / 8 * 5 / 8);
      samples[x] = std::clamp(value + grain, 0, 0xffff) >> (16 - bits);
    }
  }

  Content content_;
  std::uint64_t seed_;
  Random random_;
  int width_, height_;
  int first_, second_, spark_x_, spark_y_, direction_;
};

void fill_random(View<std::uint8_t> plane, Random& random) {
  for (int y = 0; y < plane.height; ++y) {
    std::uint8_t* row = plane.row(y);
    for (int x = 0; x < plane.width; x += 8) {
      const std::uint64_t bytes = random.next();
      std::memcpy(row + x, &bytes, static_cast<std::size_t>(std::min(8, plane.width - x)));
    }
  }
}

}  // namespace

const char* name(Content content) {
  constexpr const char* names[content_count] = {
      "random", "natural", "flat", "two-valued", "spark", "gradient", "narrow", "zeros", "maximum"};
  return names[static_cast<int>(content)];
}

void paint(const FrameLayout& layout, const Frame& frame, Content content, std::uint64_t seed,
           bool dirty) {
  Random random(seed);
  for (int p = 0; p < layout.plane_count; ++p)
    fill_random(frame.planes[p], random);

  std::vector<int> samples;
  for (int c = 0; c < layout.channel_count; ++c) {
    const Channel& channel = layout.channels[c];
    if (channel.role == Role::chroma || channel.role == Role::alpha)
      continue;
    Painter painter(content, mixed_seed(seed, static_cast<std::uint64_t>(c) + 1), channel.width,
                    channel.height);
    for (int y = 0; y < channel.height; ++y) {
      painter.row(y, layout.bits, samples);
      std::uint8_t* row = frame.planes[channel.plane].row(y);
      for (int x = 0; x < channel.width; ++x) {
        const auto place = channel.offset + static_cast<std::ptrdiff_t>(channel.step) * x;
        const int sample = samples[x];
        if (layout.bits == 8) {
          row[place] = static_cast<std::uint8_t>(sample);
          continue;
        }
        auto word = static_cast<std::uint16_t>(sample << layout.shift);
        if (dirty) {
          word = static_cast<std::uint16_t>(word | (random.next() & ((1u << layout.shift) - 1)));
          if (random.one_in(200))
            word = static_cast<std::uint16_t>(random.next());
        }
        std::memcpy(row + 2 * place, &word, sizeof word);
      }
    }
  }
}

}  // namespace cudavision::test
