// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/check/gstcheck.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/check/common/picture.h"

/// The elements with one input and one output, as the tests of what they have in common see them.
namespace check {

using Property = std::pair<const char*, std::string>;
using Properties = std::vector<Property>;

struct ElementUnderTest {
  const char* element;
  Properties always;      ///< with which it gives back frames like those that it gets
  Properties everything;  ///< what a new element does, and all that it can do beside
  Property working;       ///< every frame is made anew
  Property idle;          ///< every frame goes on as it is
  Property halfway;       ///< something else
  Property wrong;         ///< impossible for any frames but RGB
  Property mended;
  int messages;  ///< element messages for each frame, with `everything`
  /// What a new element, made as it always is, makes of a picture in full or limited range.
  Picture (*result)(const Picture& picture, bool limited);
};

const std::vector<ElementUnderTest>& subjects();

/// The element under test: that of the test case, outside of for_each_subject() cudahistequalize.
const ElementUnderTest& subject();

inline Picture result(const Picture& picture, bool limited = false) {
  return subject().result(picture, limited);
}

/// "sigma=0", as in a launch line.
inline std::string text_of(const Property& property) {
  return std::string(property.first) + "=" + property.second;
}

/// "cudaintegral output=denoise", as in a launch line: the element and what it always has.
std::string subject_in_words();

/// Adds a test case for each element; its tests find that element in subject(). fill adds the tests
/// and whatever else the case needs.
void for_each_subject(Suite* suite, const char* name, const std::function<void(TCase*)>& fill);

/// " (cudagaussblur)" while for_each_subject() fills a case, else empty.
std::string subject_being_added();

}  // namespace check
