// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests everything that gst-inspect-1.0 shows: the plug-in, the elements, and all properties with
// their ranges, defaults and times of change.
#include <gst/video/video.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>

#include "tests/check/base/propertytables.h"
#include "tests/check/common/filterharness.h"

using namespace check;

namespace {

bool is_ours(const GParamSpec* spec) {
  const std::string owner = g_type_name(spec->owner_type);
  return owner != "GstObject" && owner != "GstBaseTransform" && owner != "GstAggregator";
}

/// Counts the properties that the element has besides those of its base classes.
std::size_t own_properties(GstElement* element) {
  guint count = 0;
  GParamSpec** all = g_object_class_list_properties(G_OBJECT_GET_CLASS(element), &count);
  const auto own = std::count_if(all, all + count, is_ours);
  g_free(all);
  return static_cast<std::size_t>(own);
}

bool is_kebab_case(const char* name) {
  return std::all_of(name, name + std::strlen(name), [](unsigned char c) {
    return std::islower(c) || std::isdigit(c) || c == '-';
  });
}

/// GObject passes every number on; the element itself refuses those out of range.
void expect_no_check(GParamSpec* spec, Value& value) {
  Value before(spec);
  g_value_copy(value.get(), before.get());
  fail_unless(!g_param_value_validate(spec, value.get()), "GObject refuses a %s", spec->name);
  fail_unless(std::memcmp(value.get(), before.get(), sizeof(GValue)) == 0, "GObject changes a %s",
              spec->name);
}

void expect_no_check(GParamSpec* spec) {
  if (G_IS_PARAM_SPEC_DOUBLE(spec)) {
    for (double number : {-1e300, 1e300, -HUGE_VAL, HUGE_VAL, std::nan("")}) {
      Value value(spec, number);
      expect_no_check(spec, value);
    }
  } else {
    for (const char* text : {"-2147483648", "2147483647"}) {
      Value value(spec, text);
      expect_no_check(spec, value);
    }
  }
}

void expect_range(GParamSpec* spec, const PropertySpec& expected) {
  const auto expect = [&](auto minimum, auto maximum) {
    fail_unless(static_cast<double>(minimum) == expected.minimum &&
                    static_cast<double>(maximum) == expected.maximum,
                "%s has another range", spec->name);
  };
  if (G_IS_PARAM_SPEC_INT(spec))
    expect(G_PARAM_SPEC_INT(spec)->minimum, G_PARAM_SPEC_INT(spec)->maximum);
  else if (G_IS_PARAM_SPEC_UINT(spec))
    expect(G_PARAM_SPEC_UINT(spec)->minimum, G_PARAM_SPEC_UINT(spec)->maximum);
  else if (G_IS_PARAM_SPEC_INT64(spec))
    expect(G_PARAM_SPEC_INT64(spec)->minimum, G_PARAM_SPEC_INT64(spec)->maximum);
  else if (G_IS_PARAM_SPEC_UINT64(spec))
    expect(G_PARAM_SPEC_UINT64(spec)->minimum, G_PARAM_SPEC_UINT64(spec)->maximum);
  else if (G_IS_PARAM_SPEC_DOUBLE(spec))
    expect(G_PARAM_SPEC_DOUBLE(spec)->minimum, G_PARAM_SPEC_DOUBLE(spec)->maximum);
  else
    fail_unless(
        G_IS_PARAM_SPEC_BOOLEAN(spec) || G_IS_PARAM_SPEC_ENUM(spec) || G_IS_PARAM_SPEC_STRING(spec),
        "%s has a type that this test does not support", spec->name);
  if (expected.change != Change::never &&
      (G_IS_PARAM_SPEC_INT(spec) || G_IS_PARAM_SPEC_INT64(spec) || G_IS_PARAM_SPEC_DOUBLE(spec)))
    expect_no_check(spec);
  if (!G_IS_PARAM_SPEC_ENUM(spec))
    return;
  const GEnumClass* values = G_PARAM_SPEC_ENUM(spec)->enum_class;
  std::string nicks;
  for (guint v = 0; v < values->n_values; ++v) {
    const gchar* nick = values->values[v].value_nick;
    nicks += std::string(v > 0 ? " " : "") + nick;
    fail_unless(is_kebab_case(nick), "%s: %s", spec->name, nick);
    fail_unless(std::strlen(values->values[v].value_name) > 2);
  }
  fail_unless(expected.nicks.empty() || nicks == expected.nicks, "%s has other values", spec->name);
}

void expect_flags(const GParamSpec* spec, Change change) {
  constexpr int mutability = GST_PARAM_CONTROLLABLE | GST_PARAM_MUTABLE_READY |
                             GST_PARAM_MUTABLE_PAUSED | GST_PARAM_MUTABLE_PLAYING;
  const int expected = change == Change::playing
                           ? GST_PARAM_CONTROLLABLE | GST_PARAM_MUTABLE_PLAYING
                       : change == Change::ready ? GST_PARAM_MUTABLE_READY
                                                 : 0;
  fail_unless((spec->flags & mutability) == expected, "%s can change in other states", spec->name);
  fail_unless((spec->flags & G_PARAM_READWRITE) ==
                  (change == Change::never ? G_PARAM_READABLE : G_PARAM_READWRITE),
              "%s is wrongly readable or writable", spec->name);
  fail_unless((spec->flags & G_PARAM_STATIC_STRINGS) == G_PARAM_STATIC_STRINGS, "%s", spec->name);
}

void expect_words_of(GParamSpec* spec) {
  const gchar *nick = g_param_spec_get_nick(spec), *blurb = g_param_spec_get_blurb(spec);
  fail_unless(is_kebab_case(spec->name), "%s", spec->name);
  // If there is no nick, GObject returns the name.
  fail_unless(nick != nullptr && std::strcmp(nick, spec->name) != 0, "%s has no nick", spec->name);
  fail_unless(blurb != nullptr && std::strlen(blurb) > 15, "%s has no blurb", spec->name);
}

/// Expects that a new element has the default that the property's specification gives.
void expect_default(GstElement* element, GParamSpec* spec, const PropertySpec& expected) {
  Value now(spec), initial(spec, expected.initial);
  g_object_get_property(G_OBJECT(element), spec->name, now.get());
  fail_unless(now == initial && g_param_value_defaults(spec, now.get()),
              "%s does not have its default in a new element", spec->name);
}

}  // namespace

