// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests everything that gst-inspect-1.0 shows: the plug-in, the elements, and all properties with
// their ranges, defaults and times of change. Also tests the sets of values with which no element
// starts.
#include <gst/video/video.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "tests/check/common/filterharness.h"

using namespace check;

namespace {

enum class Change { ready, playing, never };

struct PropertySpec {
  const char* name;
  Change change;
  const char* initial;          ///< the default, written as in a launch line
  const char* other = nullptr;  ///< another value, which must read back
  double least = 0, most = 0;   ///< the range of a number
  std::string nicks = {};       ///< the nicks of an enum; empty for GStreamer's own enums
};

constexpr double max_int = G_MAXINT32;
constexpr auto ready = Change::ready, playing = Change::playing, never = Change::never;

struct ElementSpec {
  const char* element;
  std::vector<PropertySpec> properties;
};

/// True for the elements with one input, which have more properties in common than the others.
bool is_filter(const char* element) {
  return std::strcmp(element, "cudasgmstereo") != 0;
}

const std::vector<ElementSpec>& element_specs() {
  static const std::vector<ElementSpec> list = {
      {"cudahistequalize",
       {{"method", playing, "equalize", "clahe", 0, 0, "equalize clahe"},
        {"clip-limit", playing, "2", "3.5", 0, 65536},
        {"tiles-x", ready, "8", "64", 1, 64},
        {"tiles-y", ready, "8", "1", 1, 64},
        {"channels", playing, "luma", "rgb", 0, 0, "luma rgb"},
        {"strength", playing, "1", "0.25", 0, 1},
        {"smoothing-time", playing, "0", "1000000000", 0, 18446744073709551615.0},
        {"scene-cut-threshold", playing, "0.25", "0.75", 0, 1},
        {"statistics-region", playing, "frame", "regions", 0, 0, "frame regions"},
        {"post-messages", playing, "false", "true"},
        {"message-interval", playing, "0", "12345678901", 0, 18446744073709551615.0}}},
      {"cudagaussblur",
       {{"sigma", playing, "1.2", "-12.5", -127, 127},
        {"sigma-y", playing, "0", "0.25", 0, 127},
        {"kernel-size", playing, "0", "31", 0, 1023},
        {"kernel-size-y", playing, "0", "1023", 0, 1023},
        {"border", playing, "reflect-101", "wrap", 0, 0,
         "reflect-101 replicate reflect wrap constant"},
        {"border-color", playing, "0xff000000", "0x80ff4020", 0, 4294967295.0},
        {"blur-alpha", playing, "true", "false"},
        {"fine", playing, "false", "true"}}},
      {"cudaintegral",
       {{"output", ready, "sum", "tilted-sum", 0, 0,
         "sum squared-sum tilted-sum mean stddev threshold denoise"},
        {"table-layout", ready, "padded", "same-size", 0, 0, "padded same-size"},
        {"element-type", ready, "auto", "float64", 0, 0, "auto uint32 uint64 float32 float64"},
        {"radius", playing, "7", "65535", 0, 65535},
        {"threshold-method", playing, "bradley", "sauvola", 0, 0, "bradley sauvola"},
        {"threshold-ratio", playing, "0.15", "0.25", 0, 1},
        {"threshold-k", playing, "0.2", "0.5", 0, 1},
        {"threshold-range", playing, "0", "100.5", 0, 65535},
        {"search-size", playing, "21", "101", 1, 101},
        {"patch-size", playing, "7", "1", 1, 31},
        {"denoise-strength", playing, "10", "3.25", 0, 255}}},
      {"cudasgmstereo",
       {{"output", ready, "disparity", "depth", 0, 0, "disparity depth confidence"},
        {"frame-packing", ready, "none", "top-bottom"},
        {"num-disparities", ready, "128", "1024", 32, 1024},
        {"min-disparity", ready, "0", "-2047", -2047, 2015},
        {"paths", ready, "4", "8", 4, 8},
        {"census", ready, "census-gradient", "neighbours-9x7", 0, 0,
         "census-gradient symmetric-9x7 neighbours-9x7 neighbours-5x5"},
        {"compatibility", ready, "none", "libsgm", 0, 0, "none libsgm"},
        {"memory-budget", ready, "0.25", "1000000", 0, 1e15},
        {"calibration", ready, "", "stereo.yml"},
        {"calibration-left", ready, "", "left.yaml"},
        {"calibration-right", ready, "", "right.yaml"},
        {"alpha", ready, "-1", "0.75", -1, 1},
        {"p1", playing, "0", "254", 0, 254},
        {"p2", playing, "0", "255", 0, 255},
        {"adaptive-p2", playing, "true", "false"},
        {"uniqueness", playing, "0.95", "0.5", 0, 1},
        {"subpixel", playing, "true", "false"},
        {"subpixel-method", playing, "equiangular", "parabola", 0, 0, "equiangular parabola"},
        {"median", playing, "true", "false"},
        {"lr-max-diff", playing, "1", "-1", -1, 1024},
        {"speckle-size", playing, "100", "2147483647", 0, max_int},
        {"speckle-range", playing, "1", "0", 0, 1024},
        {"confidence-threshold", playing, "0", "40", 0, 255},
        {"fill-holes", playing, "false", "true"},
        {"refine", playing, "true", "false"},
        {"temporal-alpha", playing, "1", "0.4", 1.0 / 256, 1},
        {"temporal-delta", playing, "1", "20", 0, 1024},
        {"temporal-persistence", playing, "0", "3", 0, 255},
        {"preset", playing, "balanced", "dense", 0, 0, "custom fast balanced accurate dense"},
        {"focal-length", playing, "0", "712.5", 0, 1e6},
        {"baseline", playing, "0", "63.25", 0, 1e6},
        {"depth-unit", playing, "1", "0.25", 0.001, 1e6},
        {"colormap", playing, "turbo", "jet", 0, 0, "turbo jet gray"},
        {"colormap-range", playing, "", "auto"},
        {"max-skew", playing, "-1", "9223372036854775807", -1, 9223372036854775807.0},
        {"diagnostics-interval", playing, "1000000000", "12345678901", 0, 18446744073709551615.0},
        {"invalid-value", never, "65520", nullptr, 0, 65535},
        {"disparity-scale", never, "16", nullptr, 1, 16},
        {"dropped-left", never, "0", nullptr, 0, 18446744073709551615.0},
        {"dropped-right", never, "0", nullptr, 0, 18446744073709551615.0}}},
  };
  return list;
}

/// The properties that every filter has besides those of its regions.
const std::vector<PropertySpec> filter_properties = {
    {"frames-in-flight", ready, "0", "16", 0, 16},
};

/// The properties for regions of a frame, which every filter has.
const std::vector<PropertySpec> region_properties = {
    {"regions", playing, "", "1,2,3,4;0.5,0.5,0.25,0.25"},
    {"use-roi-meta", playing, "false", "true"},
    {"region-types", playing, "", "face,plate"},
    {"region-shape", playing, "rectangle", "ellipse", 0, 0, "rectangle ellipse"},
    {"region-margin", playing, "0", "12", 0, 65535},
    {"region-feather", playing, "0", "65535", 0, 65535},
    {"region-invert", playing, "false", "true"},
};

/// The properties that every element has.
const std::vector<PropertySpec> device_properties = {
    {"backend", ready, "auto", "cpu", 0, 0, "auto cuda cpu"},
    {"active-backend", never, "none", nullptr, 0, 0, "none cpu cuda"},
    {"cuda-device-id", ready, "-1", "3", -1, max_int},
};

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

/// A value of a property, read from the text that a launch line would contain.
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
    fail_unless(static_cast<double>(minimum) == expected.least &&
                    static_cast<double>(maximum) == expected.most,
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
  if (expected.change != never &&
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
  const int expected = change == playing ? GST_PARAM_CONTROLLABLE | GST_PARAM_MUTABLE_PLAYING
                       : change == ready ? GST_PARAM_MUTABLE_READY
                                         : 0;
  fail_unless((spec->flags & mutability) == expected, "%s can change in other states", spec->name);
  fail_unless(
      (spec->flags & G_PARAM_READWRITE) == (change == never ? G_PARAM_READABLE : G_PARAM_READWRITE),
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

void expect_read_back(GstElement* element, GParamSpec* spec, const char* text) {
  Value other(spec, text), read(spec);
  g_object_set_property(G_OBJECT(element), spec->name, other.get());
  g_object_get_property(G_OBJECT(element), spec->name, read.get());
  fail_unless(read == other, "%s=%s reads back as another value", spec->name, text);
}

/// Values that contradict each other, and words of the error that name the remedy.
struct Impossible {
  const char* element;
  std::vector<const char*> formats;  ///< filters check the values when caps of these formats arrive
  Properties properties;
  std::vector<std::string> words;
};

const std::vector<Impossible>& impossible_sets() {
  static const std::vector<const char*> no_rgb = {"NV12", "GRAY8", "GRAY16_LE", "UYVY", "Y444"};
  static const std::vector<const char*> deep_rgb = {"GBR_10LE", "RGBA64_LE", "RGB10A2_LE"};
  static const Property denoise = {"output", "denoise"}, depth = {"output", "depth"};
  static constexpr char blur[] = "cudagaussblur", integral[] = "cudaintegral",
                        stereo[] = "cudasgmstereo";
  static const std::vector<std::string> rectangle = {"regions: \"", "is not a rectangle",
                                                     "x,y,width,height", "semicolons"};
  static const std::vector<Impossible> list = {
      {blur, {"I420"}, {{"regions", "1,2,3"}}, rectangle},
      {blur, {"I420"}, {{"regions", "1,2,3,4;5"}}, rectangle},
      {blur, {"I420"}, {{"regions", "1,2,3,4,5"}}, rectangle},
      {blur, {"I420"}, {{"regions", "1,2,3,"}}, rectangle},
      {blur, {"I420"}, {{"regions", "1,,2,3,4"}}, rectangle},
      {blur, {"I420"}, {{"regions", "1 2 3 4"}}, rectangle},
      {blur, {"I420"}, {{"regions", "a,2,3,4"}}, rectangle},
      {blur, {"I420"}, {{"regions", "1,2,-3,4"}}, rectangle},
      {blur, {"I420"}, {{"regions", "1,2,3,nan"}}, rectangle},
      {blur, {"I420"}, {{"regions", "1,2,3px,4"}}, rectangle},
      {blur, {"I420"}, {{"regions", "100.5,80,200,200"}}, rectangle},
      {"cudahistequalize", {"I420"}, {{"regions", "0,0,5"}}, {"\"0,0,5\" is not a rectangle"}},
      {integral, {"I420"}, {denoise, {"regions", "0,0,5"}}, {"\"0,0,5\" is not a rectangle"}},
      {integral, {"I420"}, {{"regions", "0,0,5,5"}}, {"regions", "output=denoise"}},
      {integral,
       {"I420"},
       {{"output", "mean"}, {"use-roi-meta", "true"}},
       {"use-roi-meta", "output=denoise"}},
      {"cudahistequalize", no_rgb, {{"channels", "rgb"}}, {"channels"}},
      {"cudahistequalize", deep_rgb, {{"channels", "rgb"}}, {"channels", "of 8 bits"}},
      {"cudahistequalize", no_rgb, {{"method", "clahe"}, {"channels", "rgb"}}, {"channels"}},
      {"cudahistequalize", {"I420"}, {{"clip-limit", "-1"}}, {"clip-limit=-1", "0 to 65536"}},
      {"cudahistequalize", {"I420"}, {{"tiles-x", "65"}}, {"tiles-x=65", "1 to 64"}},
      {blur, {"I420"}, {{"sigma", "500"}}, {"sigma=500", "-127 to 127"}},
      {blur, {"I420"}, {{"sigma", "nan"}}, {"sigma=nan", "-127 to 127"}},
      {blur, {"I420"}, {{"kernel-size", "1025"}}, {"kernel-size=1025", "0 to 1023"}},
      {blur, {"I420"}, {{"kernel-size", "2"}}, {"kernel-size", "1", "3"}},
      {blur, {"I420"}, {{"kernel-size", "64"}}, {"kernel-size", "63", "65"}},
      {blur, {"I420"}, {{"kernel-size", "1022"}}, {"kernel-size", "1021", "1023"}},
      {blur, {"I420"}, {{"kernel-size-y", "2"}}, {"kernel-size-y", "1", "3"}},
      {blur, {"I420"}, {{"kernel-size-y", "64"}}, {"kernel-size-y", "63", "65"}},
      {blur, {"I420"}, {{"kernel-size-y", "1022"}}, {"kernel-size-y", "1021", "1023"}},
      {integral, {"I420"}, {{"radius", "70000"}}, {"radius=70000", "0 to 65535"}},
      {integral, {"I420"}, {denoise, {"search-size", "6"}}, {"search-size=5", "search-size=7"}},
      {integral, {"I420"}, {denoise, {"patch-size", "6"}}, {"patch-size=5", "patch-size=7"}},
      {stereo, {}, {{"p1", "50"}, {"p2", "50"}}, {"p1", "p2", "50"}},
      {stereo, {}, {{"p1", "230"}}, {"p1", "p2", "223"}},
      {stereo, {}, {{"p2", "224"}}, {"p2", "223"}},
      {stereo, {}, {{"p2", "1"}}, {"p2", "2 to 223", "or 0"}},
      {stereo, {}, {{"census", "symmetric-9x7"}, {"p2", "225"}}, {"p2", "224"}},
      {stereo, {}, {{"census", "neighbours-9x7"}, {"p2", "194"}}, {"p2", "193"}},
      {stereo, {}, {{"census", "neighbours-5x5"}, {"p2", "232"}}, {"p2", "231"}},
      {stereo, {}, {{"num-disparities", "100"}}, {"num-disparities", "32"}},
      {stereo, {}, {{"num-disparities", "2048"}}, {"num-disparities", "2048", "32 to 1024"}},
      {stereo, {}, {{"max-skew", "-2"}}, {"max-skew=-2", "at least -1"}},
      {stereo, {}, {{"min-disparity", "2000"}}, {"min-disparity", "num-disparities"}},
      {stereo, {}, {{"paths", "6"}}, {"paths", "4", "8"}},
      {stereo, {}, {{"memory-budget", "0"}}, {"memory-budget", "share", "bytes"}},
      {stereo,
       {},
       {{"compatibility", "libsgm"}, {"census", "neighbours-5x5"}},
       {"census", "symmetric-9x7"}},
      {stereo,
       {},
       {{"census", "census-gradient"}, {"compatibility", "libsgm"}},
       {"census", "symmetric-9x7"}},
      {stereo, {}, {{"alpha", "-0.5"}}, {"alpha", "from 0 to 1", "-1"}},
      {stereo, {}, {{"colormap-range", "9,2"}}, {"colormap-range", "the larger one"}},
      {stereo, {}, {depth}, {"focal-length", "baseline", "calibration"}},
      {stereo, {}, {depth, {"focal-length", "500"}}, {"baseline", "mm"}},
      {stereo, {}, {depth, {"baseline", "100"}}, {"focal-length", "pixels"}},
  };
  return list;
}

/// Sets of one property each, just beyond either end of its range.
std::vector<Impossible> sets_out_of_range() {
  std::vector<Impossible> list;
  for (const ElementSpec& spec : element_specs()) {
    const bool filter = is_filter(spec.element);
    const auto add = [&](const PropertySpec& row, double number, bool at_start) {
      char text[32];
      std::snprintf(text, sizeof text, "%.10g", number);
      list.push_back({spec.element,
                      at_start ? std::vector<const char*>{} : std::vector<const char*>{"I420"},
                      {{row.name, text}},
                      {row.name, text}});
    };
    const auto add_ends = [&](const PropertySpec& row, bool at_start) {
      // Other types of numbers hold nothing beyond these ends.
      const bool is_unsigned = row.least == 0 && row.most > max_int;
      if (row.change == never || row.least == row.most || is_unsigned)
        return;
      add(row, row.least - 1, at_start);
      if (row.most < max_int)
        add(row, row.most + 1, at_start);
    };
    for (const PropertySpec& row : spec.properties)
      add_ends(row, !filter);
    for (const PropertySpec& row : region_properties)
      if (filter)
        add_ends(row, false);
    for (const PropertySpec& row : filter_properties)
      if (filter)
        add_ends(row, true);
    for (const PropertySpec& row : device_properties)
      add_ends(row, true);
  }
  return list;
}

void expect_refused_caps(const Impossible& set, const FormatSpec& format) {
  FilterHarness filter(set.element, set.properties);
  filter.send_caps(caps_of(format, 32, 16, colorimetry(format, false)));
  const GstFlowReturn flow = filter.push(to_buffer(Picture(format, 32, 16)));
  fail_unless(flow == GST_FLOW_NOT_NEGOTIATED || flow == GST_FLOW_ERROR, "flow %s",
              gst_flow_get_name(flow));
  // There may be two errors, because the pad offers the refused caps again with the frame.
  fail_unless(filter.messages().count(GST_MESSAGE_ERROR) >= 1);
  expect_words(filter.messages().text(GST_MESSAGE_ERROR), set.words);
  fail_unless(filter.pull() == nullptr);
}

void expect_refusal(const Impossible& set) {
  if (set.formats.empty())
    expect_words(expect_failed_start(make_element(set.element, set.properties).get()), set.words);
  for (const char* format : set.formats)
    expect_refused_caps(set, format_named(format));
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

// The tables above must contain every element of the plug-in.
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
  table.insert(table.end(), device_properties.begin(), device_properties.end());
  if (is_filter(expected.element))
    for (const auto* more : {&filter_properties, &region_properties})
      table.insert(table.end(), more->begin(), more->end());
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
      expect_read_back(element,
                       g_object_class_find_property(G_OBJECT_GET_CLASS(element.get()), row.name),
                       row.other);
}

TEST(test_frame_packing_is_gstreamers) {
  const Owned<GstElement> element = new_element("cudasgmstereo");
  fail_unless(g_object_class_find_property(G_OBJECT_GET_CLASS(element.get()), "frame-packing")
                  ->value_type == GST_TYPE_VIDEO_MULTIVIEW_FRAME_PACKING);
}

TEST(test_impossible_at_start, .times(impossible_sets().size())) {
  expect_refusal(impossible_sets()[static_cast<std::size_t>(index)]);
}

TEST(test_out_of_range_at_start) {
  const std::vector<Impossible> sets = sets_out_of_range();
  fail_unless(sets.size() > 50, "only %d numbers", static_cast<int>(sets.size()));
  for (const Impossible& set : sets) {
    const Owned<GstElement> element = new_element(set.element);
    const Property& property = set.properties[0];
    expect_read_back(
        element, g_object_class_find_property(G_OBJECT_GET_CLASS(element.get()), property.first),
        property.second.c_str());
    expect_refusal(set);
  }
}

// Scale and invalid value of a map of disparities are known before the element makes one.
TEST(test_scale_and_invalid_value) {
  const Owned<GstElement> element = new_element("cudasgmstereo");
  const auto expect = [&](gint scale, guint invalid) {
    gint scale_now = 0;
    guint invalid_now = 0;
    g_object_get(element, "disparity-scale", &scale_now, "invalid-value", &invalid_now, nullptr);
    fail_unless_equals_int(scale_now, scale);
    fail_unless_equals_int(invalid_now, invalid);
  };
  const auto set = [&](const char* name, const char* value) { set_property(element, name, value); };
  std::vector<std::string> notified;
  const auto on_notify = +[](GObject*, GParamSpec* spec, gpointer list) {
    static_cast<std::vector<std::string>*>(list)->push_back(spec->name);
  };
  for (const char* signal : {"notify::invalid-value", "notify::disparity-scale"})
    g_signal_connect(element, signal, G_CALLBACK(on_notify), &notified);
  expect(16, 65520);
  set("min-disparity", "1");
  expect(16, 0);
  set("min-disparity", "10");
  expect(16, 144);
  set("min-disparity", "-2047");
  expect(16, 65536 - 2048 * 16);
  fail_unless((notified == std::vector<std::string>(3, "invalid-value")));
  set("min-disparity", "0");
  set("subpixel", "false");
  expect(16, 65520);
  notified.clear();
  set("compatibility", "libsgm");
  expect(1, 65535);
  std::sort(notified.begin(), notified.end());
  fail_unless((notified == std::vector<std::string>{"disparity-scale", "invalid-value"}));
  set("min-disparity", "-3");
  expect(1, 65532);
  set("subpixel", "true");
  expect(16, 65536 - 64);
  set("p1", "3");
  fail_unless_equals_int(notified.size(), 5);
}

// With compatibility=libsgm, properties that nobody has set are libSGM's.
TEST(test_defaults_of_libsgm) {
  const Owned<GstElement> element = new_element("cudasgmstereo");
  std::vector<std::string> notified;
  const auto on_notify = +[](GObject*, GParamSpec* spec, gpointer list) {
    static_cast<std::vector<std::string>*>(list)->push_back(spec->name);
  };
  g_signal_connect(element, "notify", G_CALLBACK(on_notify), &notified);
  const auto expect = [&](gint paths, const char* census, gint speckle_size) {
    gint paths_now = 0, speckle_size_now = 0;
    g_object_get(element, "paths", &paths_now, "speckle-size", &speckle_size_now, nullptr);
    fail_unless_equals_int(paths_now, paths);
    fail_unless_equals_int(speckle_size_now, speckle_size);
    const GParamSpec* spec =
        g_object_class_find_property(G_OBJECT_GET_CLASS(element.get()), "census");
    Value now(spec), expected(spec, census);
    g_object_get_property(G_OBJECT(element.get()), "census", now.get());
    fail_unless(now == expected, "census is not %s", census);
  };
  expect(4, "census-gradient", 100);
  set_property(element, "compatibility", "libsgm");
  expect(8, "symmetric-9x7", 0);
  std::sort(notified.begin(), notified.end());
  fail_unless(
      (notified == std::vector<std::string>{"census", "compatibility", "paths", "speckle-size"}));
  set_property(element, "paths", "4");
  set_property(element, "speckle-size", "30");
  expect(4, "symmetric-9x7", 30);
  set_property(element, "compatibility", "none");
  expect(4, "census-gradient", 30);
}
