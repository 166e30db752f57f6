// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/elementundertest.h"

#include "tests/check/common/definitions/blurdefinition.h"
#include "tests/check/common/definitions/equalizedefinition.h"
#include "tests/check/common/definitions/integraldefinition.h"

namespace check {

namespace {

std::size_t current = 0;

// The functions of a check fixture have no parameters, so there is one for each element.
template <std::size_t number>
void choose() {
  current = number;
}
constexpr SFun choosers[] = {choose<0>, choose<1>, choose<2>};

}  // namespace

const std::vector<ElementUnderTest>& tested_elements() {
  static const std::vector<ElementUnderTest> list = {
      {"cudahistequalize",
       {},
       // With this threshold, smoothing changes no output; see fuzz_filters.cpp.
       {{"post-messages", "true"}, {"smoothing-time", "1000000000"}, {"scene-cut-threshold", "0"}},
       {"strength", "1"},
       {"strength", "0"},
       {"strength", "0.5"},
       {"channels", "rgb"},
       {"channels", "luma"},
       1,
       +[](const Picture& picture, bool limited) {
         return equalized(picture, {false, 1, limited});
       }},
      {"cudagaussblur",
       {},
       {},
       {"sigma", "1.2"},
       {"sigma", "0"},
       {"sigma", "-3"},
       {"kernel-size", "4"},
       {"kernel-size", "0"},
       0,
       +[](const Picture& picture, bool) { return blurred(picture, {}); }},
      // Denoising is the only output that has the format of its input. A small search saves time,
      // and the strength is large enough to change every picture of these tests.
      {"cudaintegral",
       {{"output", "denoise"},
        {"search-size", "5"},
        {"patch-size", "3"},
        {"denoise-strength", "60"}},
       {},
       {"denoise-strength", "60"},
       {"denoise-strength", "0"},
       {"denoise-strength", "20"},
       {"search-size", "4"},
       {"search-size", "5"},
       0,
       +[](const Picture& picture, bool) { return denoised(picture, denoising()); }},
  };
  static_assert(G_N_ELEMENTS(choosers) == 3, "each element needs a chooser");
  return list;
}

const ElementUnderTest& tested() {
  return tested_elements()[current];
}

SFun fixture_for_element(std::size_t number) {
  return choosers[number];
}

std::string text_of(double value) {
  gchar text[G_ASCII_DTOSTR_BUF_SIZE];
  return g_ascii_dtostr(text, sizeof text, value);
}

std::string text_of(const Properties& properties) {
  std::string text;
  for (const Property& property : properties)
    text += text_of(property) + " ";
  return text;
}

std::string tested_launch() {
  return tested().element + (" " + text_of(tested().always));
}

}  // namespace check
