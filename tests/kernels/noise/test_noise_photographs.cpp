// SPDX-License-Identifier: LGPL-2.1-or-later
// Denoises photographs with added noise, with the automatic strength and with fixed strengths.
// Reads gray PNG files from the folder in CUDAVISION_PHOTOGRAPHS, and needs a GPU.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>

#include "cuda/nlmeans/nlmeans.h"
#include "cuda/noise/noise.h"
#include "tests/kernels/common/device_block.h"
#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/common/layouts.h"
#include "tests/kernels/common/pictures/png.h"
#include "tests/kernels/common/placement.h"

namespace cudavision::test {
namespace {

using Levels = std::vector<std::uint8_t>;

/// Noise with a variance of slope·level + offset. If `demosaiced`, the image is then demosaiced.
struct AddedNoise {
  const char* name;
  double slope, offset;
  bool demosaiced = false;
};
constexpr AddedNoise added_noise[] = {
    {"5 levels", 0, 25},           {"10 levels", 0, 100},
    {"20 levels", 0, 400},         {"30 levels", 0, 900},
    {"by level, weak", .25, 2},    {"by level", .8, 8},
    {"by level, strong", 2.5, 25}, {"demosaiced, weak", .25, 2, true},
    {"demosaiced", .8, 8, true},   {"demosaiced, strong", 2.5, 25, true}};

struct Photograph {
  std::string name;
  int width = 0, height = 0;
  Levels levels;
};

std::vector<Photograph> photographs() {
  std::vector<Photograph> all;
  const char* const folder = std::getenv("CUDAVISION_PHOTOGRAPHS");
  if (!folder)
    return all;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    const GrayPicture picture = read_png(file.path().string());
    all.push_back({file.path().stem().string(), picture.width, picture.height, picture.samples()});
  }
  return all;
}

std::uint8_t level_of(double value) {
  return static_cast<std::uint8_t>(std::clamp(std::lround(value), 0l, 255l));
}

/// Simulates a camera with a Bayer mosaic: each pixel measures red, green or blue of the gray
/// image, and interpolates the other two from its neighbours. Returns the luminance.
Levels demosaiced(const Levels& levels, int width, int height) {
  const auto color = [](int x, int y) { return x % 2 + y % 2; };  // 0: red, 1: green, 2: blue
  Levels result;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      double sum[3] = {}, weights[3] = {};
      for (int j = std::max(0, y - 1); j <= std::min(height - 1, y + 1); ++j)
        for (int i = std::max(0, x - 1); i <= std::min(width - 1, x + 1); ++i) {
          const bool own = i == x && j == y;
          if (!own && color(i, j) == color(x, y))
            continue;
          sum[color(i, j)] += levels[static_cast<std::size_t>(j) * width + i];
          ++weights[color(i, j)];
        }
      double luminance = 0;
      constexpr double shares[3] = {.299, .587, .114};
      for (int c = 0; c < 3; ++c)
        luminance += shares[c] * sum[c] / std::max(1.0, weights[c]);
      result.push_back(level_of(luminance));
    }
  return result;
}

Levels noisy(const Levels& levels, const AddedNoise& noise) {
  std::mt19937 generator(1234);
  std::normal_distribution<double> normal;
  Levels result;
  for (const std::uint8_t level : levels)
    result.push_back(
        level_of(level + std::sqrt(noise.slope * level + noise.offset) * normal(generator)));
  return result;
}

double rms(const Levels& a, const Levels& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum / static_cast<double>(a.size()));
}

double psnr(const Levels& a, const Levels& b) {
  return 20 * std::log10(255 / std::max(rms(a, b), 1e-3));
}

/// Structural similarity (Wang et al., 2004) of 8×8 windows, one at every fourth column and row.
double ssim(const Photograph& shape, const Levels& a, const Levels& b) {
  double total = 0;
  int windows = 0;
  for (int top = 0; top + 8 <= shape.height; top += 4)
    for (int left = 0; left + 8 <= shape.width; left += 4) {
      double sa = 0, sb = 0, saa = 0, sbb = 0, sab = 0;
      for (int y = top; y < top + 8; ++y)
        for (int x = left; x < left + 8; ++x) {
          const std::size_t at = static_cast<std::size_t>(y) * shape.width + x;
          const double p = a[at], q = b[at];
          sa += p, sb += q, saa += p * p, sbb += q * q, sab += p * q;
        }
      constexpr double n = 64, c1 = 6.5025, c2 = 58.5225;
      const double ma = sa / n, mb = sb / n, va = saa / n - ma * ma, vb = sbb / n - mb * mb;
      total += (2 * ma * mb + c1) * (2 * (sab / n - ma * mb) + c2) /
               ((ma * ma + mb * mb + c1) * (va + vb + c2));
      ++windows;
    }
  return total / std::max(1, windows);
}

