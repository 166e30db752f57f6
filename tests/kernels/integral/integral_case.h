// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cuda/integral/integral.h"
#include "tests/kernels/common/frame_case.h"

namespace cudavision::test {

constexpr integral::TableKind table_kinds[] = {
    integral::TableKind::sum, integral::TableKind::squared_sum, integral::TableKind::tilted_sum};
constexpr integral::TableElement table_elements[] = {
    integral::TableElement::uint32, integral::TableElement::uint64, integral::TableElement::float32,
    integral::TableElement::float64};

class IntegralFrames;

/// One table in out_layout's only plane, and in some cases the picture that shows the table.
struct IntegralCase : FrameCase {
  using Parameters = integral::Parameters;
  struct Operation {
    Operation(Device& device, const IntegralCase& test, const Parameters& set);
    integral::Integral integral;
    std::optional<integral::IntegralPicture> picture;
  };
  using Frames = IntegralFrames;

  Parameters parameters;
  int picture_bits = 0;  ///< bits per sample of the table's picture; 0: no picture
  FrameLayout picture_layout;
  Placement picture;

  Operation make(Device& device, const Parameters& set) const { return {device, *this, set}; }
  void define(const ConstFrame& from, const Frame& to) const;
  Parameters other_parameters() const { return parameters; }
};

IntegralCase make_integral_case(std::uint64_t seed, int number, int max_pixels);

IntegralCase plain_integral_case(const FrameLayout& layout, const integral::Parameters& parameters,
                                 Content content, std::uint64_t seed, int picture_bits = 0);

std::string describe(const integral::Parameters& parameters);
std::string describe(const IntegralCase& test);

struct IntegralBlocks {
  std::vector<std::uint8_t> table;
  std::vector<std::uint8_t> picture;  ///< empty without a picture
};

IntegralBlocks defined_output(const IntegralCase& test, const std::vector<std::uint8_t>& input,
                              std::uint8_t poison);

std::string difference(const IntegralCase& test, const IntegralBlocks& expected,
                       const IntegralBlocks& actual);

std::string hash(const IntegralCase& test, const IntegralBlocks& blocks);

class IntegralFrames : public CaseFrames<IntegralCase> {
 public:
  IntegralFrames(Device& device, const IntegralCase& one, const std::vector<std::uint8_t>& input,
                 std::uint8_t poison = out_poison);
  IntegralFrames(Device& device, const IntegralCase& one)
      : IntegralFrames(device, one, input_block(one)) {}

  void run(IntegralCase::Operation& operation) const;

  IntegralBlocks output() const;

 private:
  DeviceBlock<std::uint8_t> picture_block_;

 public:
  View<std::uint8_t> picture;
};

using IntegralRunner = Runner<IntegralCase>;

}  // namespace cudavision::test
