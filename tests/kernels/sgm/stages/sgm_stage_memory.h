// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>
#include <vector>

#include "cuda/sgm/backend.h"
#include "tests/kernels/common/device_block.h"
#include "tests/kernels/common/layouts.h"
#include "tests/kernels/pixels/luminance_definition.h"
#include "tests/kernels/sgm/sgm_case.h"
#include "tests/kernels/sgm/stages/sgm_stage_case.h"

/// The memory that stages read and write in tests.
namespace cudavision::test {

inline constexpr std::size_t guard = 256;

template <class To = std::uint64_t, class Number>
std::vector<To> guarded(const std::vector<Number>& numbers, Number poison) {
  std::vector<To> all(numbers.size() + 2 * guard, poison);
  std::copy(numbers.begin(), numbers.end(), all.begin() + guard);
  return all;
}

template <class Number>
Number repeated(std::uint8_t poison) {
  Number number;
  std::memset(&number, poison, sizeof number);
  return number;
}

template <class Number>
class Output {
 public:
  Output(Device& device, std::size_t count, std::uint8_t poison, int offset = 0)
      : Output(device, std::vector<Number>(count, repeated<Number>(poison)), poison, offset) {}
  Output(Device& device, const std::vector<Number>& before, std::uint8_t poison, int offset = 0)
      : offset_(offset), block_(device, moved(guarded<Number>(before, repeated<Number>(poison)))) {}

  Number* data() const { return block_.data() + guard + offset_; }

  std::vector<std::uint64_t> numbers() const {
    const std::vector<Number> values = block_.values();
    return {values.begin() + offset_, values.end()};
  }

 private:
  std::vector<Number> moved(std::vector<Number> numbers) const {
    numbers.insert(numbers.begin(), static_cast<std::size_t>(offset_), numbers[0]);
    return numbers;
  }

  int offset_;
  DeviceBlock<Number> block_;
};

struct MapOutput : Output<std::uint16_t> {
  MapOutput(Device& device, const SgmStageCase& test, std::uint8_t poison)
      : Output(device, test.left.size(), poison, test.map_offset) {}
  MapOutput(Device& device, const SgmStageCase& test, const Map& before, std::uint8_t poison)
      : Output(device, before, poison, test.map_offset) {}
};

template <class Number>
class Input {
 public:
  Input(Device& device, std::vector<Number> values, int offset = 0)
      : offset_(offset), values_(moved(std::move(values))), block_(device, values_) {}

  const Number* data() const { return block_.data() + offset_; }
  void expect_unchanged() const {
    if (block_.values() != values_)
      throw std::runtime_error("a stage wrote to an input");
  }

 private:
  std::vector<Number> moved(std::vector<Number> values) const {
    values.insert(values.begin(), static_cast<std::size_t>(offset_), Number{0});
    return values;
  }

  int offset_;
  std::vector<Number> values_;
  DeviceBlock<Number> block_;
};

struct MapInput : Input<std::uint16_t> {
  MapInput(Device& device, const SgmStageCase& test, const Map& map)
      : Input(device, map, test.map_offset) {}
};

/// work(winners) must write the winners of both images, and the confidence unless it is nullptr.
template <class Work>
void run_winners(Device& device, const SgmStageCase& test, const std::string& stage,
                 bool with_confidence, std::uint8_t poison, SgmStageOutputs& outputs,
                 const Work& work) {
  const auto pixels = static_cast<std::size_t>(test.config.pixels());
  const Output<std::uint16_t> left(device, pixels, poison), right(device, pixels, poison);
  const Output<std::uint8_t> confidence(device, pixels, poison);
  work(sgm::WtaResult{left.data(), right.data(), with_confidence ? confidence.data() : nullptr});
  device.finish();
  outputs.push_back({stage + ", left", left.numbers()});
  outputs.push_back({stage + ", right", right.numbers()});
  outputs.push_back({stage + ", confidence", confidence.numbers()});
}

inline FrameLayout plane_of(const sgm::StageConfig& config, int bits) {
  return gray_layout(config.width, config.height, bits);
}

template <class Number>
std::vector<std::uint8_t> placed(const sgm::StageConfig& config, const Placement& placement,
                                 const std::vector<Number>& numbers, std::uint8_t poison) {
  std::vector<std::uint8_t> block(placement.bytes, poison);
  put_rows(numbers,
           frame_in(plane_of(config, 8 * static_cast<int>(sizeof(Number))), placement, block.data())
               .planes[0]);
  return block;
}

inline SamplePlane plane_in(const SgmStageCase& test, const Input<std::uint8_t>& block) {
  SamplePlane plane;
  plane.rows = frame_in(test.layout, test.placement, block.data()).planes[0];
  plane.width = test.layout.width;
  plane.bits = test.layout.bits;
  plane.shift = test.layout.shift;
  return plane;
}

inline std::vector<std::uint64_t> widened(const std::vector<std::uint8_t>& block) {
  return {block.begin(), block.end()};
}

inline Luminances luminances_in(const SgmStageCase& test, const std::vector<std::uint8_t>& block) {
  return DefinedLuminance(test.layout, frame_in(test.layout, test.placement, block.data())).values;
}

}  // namespace cudavision::test
