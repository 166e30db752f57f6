// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <vector>

#include "tests/kernels/contract/contract.h"
#include "tests/kernels/histequalize/histequalize_case.h"

namespace cudavision::test {

/// Contract traits of all equalisation methods. If kSmoothed, each run begins a new average, so
/// smoothing does not change the result.
template <class AnyCase, AnyCase (*make_case)(const FrameLayout&, Content), bool kSmoothed>
struct EqualizeContract : ContractTraits<AnyCase> {
  using Case = AnyCase;
  using Parameters = typename Case::Parameters;
  using Common = histequalize::Parameters;
  static constexpr auto luminance = Common::Channels::luminance, each = Common::Channels::each;
  static constexpr typename ContractTraits<AnyCase>::Size streamed{1920, 1080};

  static Case dense(const char* layout, int width, int height, Content content = Content::natural) {
    Case test = make_case(layout_named(layout, width, height), content);
    if (kSmoothed)
      test.smoothing = {2000, 40000};
    test.restart = kSmoothed;
    return test;
  }

  static Case dense(const char* layout, int width, int height, const Common& parameters) {
    Case test = dense(layout, width, height);
    static_cast<Common&>(test.parameters) = parameters;
    return test;
  }

  static std::vector<LayoutRefusal> layout_refusals() { return luminance_layout_refusals(); }

  static std::vector<ParametersRefusal<Case>> parameters_refusals() {
    const Case gray = dense("GRAY8", 67, 31, {luminance, 0, 255, 200});
    const Case rgb = dense("RGB", 67, 31, {luminance, 0, 255, 200});
    struct {
      const char* words;
      const Case& valid;
      Common wrong;
    } const refusals[] = {
        {"range", gray, {luminance, -1, 255, 256}},
        {"range", gray, {luminance, 0, 256, 256}},
        {"range", gray, {luminance, 9, 9, 256}},
        {"range", gray, {luminance, 10, 9, 256}},
        {"a blend of -1", gray, {luminance, 0, 255, -1}},
        {"a blend of 257", gray, {luminance, 0, 255, 257}},
        {"luma", gray, {each, 0, 255, 256}},
        {"range", rgb, {luminance, 16, 235, 256}},
        {"range", rgb, {each, 0, 254, 256}},
        {"blend", rgb, {each, 0, 255, 300}},
    };
    std::vector<ParametersRefusal<Case>> all;
    for (const auto& refusal : refusals) {
      Parameters wrong;
      static_cast<Common&>(wrong) = refusal.wrong;
      all.push_back({refusal.words, refusal.valid, wrong});
    }
    return all;
  }

  static Case refused_case() { return dense("NV12", 34, 10); }

  static std::vector<Case> representatives(int width, int height) {
    std::vector<Case> cases;
    for (const char* layout : {"GRAY8", "GRAY16", "NV12", "YUY2", "P010", "RGB", "RGBx", "GBR"})
      cases.push_back(dense(layout, width, height));
    for (const char* layout : {"RGB", "RGBx", "GBR"})
      cases.push_back(dense(layout, width, height, {each, 0, 255, 256}));
    return cases;
  }

  static std::vector<Case> changing() {
    return {dense("GRAY8", 640, 48), dense("RGBA", 321, 45), dense("GRAY16", 160, 60)};
  }

  static std::vector<Parameters> sets(const Case& test) {
    const int white = test.parameters.high;
    const Common of_rgb[] = {
        {each, 0, 255, 256}, {luminance, 0, 255, 3}, {each, 0, 255, 128}, {luminance, 0, 255, 0}};
    const Common of_luma[] = {{luminance, 16, white - 20, 100},
                              {luminance, 0, white, 0},
                              {luminance, white / 2, white, 256},
                              {luminance, 0, 1, 256}};
    std::vector<Parameters> all(5, test.parameters);
    for (std::size_t i = 1; i < all.size(); ++i)
      static_cast<Common&>(all[i]) = (is_rgb(test.layout) ? of_rgb : of_luma)[i - 1];
    return all;
  }
};

}  // namespace cudavision::test
