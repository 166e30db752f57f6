// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests what gst-inspect-1.0 shows: elements, properties, ranges, defaults and mutability. Also
// tests the errors about values that prevent a start.
#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "tests/check/common/filterharness.h"

using namespace check;

namespace {

constexpr auto ready = Change::ready, playing = Change::playing, never = Change::never;

bool is_filter(const ElementSpec& spec) {
  const Owned<GstElement> element = new_element(spec.element);
  return GST_IS_BASE_TRANSFORM(element.get());
}

const std::vector<PropertySpec> filter_properties = {
    {"frames-in-flight", ready, "0", "16", 0, 16},
};

const std::vector<PropertySpec> region_properties = {
    {"regions", playing, "", "1,2,3,4;0.5,0.5,0.25,0.25"},
    {"use-roi-meta", playing, "false", "true"},
    {"region-types", playing, "", "face,plate"},
    {"region-confidence", playing, "0", "0.5", 0, 1},
    {"region-masks", playing, "prefer", "only", 0, 0, "prefer ignore only"},
    {"region-shape", playing, "rectangle", "ellipse", 0, 0, "rectangle ellipse"},
    {"region-margin", playing, "0", "12", 0, 65535},
    {"region-feather", playing, "0", "65535", 0, 65535},
    {"region-invert", playing, "false", "true"},
    {"regions-missing", playing, "pass", "all", 0, 0, "pass all"},
    {"region-persistence", playing, "0", "200000000", 0, 18446744073709551615.0},
};

const std::vector<PropertySpec> device_properties = {
    {"backend", ready, "auto", "cpu", 0, 0, "auto cuda cpu"},
    {"active-backend", never, "none", nullptr, 0, 0, "none cpu cuda"},
    {"cuda-device-id", ready, "-1", "3", -2, G_MAXINT32},
};

class Value {
 public:
  explicit Value(const GParamSpec* spec) { g_value_init(&value_, spec->value_type); }
  Value(const GParamSpec* spec, const char* text) : Value(spec) {
    fail_unless(gst_value_deserialize(&value_, text), "%s is not a value of %s", text, spec->name);
  }
  Value(const GParamSpec* spec, double number) : Value(spec) {
    g_value_set_double(&value_, number);
  }
  ~Value() { g_value_unset(&value_); }
  Value(const Value&) = delete;
  Value& operator=(const Value&) = delete;
  GValue* get() { return &value_; }
  bool operator==(Value& other) {
    return gst_value_compare(&value_, other.get()) == GST_VALUE_EQUAL;
  }

