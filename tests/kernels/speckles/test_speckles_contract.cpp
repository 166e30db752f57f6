// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/contract/contract.h"
#include "tests/kernels/speckles/speckles_case.h"

namespace cudavision::test {
namespace {

using namespace speckles;

struct SpecklesContract : ContractTraits<SpecklesCase> {
  static std::vector<LayoutRefusal> layout_refusals() {
    std::vector<LayoutRefusal> refusals = common_layout_refusals();
    for (const char* name : {"NV12", "RGB", "RGBA", "GBR", "GRAY9"})
      refusals.push_back({"one plane of one channel, of 8 or 16 bits",
                          [=](FrameLayout& l) { l = layout_named(name, l.width, l.height); }});
    return refusals;
  }

  static std::vector<ParametersRefusal<Case>> parameters_refusals() {
    return {{"size=-1 must be 0 to", dense("GRAY8", 67, 31, {5}), {-1}}};
  }

  static Case refused_case() { return dense("GRAY16", 34, 10, {5}); }

  static std::vector<FramesRefusal<Case>> frames_refusals() {
    using Frames = Case::Frames;
    return {{"of the output frame", [](Frames& frames) { frames.out.planes[0].data = nullptr; }},
            {"of the output frame", [](Frames& frames) { frames.out.planes[0].width += 1; }},
            {"of the output frame", [](Frames& frames) { frames.out.planes[0].height -= 1; }}};
  }

  static std::vector<Case> representatives(int width, int height) {
    return {dense("GRAY8", width, height, {30}), dense("GRAY8Roomy", width, height, {7}),
            dense("GRAY16", width, height, {1, true})};
  }

  static std::vector<Case> changing() {
    return {dense("GRAY8", 160, 90, {9}), dense("GRAY16", 121, 77, {2})};
  }
  static std::vector<Parameters> sets(const Case&) {
    return {{9}, {9, true}, {}, {1}, {1000, true}, {0, true}, {3}};
  }
};

CUDAVISION_CONTRACT(Speckles, SpecklesContract);

}  // namespace
}  // namespace cudavision::test
