// SPDX-License-Identifier: LGPL-2.1-or-later

#include "tests/kernels/contract/contract.h"
#include "tests/kernels/repack/repack_case.h"

namespace cudavision::test {
namespace {

using repack::UnpackedForm;
using repack::Words;

struct RepackContract : ContractTraits<RepackCase> {
  static std::vector<LayoutRefusal> layout_refusals() {
    std::vector<LayoutRefusal> refusals = common_layout_refusals();
    refusals.push_back({"8 bits", [](FrameLayout&) {}});
    return refusals;
  }

  static std::vector<std::function<void(Device&, const FrameLayout&)>> constructors() {
    return {[](Device& device, const FrameLayout& layout) {
      repack::Repack(device, {layout, Words::swapped, {}, {}}, UnpackedForm::channels);
    }};
  }

  static Case refused_case() {
    return plain_repack_case(34, 10, {"GBR_10BE", UnpackedForm::channels, true}, Content::random,
                             1);
  }

  static std::vector<Case> representatives(int width, int height) {
    std::vector<Case> cases;
    for (const RepackParameters& conversion : all_conversions())
      cases.push_back(plain_repack_case(width, height, conversion, Content::natural, 2));
    return cases;
  }
};

CUDAVISION_CONTRACT(Repack, RepackContract);

}  // namespace
}  // namespace cudavision::test
