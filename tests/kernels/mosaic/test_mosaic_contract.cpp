// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/contract/contract.h"
#include "tests/kernels/mosaic/mosaic_case.h"

namespace cudavision::test {
namespace {

using namespace mosaic;

Parameters changed(const std::function<void(Parameters&)>& change) {
  Parameters parameters;
  change(parameters);
  return parameters;
}

struct MosaicContract : ContractTraits<MosaicCase> {
  static std::vector<LayoutRefusal> layout_refusals() {
    std::vector<LayoutRefusal> refusals = common_layout_refusals();
    add_refusal(refusals, "RGB", "different heights",
                [](FrameLayout& l) { l.channels[1].height -= 1; });
    add_refusal(refusals, "YUY2", "equally many pixels per byte",
                [](FrameLayout& l) { l.channels[0].subsampling_x = 2; });
    add_refusal(refusals, "I420", "samples that cover no pixel",
                [](FrameLayout& l) { l.channels[1].subsampling_x = 3; });
    return refusals;
  }

  static std::vector<ParametersRefusal<Case>> parameters_refusals() {
    const Case valid = dense("NV12", 67, 31, blocks_of(8));
    const Case deep = dense("P010", 67, 31, solid_colour(10));
    return {
        {"a block size of 1 pixels; it must be 2 to 256", valid, blocks_of(1)},
        {"a block size of 257 pixels", valid, blocks_of(257)},
        {"a block size of -8 pixels", valid, blocks_of(-8)},
        {"the value of channel 2 is 256; samples of 8 bits are at most 255", valid,
         changed([](Parameters& p) {
           p.solid = true;
           p.values[2] = 256;
         })},
        {"the value of channel 0 is 1024; samples of 10 bits are at most 1023", deep,
         changed([](Parameters& p) {
           p.solid = true;
           p.values[0] = 1024;
         })},
    };
  }

  static Case refused_case() { return dense("NV12", 34, 10, blocks_of(4)); }

  static std::vector<Case> representatives(int width, int height) {
    std::vector<Case> cases;
    for (const char* layout :
         {"GRAY8", "GRAY16", "NV12", "YUY2", "P010", "RGB", "RGBx", "GRAY8Roomy"}) {
      const FrameLayout one = layout_named(layout, 1, 1);
      for (const int size : {2, 9, 16, 64})
        cases.push_back(dense(layout, width, height, blocks_of(size)));
      cases.push_back(dense(layout, width, height, solid_colour(one.bits)));
      Parameters fields = blocks_of(12);
      fields.fields = true;
      cases.push_back(dense(layout, width, height, fields));
    }
    return cases;
  }
  static std::vector<Case> changing() {
    return {dense("GRAY8", 160, 90, blocks_of(8)), dense("NV12", 121, 77, blocks_of(8)),
            dense("P010", 64, 64, blocks_of(8)), dense("RGBA", 70, 40, blocks_of(8))};
  }
  static std::vector<Parameters> sets(const Case& test) {
    Random random(test.layout.width);
    std::vector<Parameters> sets = {blocks_of(8), blocks_of(8), solid_colour(test.layout.bits)};
    for (int i = 0; i < 12; ++i) {
      Parameters one = random.one_in(3) ? solid_colour(test.layout.bits)
                                        : blocks_of(std::max(2, random.log_uniform(256)));
      one.hide_alpha = random.one_in(2);
      one.fields = random.one_in(2);
      sets.push_back(one);
    }
    sets.push_back(blocks_of(8));
    return sets;
  }
};

CUDAVISION_CONTRACT(Mosaic, MosaicContract);

}  // namespace
}  // namespace cudavision::test
