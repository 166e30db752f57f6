// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <vector>

#include "tests/check/common/gstcheck.h"
#include "tests/check/common/pictures/picture.h"

/// The elements with one input and one output, described for the tests of their common behaviour.
namespace check {

using Property = std::pair<const char*, std::string>;
using Properties = std::vector<Property>;

struct ElementUnderTest {
  const char* element;
  Properties always;      ///< gives output frames the format of input frames
  Properties everything;  ///< enables every optional extra
  Property working;       ///< makes the element process every frame
  Property idle;          ///< makes the element pass on every frame unchanged
  Property halfway;       ///< a third valid value
  Property wrong;         ///< invalid for all frames (cudahistequalize: for all but RGB)
  Property mended;        ///< undoes `wrong`
  int messages;           ///< element messages per frame with `everything`
  /// The expected output of a new element, with `always` set, for a picture in full or limited
  /// range.
  Picture (*result)(const Picture& picture, bool limited);
};

const std::vector<ElementUnderTest>& tested_elements();

/// The current element of a test that runs for_each_element(). In other tests it is
/// cudahistequalize.
const ElementUnderTest& tested();

/// Selects an element for tested(), as a fixture of check.
SFun fixture_for_element(std::size_t number);

inline Picture result(const Picture& picture, bool limited = false) {
  return tested().result(picture, limited);
}

/// Formats a number for a launch line, independently of the locale.
std::string text_of(double value);

/// Formats a property for a launch line, such as "sigma=0".
inline std::string text_of(const Property& property) {
  return std::string(property.first) + "=" + property.second;
}

/// Formats properties for a launch line, such as "output=mean radius=7 ".
std::string text_of(const Properties& properties);

/// Formats tested() with `always` for a launch line, such as "cudaintegral output=denoise".
std::string tested_launch();

}  // namespace check
