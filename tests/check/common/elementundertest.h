// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/check/gstcheck.h>

#include <string>
#include <vector>

#include "tests/check/common/picture.h"

/// The elements with one input and one output, as the tests of their common behaviour see them.
namespace check {

using Property = std::pair<const char*, std::string>;
using Properties = std::vector<Property>;

struct ElementUnderTest {
  const char* element;
  Properties always;      ///< set so that output frames have the format of input frames
  Properties everything;  ///< a new element's work and every optional extra
  Property working;       ///< makes every frame anew
  Property idle;          ///< passes every frame on unchanged
  Property halfway;       ///< a third valid value
  Property wrong;         ///< impossible for all frames (cudahistequalize: all but RGB)
  Property mended;        ///< undoes `wrong`
  int messages;           ///< element messages per frame with `everything`
  /// The expected output of a new element, with `always` set, for a picture in full or limited
  /// range.
  Picture (*result)(const Picture& picture, bool limited);
};

const std::vector<ElementUnderTest>& tested_elements();

/// The element of a test that runs for_each_element(), in other tests cudahistequalize.
const ElementUnderTest& tested();

/// Selects an element for tested(), as a fixture of check.
SFun fixture_for_element(std::size_t number);

inline Picture result(const Picture& picture, bool limited = false) {
  return tested().result(picture, limited);
}

/// "sigma=0", as in a launch line.
inline std::string text_of(const Property& property) {
  return std::string(property.first) + "=" + property.second;
}

/// "output=mean radius=7 ", as in a launch line.
std::string text_of(const Properties& properties);

/// "cudaintegral output=denoise", as in a launch line: tested() with `always`.
std::string tested_launch();

}  // namespace check