class Denoised {
 public:
  Denoised(Device& device, const Photograph& photograph, const Levels& noisy)
      : device_(device),
        layout_(gray_layout(photograph.width, photograph.height)),
        in_(device, noisy),
        out_(device, noisy),
        estimate_(device, layout_),
        denoising_(device, layout_, {}) {
    estimate_.run(frame(in_.data()));
  }

  Levels by(double strength) {
    denoising_.set_parameters({21, 7, strength});
    denoising_.run(frame(in_.data()), frame(out_.data()), nullptr, estimate_.states());
    return out_.values();
  }
  double deviation() {
    return std::sqrt(downloaded(device_, estimate_.states(), 1)[0].measured) /
           noise::Level::per_level;
  }

 private:
  Frame frame(std::uint8_t* samples) const {
    return frame_in(layout_, dense_placement(layout_), samples);
  }

  Device& device_;
  FrameLayout layout_;
  DeviceBlock<std::uint8_t> in_, out_;
  noise::Estimate estimate_;
  nlmeans::NlMeans denoising_;
};

double mean_loss(Device& device, const std::vector<Photograph>& all, const AddedNoise& noise) {
  double before = 0, best_sum = 0, automatic = 0, worst = 0, similar_before = 0, similar_best = 0,
         similar = 0, ratio = 0;
  int near = 0;
  std::string worst_name;
  for (const Photograph& photograph : all) {
    const auto developed = [&](const Levels& levels) {
      return noise.demosaiced ? demosaiced(levels, photograph.width, photograph.height) : levels;
    };
    const Levels clean = developed(photograph.levels);
    const Levels with_noise = developed(noisy(photograph.levels, noise));
    const double deviation = rms(clean, with_noise);
    Denoised denoised(device, photograph, with_noise);
    double best = 0, best_similarity = 0;
    for (int i = -4; i <= 5; ++i) {
      const Levels result = denoised.by(deviation * std::exp2(i / 4.0));
      if (const double quality = psnr(clean, result); quality > best) {
        best = quality;
        best_similarity = ssim(photograph, clean, result);
      }
    }
    const Levels result = denoised.by(nlmeans::Parameters::automatic_strength);
    const double quality = psnr(clean, result);
    before += psnr(clean, with_noise);
    best_sum += best;
    automatic += quality;
    similar_before += ssim(photograph, clean, with_noise);
    similar_best += best_similarity;
    similar += ssim(photograph, clean, result);
    ratio += denoised.deviation() / deviation;
    near += std::abs(denoised.deviation() / deviation - 1) <= 0.1;
    if (best - quality > worst) {
      worst = best - quality;
      worst_name = photograph.name;
    }
  }
  const double n = static_cast<double>(all.size());
  std::printf(
      "%-18s PSNR %.2f, best %.2f, automatic %.2f, worst loss %.2f (%s); SSIM %.3f, %.3f, %.3f; "
      "estimate %.3f of the noise, within 10 %% for %d of %zu\n",
      noise.name, before / n, best_sum / n, automatic / n, worst, worst_name.c_str(),
      similar_before / n, similar_best / n, similar / n, ratio / n, near, all.size());
  return (best_sum - automatic) / n;
}

TEST(NoisyPhotographs, AutomaticStrengthIsNearTheBest) {
  const std::vector<Photograph> all = photographs();
  if (all.empty())
    GTEST_SKIP() << "no photographs: set CUDAVISION_PHOTOGRAPHS to a folder of gray PNG files";
  CUDAVISION_NEEDS_CUDA();
  CudaTestDevice device;
  for (const AddedNoise& noise : added_noise)
    EXPECT_LT(mean_loss(*device, all, noise), noise.demosaiced ? 0.6 : 0.4) << noise.name;
}

}  // namespace
}  // namespace cudavision::test
