// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Tests the contract of all operations for Clahe, and its own promises.

#include <cmath>
#include <limits>

#include "tests/kernels/clahe/clahe_case.h"
#include "tests/kernels/contract/contract.h"

namespace cudavision::test {
namespace {

using namespace clahe;

constexpr auto luminance = Parameters::Channels::luminance, each = Parameters::Channels::each;

struct ClaheContract : ContractTraits<ClaheCase> {
  static Case dense(const char* layout, int width, int height, Content content = Content::natural,
                    const Tiles& tiles = {}) {
    return plain_clahe_case(layout_named(layout, width, height), tiles, 2, content, 5);
  }

  static Case dense(const char* layout, int width, int height, const Parameters& parameters) {
    Case test = dense(layout, width, height);
    test.parameters = parameters;
    return test;
  }

  static std::vector<LayoutRefusal> layout_refusals() { return luminance_layout_refusals(); }

  static std::vector<std::function<void(Device&, const FrameLayout&)>> constructors() {
    return {[](Device& device, const FrameLayout& layout) {
      Clahe(device, layout, Tiles(), Parameters());
    }};
  }

  static std::vector<ParametersRefusal<Case>> parameters_refusals() {
    const Case gray = dense("GRAY8", 67, 31, {{luminance, 0, 255, 200}, 3});
    const Case rgb = dense("RGB", 67, 31, {{luminance, 0, 255, 200}, 3});
    return {
        {"the clip limit is not a number", gray, {{luminance, 0, 255, 256}, std::nan("")}},
        {"the clip limit",
         gray,
         {{luminance, 0, 255, 256}, std::numeric_limits<double>::infinity()}},
        {"range", gray, {{luminance, -1, 255, 256}, 2}},
        {"range", gray, {{luminance, 0, 256, 256}, 2}},
        {"range", gray, {{luminance, 9, 9, 256}, 2}},
        {"a blend of -1", gray, {{luminance, 0, 255, -1}, 2}},
        {"a blend of 257", gray, {{luminance, 0, 255, 257}, 2}},
        {"luma", gray, {{each, 0, 255, 256}, 2}},
        {"range", rgb, {{luminance, 16, 235, 256}, 2}},
        {"range", rgb, {{each, 0, 254, 256}, 2}},
    };
  }

  static Case refused_case() { return dense("NV12", 34, 10); }

  /// Packs of every kind, each with cells that begin within packs, and with cells that are too
  /// narrow for tables in shared memory.
  static std::vector<Case> representatives(int width, int height) {
    std::vector<Case> cases;
    for (const char* layout : {"GRAY8", "GRAY16", "NV12", "YUY2", "P010", "RGB", "RGBx", "GBR"})
      cases.push_back(dense(layout, width, height));
    cases.push_back(dense("GRAY8", width / 128 * 128 + 128, height));
    for (const char* layout : {"GRAY8", "P010", "RGBx"})
      cases.push_back(dense(layout, width, height, Content::natural, {64, 16}));
    cases.push_back(dense("RGBx", width, height, {{each, 0, 255, 256}, 2}));
    return cases;
  }

  static std::pair<Case, Case> neighbours() {
    Case deep = dense("P010", 97, 55, Content::random, {3, 5});
    deep.parameters = {{luminance, 64, 940, 256}, 4};
    return {dense("RGBx", 333, 77), deep};
  }
  static std::pair<Case, Case> streams() {
    return {dense("GRAY8", 1920, 1080), dense("GRAY8", 1920, 1080, Content::two_valued)};
  }

  static std::vector<Case> changing() {
    return {dense("GRAY8", 640, 48), dense("RGBA", 321, 45), dense("GRAY16", 160, 60)};
  }

  static std::vector<Parameters> sets(const Case& test) {
    const int white = test.parameters.high;
    if (is_rgb(test.layout))
      return {test.parameters,
              {{each, 0, 255, 256}, 2},
              {{luminance, 0, 255, 3}, 0},
              {{each, 0, 255, 128}, 40},
              {{luminance, 0, 255, 0}, 0.5}};
    return {test.parameters,
            {{luminance, 16, white - 20, 100}, 0},
            {{luminance, 0, white, 0}, 40},
            {{luminance, white / 2, white, 256}, -3},
            {{luminance, 0, 1, 256}, 1e300}};
  }

  static std::vector<std::function<void(Parameters&)>> members() {
    return {[](Parameters& p) { p.channels = each; }, [](Parameters& p) { p.clip_limit = 3; },
            [](Parameters& p) { p.low = 1; }, [](Parameters& p) { p.high = 254; },
            [](Parameters& p) { p.blend = 255; }};
  }
};

CUDAVISION_CONTRACT(Clahe, ClaheContract);

class ClaheUse : public EitherDevice {};

INSTANTIATE_TEST_SUITE_P(Devices, ClaheUse, both_devices(), device_name);

TEST_P(ClaheUse, RefusesGridsWithWords) {
  on_device([](Device& device) {
    for (const Tiles& tiles : {Tiles{0, 8}, {8, 0}, {-1, 8}, {65, 8}, {8, 65}})
      CUDAVISION_EXPECT_ERROR(Clahe(device, gray_layout(33, 9), tiles, Parameters()),
                              invalid_argument, "each dimension must be 1 to 64");
  });
}

/// A grid of one tile whose clip limit is unlimited is the global equalisation that begins at the
/// first bin instead of behind it.
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
