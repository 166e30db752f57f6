// SPDX-License-Identifier: LGPL-2.1-or-later
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
    refusals.push_back({"it must be finite (0 means unlimited)", gray, wrong});
    wrong.clip_limit = std::numeric_limits<double>::infinity();
    refusals.push_back({"the clip limit", gray, wrong});
    return refusals;
  }

  /// Adds rows of whole packs, and more tables than fit into shared memory.
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

CUDAVISION_ON_BOTH_DEVICES(ClaheUse);

TEST_P(ClaheUse, RefusesGridsWithWords) {
  for (const Tiles& tiles : {Tiles{0, 8}, {8, 0}, {-1, 8}, {65, 8}, {8, 65}})
    for (const Averages averages : {Averages::none, Averages::kept})
      CUDAVISION_EXPECT_ERROR(Clahe(device, gray_layout(33, 9), tiles, Parameters(), averages),
                              invalid_argument, "each dimension must be 1 to 64");
}

}  // namespace
}  // namespace cudavision::test
