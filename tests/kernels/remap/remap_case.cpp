// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/remap/remap_case.h"

#include <algorithm>

#include "tests/kernels/remap/remap_definition.h"

namespace cudavision::test {
namespace {

struct MapPlace {
  std::int64_t x, y;
};

/// Computes a map's source positions in integers, so that they are the same on every machine.
class PlaceMaker {
 public:
  PlaceMaker(const HostMap& map, const MapParameters& parameters, int picture_width,
             int picture_height)
      : kind_(parameters.kind),
        random_(parameters.seed),
        picture_width_(picture_width),
        picture_height_(picture_height),
        width_(map.width),
        height_(map.height) {
    for (int& coefficient : linear_)
      coefficient = random_.between(-100000, 100000);
    move_ = {random_.between(-16 * picture_width, 16 * picture_width),
             random_.between(-16 * picture_height, 16 * picture_height)};
    distortion_ = random_.between(-300, 300);
  }

  MapPlace at(int x, int y) {
    switch (kind_) {
      case MapKind::identity:
        return {std::int64_t{32} * x, std::int64_t{32} * y};
      case MapKind::moved:
        return {std::int64_t{32} * x + move_.x, std::int64_t{32} * y + move_.y};
      case MapKind::linear:
        return linear(x, y);
      case MapKind::lens:
        return lens(x, y);
      case MapKind::scattered:
        return {random_.between(-40, 32 * picture_width_ + 40),
                random_.between(-40, 32 * picture_height_ + 40)};
      case MapKind::edges:
        return {near_edge(picture_width_), near_edge(picture_height_)};
      case MapKind::anywhere:
        break;
    }
    return {random_.between(-(1 << 20), (1 << 20) - 1), random_.between(-(1 << 20), (1 << 20) - 1)};
  }

 private:
  /// Applies a linear transformation about the centre, with coefficients in units of 1/65536.
  MapPlace linear(int x, int y) const {
    const std::int64_t u = x - width_ / 2, v = y - height_ / 2;
    return {16 * std::int64_t{picture_width_} + (linear_[0] * u + linear_[1] * v) / 2048,
            16 * std::int64_t{picture_height_} + (linear_[2] * u + linear_[3] * v) / 2048};
  }

  /// Scales radii r from the centre by 1 + distortion/1024 · (r / R)²; R is the corners' radius.
  MapPlace lens(int x, int y) const {
    const std::int64_t u = 2 * x - width_, v = 2 * y - height_;
    const std::int64_t diagonal = std::int64_t{width_} * width_ + std::int64_t{height_} * height_;
    const std::int64_t square = (u * u + v * v) * (1 << 20) / diagonal;
    const std::int64_t factor = (1 << 20) + distortion_ * square / 1024;
    const auto place = [&](std::int64_t from_centre, int size, int picture, std::int64_t move) {
      return 16 * std::int64_t{picture} + from_centre * 16 * picture * factor / size / (1 << 20) +
             move / 16;
    };
    return {place(u, width_, picture_width_, move_.x), place(v, height_, picture_height_, move_.y)};
  }

  int near_edge(int size) {
    const int edge = random_.one_in(2) ? 0 : 32 * (size - 1);
    return edge + (random_.one_in(3) ? 32 * random_.between(-2, 2) : random_.between(-64, 64));
  }

  MapKind kind_;
  Random random_;
  int picture_width_, picture_height_;
  int width_, height_;
  int linear_[4];
  MapPlace move_;
  int distortion_;
};

std::int16_t saturated(std::int64_t value) {
  return static_cast<std::int16_t>(std::clamp<std::int64_t>(value, -32768, 32767));
}

}  // namespace

const char* name(MapKind kind) {
  constexpr const char* names[map_kind_count] = {"identity",  "moved", "linear",  "lens",
                                                 "scattered", "edges", "anywhere"};
  return names[static_cast<int>(kind)];
}

HostMap::HostMap(const MapParameters& parameters, int picture_width, int picture_height)
    : width(parameters.width > 0 ? parameters.width : picture_width),
      height(parameters.height > 0 ? parameters.height : picture_height) {
  const std::size_t pixels = static_cast<std::size_t>(width) * height;
  places.reserve(2 * pixels);
  fractions.reserve(pixels);
  PlaceMaker maker(*this, parameters, picture_width, picture_height);
  Random unused(parameters.seed + 1);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const MapPlace place = maker.at(x, y);
      places.push_back(saturated(place.x >> 5));
      places.push_back(saturated(place.y >> 5));
      // Unused bits of fractions may have any value.
      fractions.push_back(static_cast<std::uint16_t>((place.x & 31) | (place.y & 31) << 5 |
                                                     (unused.next() & 63) << 10));
    }
}

remap::Map HostMap::view() const {
  return {{places.data(), 2 * width, height, std::ptrdiff_t{4} * width},
          {fractions.data(), width, height, std::ptrdiff_t{2} * width}};
}

FrameRemap::FrameRemap(Device& device, const FrameLayout& layout, const MapParameters& parameters)
    : device_(device),
      luminance_(device, layout, "remap"),
      remap_(device, {layout.width, layout.height, layout.bits},
             HostMap(parameters, layout.width, layout.height).view()) {}

void FrameRemap::run(const ConstFrame& in, const Frame& out) {
  device_.copy(remap_.run(luminance_.of(in)).rows, out.planes[0]);
}

void RemapCase::define(const ConstFrame& from, const Frame& to) const {
  const HostMap host = map();
  defined_remap(layout, host.view(), from, to.planes[0]);
}

RemapCase make_remap_case(std::uint64_t seed, int number, int max_pixels) {
  Random random = random_of_case(seed, number);
  auto test = random_frame_case<RemapCase>(number, max_pixels, random, 32767);
  test.parameters.kind = static_cast<MapKind>(random.between(0, map_kind_count - 1));
  test.parameters.seed = random.next();
  test.parameters.width = test.layout.width;
  test.parameters.height = test.layout.height;
  if (random.one_in(2))
    std::tie(test.parameters.width, test.parameters.height) =
        random_picture_size(random, max_pixels);
  test.out_layout = gray_layout(test.parameters.width, test.parameters.height, test.layout.bits);
  draw_placements(test, random);
  draw_content(test, random);
  return test;
}

template <>
RemapCase plain_case(const FrameLayout& layout, const MapParameters& parameters, Content content,
                     std::uint64_t seed) {
  RemapCase test;
  test.parameters = parameters;
  make_dense(test, layout,
             gray_layout(parameters.width > 0 ? parameters.width : layout.width,
                         parameters.height > 0 ? parameters.height : layout.height, layout.bits),
             content, seed);
  return test;
}

std::string describe(const RemapCase& test) {
  return describe(test, std::string("map ") + name(test.parameters.kind) + " with seed " +
                            std::to_string(test.parameters.seed) + " of " +
                            std::to_string(test.out_layout.width) + "×" +
                            std::to_string(test.out_layout.height));
}

}  // namespace cudavision::test
