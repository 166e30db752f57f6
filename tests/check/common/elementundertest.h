// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <vector>

#include "tests/check/common/gstcheck.h"
#include "tests/check/common/pictures/picture.h"

/// A table of the plug-in's elements, for tests that run for all elements.
namespace check {

using Property = std::pair<const char*, std::string>;
using Properties = std::vector<Property>;

inline Properties joined(Properties properties, const Properties& more) {
  properties.insert(properties.end(), more.begin(), more.end());
  return properties;
}

enum class Change { ready, playing, never };

struct PropertySpec {
  const char* name;
  Change change;
  const char* initial;              ///< the default, written as in a launch line
  const char* other = nullptr;      ///< another value that must be readable after a set
  double minimum = 0, maximum = 0;  ///< the range of a number
  std::string nicks = {};           ///< the nicks of an enum; empty for GStreamer's own enums

  /// Returns minimum − 1 and maximum + 1, as far as the type can hold them; none if read-only.
  std::vector<double> out_of_range() const;
};

/// Invalid or contradictory values, and words that the error must contain.
struct Impossible {
  Properties properties;
  std::vector<std::string> words;
  std::vector<const char*> formats = {};  ///< refused formats; empty: the start fails
};

struct ElementSpec {
  const char* element;
  std::vector<PropertySpec> properties;  ///< without the properties that elements share
  std::vector<Impossible> impossible;
};

struct ElementUnderTest : ElementSpec {
  Properties always;      ///< set by make_tested() and tested_launch(); result() assumes them
  Properties everything;  ///< adds work, such as messages, that does not change the output
  Property working;       ///< makes the element change every frame
  Property idle;          ///< makes the element push frames without ROI metas unchanged
  Property halfway;       ///< a valid setting other than `working` and `idle`
  Property wrong;         ///< invalid for all frames (cudahistequalize: for all but RGB of 8 bits)
  Property mended;        ///< makes the settings valid after `wrong`
  int messages;           ///< element messages per frame with `everything`
  Picture (*result)(const Picture& picture, bool limited);
  /// True if RGB of more than 8 bits is processed by its luminance.
  bool equalizes = false;
  /// The remedy that errors about memory name.
  const char* memory_advice = "smaller frames";
};

/// Registers a row: one per element, in its element.cpp.
class RegisteredElement {
 public:
  explicit RegisteredElement(ElementSpec row);
  explicit RegisteredElement(ElementUnderTest row);
};

const std::vector<ElementSpec>& element_specs();

const std::vector<ElementUnderTest>& tested_elements();

/// Returns nullptr if tested_elements() has no such element.
const ElementUnderTest* find_tested(const std::string& element);

/// Returns the element of a test that runs for_each_element(), or cudahistequalize in other tests.
const ElementUnderTest& tested();

/// Returns a check fixture that selects this element for tested().
SFun fixture_for_element(std::size_t number);

inline Picture result(const Picture& picture, bool limited = false) {
  return tested().result(picture, limited);
}

/// Formats a number for a launch line, independently of the locale.
std::string text_of(double value);

inline std::string text_of(const Property& property) {
  return std::string(property.first) + "=" + property.second;
}

std::string text_of(const Properties& properties);

/// Formats tested() with `always` for a launch line: "cudaguidedfilter radius=3 epsilon=5000 ".
std::string tested_launch();

}  // namespace check
