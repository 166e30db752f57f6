// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string>

#include "cuda/remap/pictureremap.h"
#include "tests/kernels/remap/remap_case.h"

namespace cudavision::test {

struct PictureMapParameters {
  MapKind kind = MapKind::identity;
  std::uint64_t seed = 0;
  int black = 0;
};

/// The maps of a layout: `full`, and `reduced` for subsampled channels.
struct HostPictureMaps {
  HostPictureMaps(const FrameLayout& layout, const PictureMapParameters& parameters);

  remap::PictureMaps view() const;
  const HostMap& of(const FrameLayout& layout, const Channel& channel) const;

  HostMap full, reduced;
  bool has_reduced;
};

class RemappedPicture {
 public:
  RemappedPicture(Device& device, const FrameLayout& layout, const PictureMapParameters& parameters)
      : remap_(device, layout, HostPictureMaps(layout, parameters).view(), parameters.black) {}

  void run(const ConstFrame& in, const Frame& out) { remap_.run(in, out); }

 private:
  remap::PictureRemap remap_;
};

struct PictureRemapCase : FilterCase<PictureRemapCase, RemappedPicture, PictureMapParameters> {
  void define(const ConstFrame& from, const Frame& to) const;
  Parameters other_parameters() const { return parameters; }
};

PictureRemapCase make_picture_remap_case(std::uint64_t seed, int number, int max_pixels);

std::string describe(const PictureRemapCase& test);

}  // namespace cudavision::test