TEST(test_plugin) {
  const Owned<GstPlugin> plugin(gst_registry_find_plugin(gst_registry_get(), "cudavision"));
  fail_unless(plugin != nullptr, "no plug-in cudavision: is GST_PLUGIN_PATH set?");
  fail_unless_equals_string(gst_plugin_get_license(plugin), "LGPL");
  for (const char* text : {gst_plugin_get_description(plugin), gst_plugin_get_version(plugin),
                           gst_plugin_get_package(plugin), gst_plugin_get_origin(plugin)})
    fail_unless(text != nullptr && *text != '\0');
}

// The table of elements must contain every element of the plug-in.
TEST(test_elements) {
  GList* features = gst_registry_get_feature_list_by_plugin(gst_registry_get(), "cudavision");
  std::size_t count = 0;
  for (GList* l = features; l != nullptr; l = l->next) {
    if (!GST_IS_ELEMENT_FACTORY(l->data))
      continue;
    ++count;
    auto* factory = GST_ELEMENT_FACTORY(l->data);
    for (const char* key : {GST_ELEMENT_METADATA_LONGNAME, GST_ELEMENT_METADATA_KLASS,
                            GST_ELEMENT_METADATA_DESCRIPTION, GST_ELEMENT_METADATA_AUTHOR,
                            GST_ELEMENT_METADATA_DOC_URI}) {
      const gchar* text = gst_element_factory_get_metadata(factory, key);
      fail_unless(text != nullptr && *text != '\0', "%s has no %s", GST_OBJECT_NAME(factory), key);
    }
    expect_words(gst_element_factory_get_metadata(factory, GST_ELEMENT_METADATA_KLASS), {"Video"});
    fail_unless_equals_int(gst_plugin_feature_get_rank(GST_PLUGIN_FEATURE(factory)), GST_RANK_NONE);
  }
  gst_plugin_feature_list_free(features);
  fail_unless_equals_int(count, element_specs().size());
}

// The tables must contain every property and agree with the elements.
TEST(test_properties, .times(element_specs().size())) {
  const ElementSpec& expected = element_specs()[static_cast<std::size_t>(index)];
  std::vector<PropertySpec> table = expected.properties;
  table.insert(table.end(), device_properties().begin(), device_properties().end());
  if (is_filter(expected))
    table.insert(table.end(), filter_properties().begin(), filter_properties().end());
  if (find_tested(expected.element) != nullptr)
    table.insert(table.end(), region_properties().begin(), region_properties().end());
  const Owned<GstElement> element = new_element(expected.element);
  for (const PropertySpec& row : table) {
    GParamSpec* spec = g_object_class_find_property(G_OBJECT_GET_CLASS(element.get()), row.name);
    fail_unless(spec != nullptr, "%s has no property %s", expected.element, row.name);
    expect_words_of(spec);
    expect_flags(spec, row.change);
    expect_range(spec, row);
    expect_default(element, spec, row);
  }
  fail_unless_equals_int(own_properties(element), table.size());
  for (const PropertySpec& row : table)
    if (row.other != nullptr)
      expect_read_back(element, row.name, row.other);
}

TEST(test_frame_packing_is_gstreamers) {
  const Owned<GstElement> element = new_element("cudasgmstereo");
  fail_unless(g_object_class_find_property(G_OBJECT_GET_CLASS(element.get()), "frame-packing")
                  ->value_type == GST_TYPE_VIDEO_MULTIVIEW_FRAME_PACKING);
}
