// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Tests the contract of all operations for Clahe, and its own promises.

#include <cmath>
#include <limits>

#include "tests/kernels/clahe/clahe_case.h"
#include "tests/kernels/histequalize/equalize_contract.h"

namespace cudavision::test {
namespace {

using namespace clahe;

ClaheCase make_case(const FrameLayout& layout, Content content) {
  return plain_clahe_case(layout, {}, 2, content, 5);
}

template <bool kSmoothed>
struct ClaheContract : EqualizeContract<ClaheCase, make_case, kSmoothed> {
  using Base = EqualizeContract<ClaheCase, make_case, kSmoothed>;

  static std::vector<std::function<void(Device&, const FrameLayout&)>> constructors() {
    return {[](Device& device, const FrameLayout& layout) {
      Clahe(device, layout, Tiles(), Parameters(), kSmoothed ? Averages::kept : Averages::none);
    }};
  }

  static std::vector<ParametersRefusal<ClaheCase>> parameters_refusals() {
    auto refusals = Base::parameters_refusals();
    Parameters wrong;
    const ClaheCase gray = Base::dense("GRAY8", 67, 31);
    wrong.clip_limit = std::nan("");
    refusals.push_back({"the clip limit is not a number", gray, wrong});
    wrong.clip_limit = std::numeric_limits<double>::infinity();
    refusals.push_back({"the clip limit", gray, wrong});
    return refusals;
  }

  /// Packs of every kind, each with cells that begin within packs, and with cells that are too
  /// narrow for tables in shared memory.
  static std::vector<ClaheCase> representatives(int width, int height) {
    auto cases = Base::representatives(width, height);
    cases.push_back(Base::dense("GRAY8", width / 128 * 128 + 128, height));
    for (const char* layout : {"GRAY8", "P010", "RGBx"}) {
      cases.push_back(Base::dense(layout, width, height));
      cases.back().tiles = {64, 16};
    }
    return cases;
  }

  static std::vector<Parameters> sets(const ClaheCase& test) {
    constexpr double of_rgb[] = {2, 2, 0, 40, 0.5}, of_luma[] = {2, 0, 40, -3, 1e300};
    auto all = Base::sets(test);
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i].clip_limit = (is_rgb(test.layout) ? of_rgb : of_luma)[i];
    return all;
  }
};

CUDAVISION_CONTRACT(Clahe, ClaheContract<false>);
CUDAVISION_CONTRACT(SmoothedClahe, ClaheContract<true>);

class ClaheUse : public EitherDevice {};

INSTANTIATE_TEST_SUITE_P(Devices, ClaheUse, both_devices(), device_name);

TEST_P(ClaheUse, RefusesGridsWithWords) {
  on_device([](Device& device) {
    for (const Tiles& tiles : {Tiles{0, 8}, {8, 0}, {-1, 8}, {65, 8}, {8, 65}})
      for (const Averages averages : {Averages::none, Averages::kept})
        CUDAVISION_EXPECT_ERROR(Clahe(device, gray_layout(33, 9), tiles, Parameters(), averages),
                                invalid_argument, "each dimension must be 1 to 64");
  });
}

/// A grid of one tile whose clip limit is unlimited is the global equalisation that begins at the
/// first bin instead of after it.
TEST_P(ClaheUse, OneUnlimitedTileHasOneTableForThePicture) {
  on_device([](Device& device) {
    const ClaheCase test = plain_clahe_case(gray_layout(256, 10), {1, 1}, 0, Content::gradient, 5);
    const auto input = input_block(test);
    const auto output = ClaheRunner(device, test).run(input, 0xcd);
    std::vector<int> count(256, 0), table(256, 0);
    for (std::size_t i = 0; i < 2560; ++i)
      ++count[input[i]];
    int sum = 0;
    for (std::size_t v = 0; v < 256; ++v) {
      sum += count[v];
      table[v] = static_cast<int>(std::nearbyint(static_cast<double>(sum) * 255 / 2560));
    }
    for (std::size_t i = 0; i < 2560; ++i)
      ASSERT_NEAR(output[i], table[input[i]], 1) << "pixel " << i;
  });
}

/// Tiles are independent: a change in one corner does not reach the pixels beyond its neighbours.
TEST_P(ClaheUse, ATileReachesAsFarAsTheCentresOfItsNeighbours) {
  on_device([](Device& device) {
    const ClaheCase test = plain_clahe_case(gray_layout(800, 80), {8, 2}, 2, Content::random, 5);
    auto input = input_block(test);
    ClaheRunner runner(device, test);
    const auto before = runner.run(input, 0xcd);
    for (std::size_t y = 0; y < 80; ++y)
      std::fill_n(input.begin() + static_cast<std::ptrdiff_t>(800 * y), 100, std::uint8_t{7});
    const auto after = runner.run(input, 0xcd);
    bool changed = false;
    for (std::size_t y = 0; y < 80; ++y)
      for (std::size_t x = 100; x < 800; ++x) {
        changed |= before[800 * y + x] != after[800 * y + x];
        if (x >= 150) {
          ASSERT_EQ(before[800 * y + x], after[800 * y + x]) << "column " << x;
        }
      }
    EXPECT_TRUE(changed) << "the neighbour's half next to the tile must change";
  });
}

}  // namespace
}  // namespace cudavision::test
