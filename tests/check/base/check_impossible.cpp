// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests the sets of values with which no element starts, and the errors that say what to change.
#include <cstdio>

#include "tests/check/base/propertytables.h"
#include "tests/check/common/filterharness.h"

using namespace check;

namespace {

/// Properties of an element with which it does not start, or refuses caps of these formats.
struct Refused {
  const char* element;
  Impossible set;
};

/// All of tested_elements() read regions, and refuse these. Its error quotes what follows the
/// semicolon.
const std::string not_rectangles[] = {"1,2,3",     "1,2,3,4;5", "1,2,3,4,5",       "1,2,3,",
                                      "1,,2,3,4",  "1 2 3 4",   "a,2,3,4",         "1,2,-3,4",
                                      "1,2,3,nan", "1,2,3px,4", "100.5,80,200,200"};

const std::vector<Refused>& impossible_sets() {
  static const std::vector<Refused> list = [] {
    std::vector<Refused> sets;
    for (const ElementSpec& spec : element_specs())
      for (const Impossible& set : spec.impossible)
        sets.push_back({spec.element, set});
    for (const ElementUnderTest& filter : tested_elements())
      for (const std::string& text : not_rectangles) {
        Properties properties = filter.always;
        properties.emplace_back("regions", text);
        const std::string refused =
            "regions: \"" + text.substr(text.rfind(';') + 1) + "\" is not a rectangle";
        sets.push_back(
            {filter.element, {{"I420"}, properties, {refused, "x,y,width,height", "semicolons"}}});
      }
    return sets;
  }();
  return list;
}

/// Sets of one property each, just beyond either end of its range.
std::vector<Refused> sets_out_of_range() {
  std::vector<Refused> list;
  for (const ElementSpec& spec : element_specs()) {
    const bool filter = is_filter(spec);
    const auto add_ends = [&](const std::vector<PropertySpec>& rows, bool at_start) {
      for (const PropertySpec& row : rows)
        for (const double number : row.out_of_range()) {
          char text[32];
          std::snprintf(text, sizeof text, "%.10g", number);
          list.push_back({spec.element,
                          {at_start ? std::vector<const char*>{} : std::vector<const char*>{"I420"},
                           {{row.name, text}},
                           {row.name, text}}});
        }
    };
    add_ends(spec.properties, !filter);
    if (filter)
      add_ends(filter_properties(), true);
    if (find_tested(spec.element) != nullptr)
      add_ends(region_properties(), false);
    add_ends(device_properties(), true);
  }
  return list;
}

void expect_refused_caps(const Refused& refused, const FormatSpec& format) {
  const auto& [element, set] = refused;
  FilterHarness filter(element, set.properties);
  filter.send_caps(caps_of(format, 32, 16, colorimetry(format, false)));
  const GstFlowReturn flow = filter.push(to_buffer(Picture(format, 32, 16)));
  fail_unless(flow == GST_FLOW_NOT_NEGOTIATED || flow == GST_FLOW_ERROR, "flow %s",
              gst_flow_get_name(flow));
  // There may be two errors, because the pad offers the refused caps again with the frame.
  fail_unless(filter.messages().count(GST_MESSAGE_ERROR) >= 1);
  expect_words(filter.messages().text(GST_MESSAGE_ERROR), set.words);
  fail_unless(filter.pull() == nullptr);
}

void expect_refusal(const Refused& refused) {
  const auto& [element, set] = refused;
  if (set.formats.empty())
    expect_words(expect_failed_start(make_element(element, set.properties).get()), set.words);
  for (const char* format : set.formats)
    expect_refused_caps(refused, format_named(format));
}

}  // namespace

TEST(test_impossible_at_start, .times(impossible_sets().size())) {
  expect_refusal(impossible_sets()[static_cast<std::size_t>(index)]);
}

TEST(test_out_of_range_at_start) {
  const std::vector<Refused> sets = sets_out_of_range();
  fail_unless(sets.size() > 50, "only %d numbers", static_cast<int>(sets.size()));
  for (const Refused& refused : sets) {
    const Owned<GstElement> element = new_element(refused.element);
    const Property& property = refused.set.properties[0];
    expect_read_back(element, property.first, property.second.c_str());
    expect_refusal(refused);
  }
}