 private:
  GValue value_ = G_VALUE_INIT;
};

void expect_read_back(GstElement* element, const char* property, const char* text) {
  const GParamSpec* spec = g_object_class_find_property(G_OBJECT_GET_CLASS(element), property);
  Value other(spec, text), read(spec);
  g_object_set_property(G_OBJECT(element), property, other.get());
  g_object_get_property(G_OBJECT(element), property, read.get());
  fail_unless(read == other, "%s=%s reads back as another value", property, text);
}

bool is_ours(const GParamSpec* spec) {
  const std::string owner = g_type_name(spec->owner_type);
  return owner != "GstObject" && owner != "GstBaseTransform" && owner != "GstAggregator";
}

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

/// GObject must accept every number unchanged; the element itself refuses numbers out of range.
void expect_no_check(GParamSpec* spec, Value& value) {
  Value before(spec);
  g_value_copy(value.get(), before.get());
  fail_unless(!g_param_value_validate(spec, value.get()), "GObject refuses a value of %s",
              spec->name);
  fail_unless(std::memcmp(value.get(), before.get(), sizeof(GValue)) == 0,
              "GObject changes a value of %s", spec->name);
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

void expect_default(GstElement* element, GParamSpec* spec, const PropertySpec& expected) {
  Value now(spec), initial(spec, expected.initial);
  g_object_get_property(G_OBJECT(element), spec->name, now.get());
  fail_unless(now == initial && g_param_value_defaults(spec, now.get()),
              "%s does not have its default in a new element", spec->name);
}

struct Refused {
  const char* element;
  Impossible set;
};

/// Every element with regions refuses these texts and quotes the text after the semicolon, if any.
const std::string not_rectangles[] = {"1,2,3",     "1,2,3,4;5",       "1,2,3,4,5", "1,2,3,",
                                      "1,,2,3,4",  "1 2 3 4",         "a,2,3,4",   "1,2,3,nan",
                                      "1,2,3px,4", "100.5,80,200,200"};

const std::vector<Refused>& impossible_sets() {
  static const std::vector<Refused> list = [] {
    std::vector<Refused> sets;
    for (const ElementSpec& spec : element_specs())
      for (const Impossible& set : spec.impossible)
        sets.push_back({spec.element, set});
    for (const ElementUnderTest& filter : tested_elements())
      for (const std::string& text : not_rectangles) {
        const Properties properties = joined(filter.always, {{"regions", text}});
        const std::string refused =
            "regions: \"" + text.substr(text.rfind(';') + 1) + "\" is not a rectangle";
        sets.push_back(
            {filter.element, {properties, {refused, "x,y,width,height", "semicolons"}, {"I420"}}});
      }
    for (const ElementUnderTest& filter : tested_elements())
      for (const std::string text : {"1,2,-3,4", "0.1,0.1,0.5,-0.5"})
        sets.push_back({filter.element,
                        {joined(filter.always, {{"regions", "1,2,3,4;" + text}}),
                         {"regions: \"" + text + "\" has a negative width or height"},
                         {"I420"}}});
    return sets;
  }();
  return list;
}

std::vector<Refused> sets_out_of_range() {
  std::vector<Refused> list;
  for (const ElementSpec& spec : element_specs()) {
    const bool filter = is_filter(spec);
    const auto add_ends = [&](const std::vector<PropertySpec>& rows, bool at_start) {
      for (const PropertySpec& row : rows)
        for (const double number : row.out_of_range()) {
          char text[32];
          std::snprintf(text, sizeof text, "%.10g", number);
          list.push_back({spec.element, {{{row.name, text}}, {row.name, text}}});
          if (!at_start)
            list.back().set.formats = {"I420"};
        }
    };
    add_ends(spec.properties, !filter);
    if (filter)
      add_ends(filter_properties, true);
    if (find_tested(spec.element) != nullptr)
      add_ends(region_properties, false);
    add_ends(device_properties, true);
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
  // There may be two errors, because the pad sends the refused caps again with the frame.
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

TEST(test_plugin) {
  const Owned<GstPlugin> plugin(gst_registry_find_plugin(gst_registry_get(), "cudavision"));
  fail_unless(plugin != nullptr, "no plug-in cudavision: is GST_PLUGIN_PATH set?");
  fail_unless_equals_string(gst_plugin_get_license(plugin), "LGPL");
  for (const char* text : {gst_plugin_get_description(plugin), gst_plugin_get_version(plugin),
                           gst_plugin_get_package(plugin), gst_plugin_get_origin(plugin)})
    fail_unless(text != nullptr && *text != '\0');
}

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

TEST(test_properties, .times(element_specs().size())) {
  const ElementSpec& expected = element_specs()[index];
  std::vector<PropertySpec> table = expected.properties;
  table.insert(table.end(), device_properties.begin(), device_properties.end());
  if (is_filter(expected))
    table.insert(table.end(), filter_properties.begin(), filter_properties.end());
  if (find_tested(expected.element) != nullptr)
    table.insert(table.end(), region_properties.begin(), region_properties.end());
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

TEST(test_impossible_at_start, .times(impossible_sets().size())) {
  expect_refusal(impossible_sets()[index]);
}

TEST(test_out_of_range_at_start) {
  const std::vector<Refused> sets = sets_out_of_range();
  fail_unless(sets.size() > 50, "only %d values out of range", static_cast<int>(sets.size()));
  for (const Refused& refused : sets) {
    const Owned<GstElement> element = new_element(refused.element);
    const Property& property = refused.set.properties[0];
    expect_read_back(element, property.first, property.second.c_str());
    expect_refusal(refused);
  }
}
