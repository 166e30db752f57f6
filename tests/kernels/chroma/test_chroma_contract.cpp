// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/chroma/chroma_case.h"
#include "tests/kernels/contract/contract.h"

namespace cudavision::test {
namespace {

using namespace chroma;

struct ChromaContract : ContractTraits<ChromaCase> {
  static Case dense(const char* layout, int width, int height, bool limited) {
    return plain_chroma_case(layout_named(layout, width, height), {limited}, Content::natural, 5);
  }

  static std::vector<LayoutRefusal> layout_refusals() {
    std::vector<LayoutRefusal> refusals = common_layout_refusals();
    for (const char* name : {"GRAY8", "RGB"})
      refusals.push_back({"two chroma channels of equal size",
                          [=](FrameLayout& l) { l = layout_named(name, l.width, l.height); }});
    refusals.push_back({"two chroma channels of equal size", [](FrameLayout& l) {
                          l = layout_named("I420", l.width, l.height);
                          l.channels[1].height -= 1;
                        }});
    return refusals;
  }

  static Case refused_case() { return dense("NV12", 34, 10, true); }

  static std::vector<Case> representatives(int width, int height) {
    std::vector<Case> cases;
    for (const char* layout : {"NV12", "I420", "YUY2", "P010"})
      for (const bool limited : {false, true})
        cases.push_back(dense(layout, width, height, limited));
    return cases;
  }

  static std::vector<Case> changing() {
    return {dense("I420", 160, 90, false), dense("NV12", 121, 77, true)};
  }
  static std::vector<Parameters> sets(const Case&) {
    return {{false}, {true}, {true}, {false}, {true}};
  }
};

CUDAVISION_CONTRACT(ChromaScale, ChromaContract);

}  // namespace
}  // namespace cudavision::test
