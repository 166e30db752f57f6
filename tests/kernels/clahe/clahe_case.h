// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cuda/clahe/clahe.h"
#include "tests/kernels/clahe/clahe_definition.h"
#include "tests/kernels/common/frame_case.h"
#include "tests/kernels/histogramaverage/smoothed_sequence.h"

namespace cudavision::test {

struct ClaheCase : FilterCase<ClaheCase, clahe::Clahe, clahe::Parameters> {
  ClaheCase() { every_channel = false; }

  using DefinedSmoothing = DefinedSmoothedClahe;

  Operation make(Device& device, const Parameters& set) const {
    return {device, layout, tiles, set, smoothing ? clahe::Averages::kept : clahe::Averages::none};
  }
  void enqueue(Operation& operation, const ConstFrame& from, const Frame& to) const;
  void define(const ConstFrame& from, const Frame& to) const;
  Parameters other_parameters() const;

  clahe::Tiles tiles;
  std::optional<histogramaverage::Parameters> smoothing{};
  bool restart = false;  ///< begin a new average before the frame
};

using ClaheRunner = Runner<ClaheCase>;

/// Draws a grid of tiles. Deep samples get few tiles, because each tile has a large table.
clahe::Tiles random_tiles(Random& random, int bits);

/// Draws a clip limit, at times not positive (unlimited), too large to clip any bin, or below 1.
double random_clip_limit(Random& random);

ClaheCase make_clahe_case(std::uint64_t seed, int number, int max_pixels);

ClaheCase plain_clahe_case(const FrameLayout& layout, const clahe::Tiles& tiles, double clip_limit,
                           Content content, std::uint64_t seed);

SmoothedSequence<ClaheCase> make_smoothed_clahe_sequence(std::uint64_t seed, int number,
                                                         int max_pixels);

std::string parameters_text(const ClaheCase& test);
std::string describe(const ClaheCase& test);

std::vector<std::uint8_t> defined_output(const ClaheCase& test,
                                         const std::vector<std::uint8_t>& input,
                                         std::uint8_t poison, DefinedSmoothedClahe& smoothing);

}  // namespace cudavision::test
