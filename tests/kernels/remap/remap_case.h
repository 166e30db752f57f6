// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cuda/remap/remap.h"
#include "tests/kernels/common/frame_case.h"

namespace cudavision::test {

/// The kinds of maps that tests draw. The seed determines the numbers.
enum class MapKind {
  identity,   ///< each output pixel shows the pixel at its own place
  moved,      ///< the picture moved by a vector
  turned,     ///< turned and scaled
  lens,       ///< a radial distortion, slightly moved, as in rectification
  scattered,  ///< places anywhere in the picture and just beyond its edges
  edges,      ///< places within two pixels of the edges and corners
  anywhere,   ///< any numbers that the matrices can hold
};
constexpr int map_kind_count = 7;

const char* name(MapKind kind);

struct MapParameters {
  MapKind kind = MapKind::identity;
  std::uint64_t seed = 0;
  int width = 0, height = 0;  ///< of the output; 0: as large as the picture
};

struct HostMap {
  HostMap(const MapParameters& parameters, int picture_width, int picture_height);

  remap::Map view() const;

  int width, height;
  std::vector<std::int16_t> places;
  std::vector<std::uint16_t> fractions;
};

class FrameRemap {
 public:
  FrameRemap(Device& device, const FrameLayout& layout, const MapParameters& parameters);

  void run(const ConstFrame& in, const Frame& out);

 private:
  Device& device_;
  Luminance luminance_;
  remap::Remap remap_;
};

/// The output is the only plane of out_layout.
struct RemapCase : FilterCase<RemapCase, FrameRemap, MapParameters> {
  RemapCase() { every_channel = false; }

  HostMap map() const { return {parameters, layout.width, layout.height}; }
  void define(const ConstFrame& from, const Frame& to) const;
  Parameters other_parameters() const { return parameters; }
};

using RemapRunner = Runner<RemapCase>;

RemapCase make_remap_case(std::uint64_t seed, int number, int max_pixels);

template <>
RemapCase plain_case<RemapCase>(const FrameLayout& layout, const MapParameters& parameters,
                                Content content, std::uint64_t seed);

constexpr auto plain_remap_case = plain_case<RemapCase>;

std::string describe(const RemapCase& test);

}  // namespace cudavision::test
