// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/sgmstereo/cameras/turnedcameras.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace check {
namespace {

using Matrix = std::array<double, 9>;

/// Returns the rotation by a vector in radians, by the series of the matrix exponential.
Matrix rotation(double x, double y, double z) {
  const Matrix cross = {0, -z, y, z, 0, -x, -y, x, 0};
  Matrix sum = {1, 0, 0, 0, 1, 0, 0, 0, 1}, power = sum;
  for (int n = 1; n < 20; ++n) {
    Matrix next{};
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j)
        for (std::size_t k = 0; k < 3; ++k)
          next[3 * i + j] += power[3 * i + k] * cross[3 * k + j] / n;
    power = next;
    for (std::size_t i = 0; i < 9; ++i)
      sum[i] += power[i];
  }
  return sum;
}

Matrix rotation(const Turn& turn) {
  constexpr double degree = G_PI / 180;
  return rotation(turn.pitch * degree, turn.yaw * degree, turn.roll * degree);
}

double lattice(int x, int y, unsigned seed) {
  std::uint32_t h = static_cast<std::uint32_t>(x) * 0x9e3779b1u ^
                    static_cast<std::uint32_t>(y) * 0x85ebca77u ^ seed * 0xc2b2ae3du;
  h ^= h >> 15;
  h *= 0x2c1b3c6du;
  h ^= h >> 12;
  h *= 0x297a2d39u;
  h ^= h >> 15;
  return h / 4294967296.0;
}

double noise(double x, double y, double cell, unsigned seed) {
  const double u = x / cell, v = y / cell;
  const int i = static_cast<int>(std::floor(u)), j = static_cast<int>(std::floor(v));
  const auto smooth = [](double t) { return t * t * (3 - 2 * t); };
  const double a = smooth(u - i), b = smooth(v - j);
  return (1 - b) * ((1 - a) * lattice(i, j, seed) + a * lattice(i + 1, j, seed)) +
         b * ((1 - a) * lattice(i, j + 1, seed) + a * lattice(i + 1, j + 1, seed));
}

double texture(double x, double y, unsigned seed) {
  return 30 + 110 * noise(x, y, 3.7, seed) + 90 * noise(x, y, 11.3, seed + 1);
}

constexpr double wall_disparity = 7, wall_slope = 0.015;

struct Disk {
  explicit Disk(int frame)
      : disparity(20 + 3 * std::sin(0.05 * frame)),
        moved_x(60 * std::sin(0.031 * frame)),
        moved_y(30 * std::cos(0.023 * frame)) {}

  bool has(double x, double y) const {
    const double dx = x - 160 - moved_x, dy = y - 120 - moved_y;
    return dx * dx + dy * dy < 55 * 55;
  }
  double level(double x, double y) const { return texture(x - moved_x, y - moved_y, 11); }

  double disparity, moved_x, moved_y;
};

double wall_level(int frame, double x, double y) {
  return texture(x + 1.7 * frame, y + 0.6 * frame, 21);
}

template <class Level>
Picture exposed(const char* format, unsigned seed, const Level& level) {
  const FormatSpec& spec = format_named(format);
  return picture_with(spec, MovingScene::width, MovingScene::height, [&](int, int x, int y) {
    const double grain = 3 * (lattice(x, y, seed) + lattice(x, y, seed + 1) - 1);
    const double value = std::min(std::max(level(x, y) + grain, 0.0), 255.0);
    return static_cast<int>(std::lround(value / 255 * spec.peak()));
  });
}

/// The cubic convolution of Keys (1981), which blurs a photograph less than linear interpolation.
double cubic(double t) {
  t = std::abs(t);
  if (t < 1)
    return (1.5 * t - 2.5) * t * t + 1;
  return t < 2 ? ((-0.5 * t + 2.5) * t - 4) * t + 2 : 0;
}

}  // namespace

TurnedCamera::TurnedCamera(const Turn& turn, int width, int height, double focal_length)
    : rotation_(rotation(turn)),
      zoom_(turn.zoom),
      width_(width),
      height_(height),
      focal_length_(focal_length) {}

std::array<double, 2> TurnedCamera::turned(double x, double y) const {
  const double center_x = (width_ - 1) / 2.0, center_y = (height_ - 1) / 2.0;
  const double u = (x - center_x) / focal_length_, v = (y - center_y) / focal_length_;
  const Matrix& r = rotation_;
  const double z = r[6] * u + r[7] * v + r[8], f = focal_length_ * zoom_;
  return {f * (r[0] * u + r[1] * v + r[2]) / z + center_x,
          f * (r[3] * u + r[4] * v + r[5]) / z + center_y};
}

std::array<double, 2> TurnedCamera::upright(double x, double y) const {
  const double center_x = (width_ - 1) / 2.0, center_y = (height_ - 1) / 2.0;
  const double f = focal_length_ * zoom_;
  const double u = (x - center_x) / f, v = (y - center_y) / f;
  const Matrix& r = rotation_;
  const double z = r[2] * u + r[5] * v + r[8];
  return {focal_length_ * (r[0] * u + r[3] * v + r[6]) / z + center_x,
          focal_length_ * (r[1] * u + r[4] * v + r[7]) / z + center_y};
}

bool TurnedCamera::sees(double x, double y) const {
  const auto [u, v] = turned(x, y);
  return u >= 0 && u <= width_ - 1 && v >= 0 && v <= height_ - 1;
}

std::function<double(double, double)> MovingScene::disparities(int frame) const {
  return [disk = Disk(frame)](double x, double y) {
    return disk.has(x, y) ? disk.disparity : wall_disparity + wall_slope * x;
  };
}

Picture MovingScene::left(int frame, const char* format) const {
  const Disk disk(frame);
  return exposed(format, 1000u + static_cast<unsigned>(frame), [&](int x, int y) {
    return disk.has(x, y) ? disk.level(x, y) : wall_level(frame, x, y);
  });
}

Picture MovingScene::right(int frame, const Turn& turn, const char* format) const {
  const TurnedCamera seen = camera(turn);
  const Disk disk(frame);
  return exposed(format, 5000u + static_cast<unsigned>(frame), [&](int u, int v) {
    const auto [x, y] = seen.upright(u, v);
    if (disk.has(x + disk.disparity, y))
      return disk.level(x + disk.disparity, y);
    // The disk hides the wall from the left camera, but the wall continues behind the disk.
    const double of_wall = (x + wall_disparity) / (1 - wall_slope);
    return wall_level(frame, of_wall, y);
  });
}

Picture turned_photograph(const Picture& upright, const TurnedCamera& camera) {
  return picture_with(*upright.format, upright.width, upright.height, [&](int place, int u, int v) {
    const auto [x, y] = camera.upright(u, v);
    const int left = static_cast<int>(std::floor(x)), top = static_cast<int>(std::floor(y));
    double sum = 0;
    for (int j = top - 1; j <= top + 2; ++j)
      for (int i = left - 1; i <= left + 2; ++i)
        sum += cubic(x - i) * cubic(y - j) *
               upright.sample(place, std::clamp(i, 0, upright.width - 1),
                              std::clamp(j, 0, upright.height - 1));
    return std::clamp(static_cast<int>(std::lround(sum)), 0, upright.format->peak());
  });
}

}  // namespace check
