// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Compares stages on the CUDA device with the CPU device where the tiles, vectors and segments of
// the kernels end: at widths around these, at any alignment of maps and pictures, with regions that
// cross tiles in many ways, and with few and many different numbers, close together and far apart.

#include <algorithm>

#include "tests/kernels/common/cuda_testing.h"
#include "tests/kernels/common/device_block.h"
#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/common/random.h"
#include "tests/kernels/sgm/sgm_case.h"
#include "tests/kernels/sgm/sgm_definition.h"
#include "tests/kernels/sgm/speckle_maps.h"

namespace cudavision::test {
namespace {

using namespace sgm;

/// Pictures and maps for a config. offset is that of the rows from an aligned address: in bytes for
/// pictures, in numbers for maps.
struct TileCase {
  StageConfig config;
  int shift = 0, offset = 0, padding = 0;
  std::vector<std::uint8_t> left, right;
  Map left_map, right_map;

  int sample_bytes() const { return config.bits > 8 ? 2 : 1; }
  std::ptrdiff_t pitch() const { return config.width * sample_bytes() + padding; }
};

TileCase tile_case(Random& random, int width, int height, int bits, int offset, int padding) {
  TileCase test;
  test.config.width = width;
  test.config.height = height;
  test.config.bits = bits;
  test.config.disparities = 32 * random.between(1, 6);
  test.config.minimum = random.one_in(2) ? 0 : random.between(-40, 40);
  test.offset = offset;
  test.padding = padding;
  const auto bytes = static_cast<std::size_t>(test.pitch() * height + offset);
  const int contrast = random.one_in(2) ? 255 : 40;
  for (std::vector<std::uint8_t>* picture : {&test.left, &test.right})
    for (std::size_t i = 0; i < bytes; ++i)
      picture->push_back(static_cast<std::uint8_t>(random.between(0, contrast)));
  const int top = 16 * (test.config.disparities - 1), range = random.one_in(2) ? top : 40;
  const int base = random.between(0, top - std::min(top, range));
  for (std::int64_t i = 0; i < test.config.pixels() + offset; ++i) {
    const int number = std::min(top, base + random.between(0, range));
    test.left_map.push_back(random.one_in(5) ? unknown : static_cast<std::uint16_t>(number));
    test.right_map.push_back(random.one_in(5) ? unknown : static_cast<std::uint16_t>(number / 16));
  }
  return test;
}

struct TileOutput {
  const char* stage;
  std::vector<std::uint16_t> numbers;
};

/// Runs the stages whose kernels divide pictures and maps into tiles, vectors or segments.
std::vector<TileOutput> run_tiles(Device& device, const TileCase& test) {
  const StageConfig& config = test.config;
  const auto stages = make_stages(device, config);
  const DeviceBlock<std::uint8_t> left_block(device, test.left), right_block(device, test.right);
  const auto plane = [&](const DeviceBlock<std::uint8_t>& block) {
    return SamplePlane{{block.data() + test.offset, config.width * test.sample_bytes(),
                        config.height, test.pitch()},
                       config.width,
                       config.bits,
                       test.shift};
  };
  const SamplePlane left = plane(left_block), right = plane(right_block);
  std::vector<TileOutput> outputs;
  const auto map_of = [&](const DeviceBlock<std::uint16_t>& block) {
    return block.data() + test.offset;
  };
  const Map poison(test.left_map.size(), 0xcdcd);
  /// Runs a stage that makes a map. Work gets the maps, the output and memory for two more maps.
  const auto add = [&](const char* stage, const auto& work) {
    const DeviceBlock<std::uint16_t> left_map(device, test.left_map);
    const DeviceBlock<std::uint16_t> right_map(device, test.right_map);
    const DeviceBlock<std::uint16_t> out(device, poison), one(device, poison),
        other(device, poison);
    work(map_of(left_map), map_of(right_map), map_of(out), map_of(one), map_of(other));
    outputs.push_back({stage, out.values()});
  };
  using Numbers = std::uint16_t*;
  add("median", [&](Numbers map, Numbers, Numbers out, Numbers, Numbers) {
    stages->run(sgm::Median{map, out});
  });
  add("median_and_check", [&](Numbers map, Numbers right_map, Numbers out, Numbers one, Numbers) {
    const sgm::Stage list[] = {sgm::Median{right_map, one}, sgm::Median{map, out},
                               sgm::Check{left, one, true, 1, out}};
    stages->run(list);
  });
  add("median_check_and_write",
      [&](Numbers map, Numbers right_map, Numbers out, Numbers one, Numbers other) {
        const View<std::uint8_t> disparity{reinterpret_cast<std::uint8_t*>(out), 2 * config.width,
                                           config.height, 2 * std::ptrdiff_t{config.width}};
        const sgm::Stage list[] = {sgm::Median{right_map, other}, sgm::Median{map, one},
                                   sgm::Check{left, other, true, 1, one},
                                   sgm::Write{one, {16, 7}, disparity}};
        stages->run(list);
      });
  add("median_refine_and_check", [&](Numbers map, Numbers right_map, Numbers out, Numbers one,
                                     Numbers) {
    const sgm::Stage list[] = {sgm::Median{right_map, one}, sgm::Refine{right, one, right_map},
                               sgm::Median{map, out}, sgm::Check{left, right_map, true, 1, out}};
    stages->run(list);
  });
  add("refine", [&](Numbers map, Numbers, Numbers out, Numbers, Numbers) {
    stages->run(sgm::Refine{left, map, out});
  });
  add("refine_filled", [&](Numbers map, Numbers, Numbers out, Numbers one, Numbers) {
    stages->run(sgm::FillSlopes{map, one, nullptr});
    stages->run(sgm::RefineFilled{left, map, one, out});
  });
  add("sharpen", [&](Numbers map, Numbers, Numbers out, Numbers, Numbers) {
    stages->run(sgm::Sharpen{left, right, map, out});
  });
  std::vector<std::uint8_t> confidences;
  for (std::int64_t i = 0; i < config.pixels(); ++i)
    confidences.push_back(test.left[static_cast<std::size_t>(i) % test.left.size()]);
  const DeviceBlock<std::uint8_t> confidence(device, confidences);
  add("smooth", [&](Numbers map, Numbers, Numbers out, Numbers one, Numbers) {
    stages->run(sgm::Smooth{left, confidence.data(), map, out, one});
  });
  add("keep_confident", [&](Numbers map, Numbers, Numbers out, Numbers, Numbers) {
    stages->run(sgm::KeepConfident{map, confidence.data(), 20, {}, out});
  });
  const std::vector<std::uint32_t> no_features(static_cast<std::size_t>(config.pixels()));
  const DeviceBlock<std::uint32_t> features(device, no_features);
  stages->census(left, features.data());
  TileOutput census{"census", {}};
  for (const std::uint32_t feature : features.values()) {
    census.numbers.push_back(static_cast<std::uint16_t>(feature));
    census.numbers.push_back(static_cast<std::uint16_t>(feature >> 16));
  }
  outputs.push_back(census);
  return outputs;
}

TEST(SgmTiles, CudaEqualsCpuAtAnyWidthAndAlignment) {
  CUDAVISION_NEEDS_CUDA();
  CudaTestDevice cuda;
  const auto cpu = make_cpu_device();
  Random random(11);
  for (const int width : {1,  2,   3,   4,   7,   8,   9,   30,   31,   32,   33,   63,  64,
                          65, 120, 127, 128, 129, 136, 260, 2040, 2047, 2048, 2049, 2056})
    for (const int height : {1, 2, 8, 17, 33, 70}) {
      if (width * height > 2056 * 17)
        continue;
      const int bits = random.one_in(3) ? 10 : 8;
      const int offset = random.one_in(2) ? 0 : random.between(1, 7);
      const int padding = random.one_in(2) ? (64 - width % 64) % 64 : random.between(0, 7);
      const TileCase test = tile_case(random, width, height, bits, offset, padding);
      const auto expected = run_tiles(*cpu, test), ours = run_tiles(*cuda, test);
      for (std::size_t i = 0; i < expected.size(); ++i)
        ASSERT_EQ(ours[i].numbers, expected[i].numbers)
            << expected[i].stage << ", " << width << "×" << height << ", " << bits
            << " bits, offset " << offset << ", padding " << padding << ", "
            << test.config.disparities << " disparities from " << test.config.minimum;
    }
}

/// Pictures of few rows, which many blocks share: each selects the winners of a part of a row.
TEST(SgmTiles, WinnersOfPartsOfRowsEqualThoseOfTheCpu) {
  CUDAVISION_NEEDS_CUDA();
  CudaTestDevice cuda;
  const auto cpu = make_cpu_device();
  for (const int width : {385, 400, 641, 1030, 2049, 2600})
    for (const int disparities : {64, 128, 224, 256})
      for (const int paths : {4, 8})
        for (const int minimum : {-150, 0, 33}) {
          Parameters parameters;
          parameters.disparities = disparities;
          parameters.minimum = minimum;
          parameters.paths = paths;
          const SgmCase test =
              plain_sgm_case(gray_layout(width, 3), parameters, Content::natural, 5);
          const SgmInput input = input_block(test);
          EXPECT_EQ(difference(test, SgmRunner(*cpu, test).run(input, 0),
                               SgmRunner(*cuda, test).run(input, 0)),
                    "")
              << describe(test);
        }
}

TEST(SgmTiles, SpecklesAreTheDefinitions) {
  CUDAVISION_NEEDS_CUDA();
  CudaTestDevice cuda;
  Random random(12);
  for (const auto& [width, height] : {std::pair{1, 1},
                                      {1, 100},
                                      {100, 1},
                                      {31, 33},
                                      {32, 32},
                                      {33, 31},
                                      {64, 64},
                                      {65, 97},
                                      {130, 40},
                                      {200, 150}}) {
    StageConfig config;
    config.width = width;
    config.height = height;
    config.disparities = 64;
    const auto stages = make_stages(*cuda, config);
    for (const auto& [name, map] : speckle_maps(random, width, height)) {
      for (const int size : {1, 2, 9, 16, 31, 32, 64, 100, 900, 1023, 1024, 1025,
                             width * height - 1, width * height, std::numeric_limits<int>::max()}) {
        if (size < 1)
          continue;
        const Map expected = defined_without_speckles(config, map, size, 5);
        // The second time, the scratch memory holds what the first time left there.
        for (int repetition = 0; repetition < 2; ++repetition) {
          const DeviceBlock<std::uint16_t> ours(*cuda, map);
          stages->run(sgm::RemoveSpeckles{size, 5, ours.data()});
          ASSERT_EQ(ours.values(), expected)
              << name << ", " << width << "×" << height << ", regions of " << size;
        }
      }
    }
  }
}

/// Compares Refine of the left map with its definition.
void expect_refinement(Device& device, const TileCase& test, const std::string& what) {
  const int width = test.config.width, height = test.config.height;
  const Luminances levels(test.left.begin(), test.left.end());
  const auto stages = make_stages(device, test.config);
  const DeviceBlock<std::uint8_t> left(device, test.left);
  const DeviceBlock<std::uint16_t> map(device, test.left_map), refined(device, test.left_map);
  stages->run(
      Refine{{{left.data(), width, height, width}, width, 8, 0}, map.data(), refined.data()});
  ASSERT_EQ(refined.values(), defined_refinement(test.config, levels, test.left_map))
      << what << ", " << width << "×" << height;
}

TEST(SgmTiles, MediansOfManyNumbersAreTheDefinitions) {
  CUDAVISION_NEEDS_CUDA();
  CudaTestDevice cuda;
  Random random(13);
  for (const int distinct : {1, 2, 3, 64, 65, 511, 512, 1023, 1024, 1025, 2000, 16000})
    for (const auto& [width, height] : {std::pair{40, 40}, {70, 45}}) {
      TileCase test = tile_case(random, width, height, 8, 0, 0);
      test.config.disparities = 1024;
      for (std::size_t i = 0; i < test.left_map.size(); ++i)
        test.left_map[i] = static_cast<std::uint16_t>(
            distinct == 16000 ? random.between(0, distinct) : 7 + 8 * (i * 7 % distinct));
      expect_refinement(*cuda, test, std::to_string(distinct) + " numbers");
    }
}

/// Numbers close together, also at both ends of their range, and some far from these, so that the
/// bisections of Refine begin with steps of any size.
TEST(SgmTiles, MediansOfNumbersNearAndFarAreTheDefinitions) {
  CUDAVISION_NEEDS_CUDA();
  CudaTestDevice cuda;
  Random random(14);
  for (const int base : {0, 3, 15, 16, 17, 8000, 16335, 16350, 16351, 16352, 16368})
    for (const int step : {1, 14, 15, 16, 17, 31, 32, 33, 127, 128, 300})
      for (const int far : {0, 1, 4}) {  // of 8 pixels
        TileCase test = tile_case(random, 70, 37, 8, 0, 0);
        test.config.disparities = 1024;
        for (std::uint16_t& number : test.left_map) {
          const int near = base + step * random.between(-1, 1);
          const int chosen = random.between(0, 7) < far ? random.between(0, 16368) : near;
          if (number != unknown)
            number = static_cast<std::uint16_t>(std::clamp(chosen, 0, 16368));
        }
        expect_refinement(*cuda, test,
                          std::to_string(base) + " ± " + std::to_string(step) + ", " +
                              std::to_string(far) + " of 8 elsewhere");
      }
}

}  // namespace
}  // namespace cudavision::test
