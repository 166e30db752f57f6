// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cuda/histequalize/histequalize.h"
#include "tests/kernels/common/frame_case.h"
#include "tests/kernels/histequalize/histequalize_definition.h"
#include "tests/kernels/histogramaverage/smoothed_sequence.h"

namespace cudavision::test {

class HistEqualizeFrames;

void set_full_range(const FrameLayout& layout, histequalize::Parameters& parameters);

/// Draws blend and, except for RGB, range. One in `rarity` RGB cases equalises channels separately.
void draw_parameters(const FrameLayout& layout, int rarity, Random& random,
                     histequalize::Parameters& parameters);

histequalize::Parameters other_than(const FrameLayout& layout,
                                    const histequalize::Parameters& parameters);

std::string describe(const histequalize::Parameters& parameters);

struct HistEqualizeCase : FrameCase {
  using Parameters = histequalize::Parameters;
  struct Operation {
    histequalize::HistogramEqualize equalize;
    histequalize::Histogram count;

    void set_parameters(const Parameters& set) { equalize.set_parameters(set); }
    const histogramaverage::Status* status() const { return equalize.status(); }
  };
  using Frames = HistEqualizeFrames;
  using DefinedSmoothing = DefinedSmoothedEqualize;

  Parameters parameters;
  bool histogram = true;    ///< HistogramEqualize stores the histogram
  int histogram_start = 0;  ///< offset of the histogram in its block, in counters
  std::optional<histogramaverage::Parameters> smoothing{};
  bool restart = false;  ///< begin a new average before the frame

  Operation make(Device& device, const Parameters& set) const {
    return {{device, layout, set}, {device, layout}};
  }
  void define(const ConstFrame& from, const Frame& to) const;
  Parameters other_parameters() const { return other_than(layout, parameters); }
};

HistEqualizeCase make_histequalize_case(std::uint64_t seed, int number, int max_pixels);

HistEqualizeCase plain_histequalize_case(const FrameLayout& layout, Content content,
                                         std::uint64_t seed);

SmoothedSequence<HistEqualizeCase> make_smoothed_sequence(std::uint64_t seed, int number,
                                                          int max_pixels);

std::string parameters_text(const HistEqualizeCase& test);
std::string describe(const HistEqualizeCase& test);

struct HistEqualizeBlocks {
  std::vector<std::uint8_t> out;
  std::vector<std::uint32_t> histogram;  ///< from HistogramEqualize
  std::vector<std::uint32_t> bins;       ///< from Histogram
};

HistEqualizeBlocks defined_output(const HistEqualizeCase& test,
                                  const std::vector<std::uint8_t>& input, std::uint8_t poison);
HistEqualizeBlocks defined_output(const HistEqualizeCase& test,
                                  const std::vector<std::uint8_t>& input, std::uint8_t poison,
                                  DefinedSmoothedEqualize& smoothing);

std::string difference(const HistEqualizeCase& test, const HistEqualizeBlocks& expected,
                       const HistEqualizeBlocks& actual);

std::string hash(const HistEqualizeCase& test, const HistEqualizeBlocks& blocks);

class HistEqualizeFrames : public CaseFrames<HistEqualizeCase> {
 public:
  HistEqualizeFrames(Device& device, const HistEqualizeCase& one,
                     const std::vector<std::uint8_t>& input, std::uint8_t poison = out_poison);
  HistEqualizeFrames(Device& device, const HistEqualizeCase& one)
      : HistEqualizeFrames(device, one, input_block(one)) {}

  void run(HistEqualizeCase::Operation& operation) const;

  HistEqualizeBlocks output() const;

 private:
  DeviceBlock<std::uint32_t> histogram_block_, bins_block_;

 public:
  View<std::uint32_t> histogram;  ///< arguments of run(); tests may make them invalid
  View<std::uint32_t> bins;
};

using HistEqualizeRunner = Runner<HistEqualizeCase>;

}  // namespace cudavision::test
