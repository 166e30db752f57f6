// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cuda/remap/remap.h"
#include "tests/kernels/common/frame_case.h"

namespace cudavision::test {

/// The kinds of maps. A map is determined by its kind, its size, the input's size and a seed.
enum class MapKind {
  identity,   ///< each output pixel shows the pixel at its own position
  moved,      ///< the whole image is shifted by a vector
  linear,     ///< a random linear transformation, such as rotation and scaling
  lens,       ///< a radial distortion with a small shift, as in rectification
  scattered,  ///< random positions in the image and just outside its edges
  edges,      ///< random positions within two pixels of the corners
  anywhere,   ///< random positions in the whole range of the map's format
};
constexpr int map_kind_count = 7;

const char* name(MapKind kind);

struct MapParameters {
  MapKind kind = MapKind::identity;
  std::uint64_t seed = 0;
  int width = 0, height = 0;  ///< size of the output; 0: the input's size
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
