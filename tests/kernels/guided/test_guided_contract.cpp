// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cmath>
#include <limits>

#include "tests/kernels/contract/contract.h"
#include "tests/kernels/contract/filters.h"
#include "tests/kernels/guided/guided_case.h"

namespace cudavision::test {
namespace {

using namespace guided;

constexpr Parameters small{3, 100};

struct GuidedContract : ContractTraits<GuidedCase> {
  static constexpr Size captured{101, 43}, busy{640, 480}, neighbour{133, 77}, streamed{320, 180};

  static std::vector<ParametersRefusal<Case>> parameters_refusals() {
    const Case valid = dense("NV12", 67, 31, small);
    return {
        {"a radius of -1; it must be 0 to 65535", valid, {-1, 100}},
        {"a radius of 65536; it must be 0 to 65535", valid, {65536, 100}},
        {"an epsilon of -0.1; it must be 0 to 65025", valid, {5, -0.1}},
        {"it must be 0 to 65025", valid, {5, 65025.5}},
        {"it must be 0 to 65025", valid, {5, std::numeric_limits<double>::infinity()}},
        {"it must be 0 to 65025", valid, {5, std::nan("")}},
    };
  }

  static Case refused_case() { return dense("NV12", 34, 10, small); }

  static std::vector<Case> representatives(int width, int height) {
    std::vector<Case> cases;
    for (const char* layout : {"GRAY8", "GRAY16", "NV12", "YUY2", "P010", "RGB", "RGBA"})
      for (const Parameters& parameters : {Parameters{8, 100}, {1, 650}, {70, 10}})
        cases.push_back(dense(layout, width, height, parameters));
    return cases;
  }

  static std::vector<Case> changing() {
    std::vector<Case> cases;
    for (const char* layout : {"GRAY8", "RGBA", "YUY2", "P010", "I420"})
      cases.push_back(dense(layout, 35, 17, {9, 99}));
    return cases;
  }

  /// Windows grow and shrink repeatedly.
  static std::vector<Parameters> sets(const Case&) {
    return {small,  {7, 100},  {7, 100.5}, {65535, 100}, {3, 65025},  {1, 0.001}, {0, 100},
            {8, 0}, {63, 650}, {64, 650},  {2, 20000},   {500, 5000}, small};
  }
};

CUDAVISION_CONTRACT(Guided, GuidedContract);

CUDAVISION_ON_BOTH_DEVICES(GuidedUse);

TEST_P(GuidedUse, KnowsTheIdentity) {
  expect_identities<GuidedCase>(device, {
                                            {true, {0, 100}},
                                            {true, {7, 0}},
                                            {false, {1, 100}},
                                            {false, {7, 1e-30}},
                                            {false, small},
                                        });
}

}  // namespace
}  // namespace cudavision::test
