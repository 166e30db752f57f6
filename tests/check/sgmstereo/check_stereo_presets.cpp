// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests the properties of cudasgmstereo that set other properties: preset and compatibility=libsgm.
// Also tests the scale and invalid value of maps, and confidence-threshold.
#include <cstdlib>
#include <map>
#include <utility>

#include "tests/check/common/definitions/stereodefinition.h"
#include "tests/check/common/stereoharness.h"

using namespace check;

namespace {

constexpr int width = 80, height = 40;

struct Preset {
  const char* name;
  Properties values;
};

Preset preset(const char* name, const char* speckle_size, const char* confidence_threshold,
              const char* fill_holes, const char* refine, const char* slanted_surfaces,
              const char* noise) {
  return {name,
          {{"speckle-size", speckle_size},
           {"confidence-threshold", confidence_threshold},
           {"fill-holes", fill_holes},
           {"refine", refine},
           {"slanted-surfaces", slanted_surfaces},
           {"noise", noise}}};
}

// The presets that docs/elements/stereo-accuracy.md lists.
const Preset presets[] = {preset("fast", "0", "0", "false", "false", "false", "0"),
                          preset("balanced", "100", "0", "false", "true", "true", "-1"),
                          preset("accurate", "100", "60", "false", "true", "true", "-1"),
                          preset("dense", "100", "20", "true", "true", "true", "-1")};

void expect_values(GstElement* element, const Properties& values, const char* what) {
  for (const auto& [name, value] : values) {
    const std::string now = value_of(element, name);
    fail_unless(now == value, "%s: %s is %s", what, name, now.c_str());
  }
}

/// Counts the notifications of each property.
class Notifications {
 public:
  explicit Notifications(GstElement* element) {
    g_signal_connect(element, "notify", G_CALLBACK(+[](GObject*, GParamSpec* spec, gpointer self) {
                       ++static_cast<Notifications*>(self)->counts_[spec->name];
                     }),
                     this);
  }

  /// Returns how often each property was notified since the last call.
  std::map<std::string, int> take() { return std::exchange(counts_, {}); }

 private:
  std::map<std::string, int> counts_;
};

using Counts = std::map<std::string, int>;

struct DoubtfulPair {
  Picture left = make_picture(gray(), width, height, Content::random, 3);
  Picture right = shifted(left, 7);

  DoubtfulPair() {
    const Picture other = noise_picture(*left.format, width, height, 4);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        const int doubt = x < 30 ? 0 : x < 55 ? 1 : 3;  // weight of `other`, in quarters
        const int value = (4 - doubt) * right.sample(0, x, y) + doubt * other.sample(0, x, y);
        right.set_sample(0, x, y, value / 4);
      }
  }
};

Picture map_of(const Properties& properties, const DoubtfulPair& pair) {
  StereoHarness stereo(joined(properties, {{"num-disparities", "32"}}));
  stereo.accept_gray(width, height);
  return stereo.match(pair.left, pair.right);
}

}  // namespace

TEST(test_presets_set_properties) {
  const Owned<GstElement> element = make_element("cudasgmstereo");
  fail_unless(value_of(element, "preset") == "balanced");
  for (const Preset& preset : presets) {
    set_property(element, "preset", preset.name);
    expect_values(element, preset.values, preset.name);
    fail_unless(value_of(element, "preset") == preset.name, "%s", preset.name);
  }
}

TEST(test_presets_are_their_properties) {
  const DoubtfulPair pair;
  std::vector<Picture> maps;
  for (const Preset& preset : presets) {
    maps.push_back(map_of({{"preset", preset.name}}, pair));
    expect_picture(maps.back(), map_of(preset.values, pair), preset.name);
    for (std::size_t i = 0; i + 1 < maps.size(); ++i)
      fail_unless(!difference(maps.back(), maps[i]).empty(), "%s has no effect", preset.name);
  }
  expect_picture(maps[1], map_of({}, pair), "balanced is the default");
}

// A property that is set after a preset overrides it, and the preset becomes custom.
TEST(test_properties_after_a_preset) {
  const Owned<GstElement> element = make_element("cudasgmstereo");
  set_property(element, "preset", "dense");
  set_property(element, "confidence-threshold", "77");
  fail_unless(value_of(element, "preset") == "custom");
  expect_values(element, {{"fill-holes", "true"}, {"confidence-threshold", "77"}}, "dense");
  set_property(element, "preset", "custom");
  expect_values(element, {{"fill-holes", "true"}, {"confidence-threshold", "77"}}, "custom");
  set_property(element, "confidence-threshold", "20");
  fail_unless(value_of(element, "preset") == "dense");
  set_property(element, "preset", "balanced");
  set_property(element, "fill-holes", "true");
  set_property(element, "preset", "balanced");
  expect_values(element, presets[1].values, "balanced");
}

TEST(test_presets_notify) {
  const Owned<GstElement> element = make_element("cudasgmstereo");
  Notifications notifications(element);
  set_property(element, "preset", "dense");
  fail_unless((notifications.take() ==
               Counts{{"preset", 1}, {"confidence-threshold", 1}, {"fill-holes", 1}}));
  set_property(element, "preset", "fast");
  fail_unless((notifications.take() == Counts{{"preset", 1},
                                              {"confidence-threshold", 1},
                                              {"fill-holes", 1},
                                              {"speckle-size", 1},
                                              {"refine", 1},
                                              {"slanted-surfaces", 1},
                                              {"noise", 1}}));
  set_property(element, "refine", "true");
  fail_unless((notifications.take() == Counts{{"preset", 1}, {"refine", 1}}));
  set_property(element, "speckle-size", "5");
  fail_unless((notifications.take() == Counts{{"speckle-size", 1}}));  // custom stays custom
}

// With libsgm, the automatic speckle-size is 0, but the preset still reads as "balanced".
TEST(test_preset_with_libsgm) {
  const Owned<GstElement> element =
      make_element("cudasgmstereo", {{"compatibility", "libsgm"}, {"preset", "balanced"}});
  expect_values(element, {{"preset", "balanced"}, {"speckle-size", "0"}}, "libsgm");
  set_property(element, "preset", "dense");
  expect_values(element, {{"preset", "dense"}, {"speckle-size", "100"}}, "libsgm");
}

TEST(test_preset_while_playing) {
  const DoubtfulPair pair;
  StereoHarness stereo(Properties(1, {"num-disparities", "32"}));
  stereo.accept_gray(width, height);
  for (const char* name : {"dense", "fast", "accurate", "balanced"}) {
    stereo.set("preset", name);
    expect_picture(stereo.match(pair.left, pair.right), map_of({{"preset", name}}, pair), name);
  }
  fail_unless_equals_int(stereo.messages().complaints(), 0);
}

TEST(test_confidence_threshold) {
  const DoubtfulPair pair;
  const Properties raw = {{"refine", "false"}};
  const Picture map = map_of(raw, pair);
  const Picture confidence = map_of(joined(raw, {{"output", "confidence"}}), pair);
  for (const char* threshold : {"1", "30", "120", "255"}) {
    const int minimum = std::atoi(threshold);
    const Picture kept = map_of(joined(raw, {{"confidence-threshold", threshold}}), pair);
    const Picture kept_confidence =
        map_of(joined(raw, {{"confidence-threshold", threshold}, {"output", "confidence"}}), pair);
    int dropped = 0;
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        const int c = confidence.sample(0, x, y);
        dropped += c < minimum && disparity_at(map, x, y) != -16;
        fail_unless_equals_int(disparity_at(kept, x, y),
                               c < minimum ? -16 : disparity_at(map, x, y));
        fail_unless_equals_int(kept_confidence.sample(0, x, y), c < minimum ? 0 : c);
      }
    fail_unless(dropped > 0 || minimum == 1, "%s drops nothing", threshold);
  }
}

TEST(test_confidence_threshold_before_filling) {
  const DoubtfulPair pair;
  const Picture filled = map_of({{"confidence-threshold", "120"}, {"fill-holes", "true"}}, pair);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      fail_unless(disparity_at(filled, x, y) != -16, "(%d, %d) is unknown", x, y);
}

TEST(test_scale_and_invalid_value) {
  const Owned<GstElement> element = new_element("cudasgmstereo");
  const auto set = [&](const char* name, const char* value) { set_property(element, name, value); };
  const auto expect = [&](const char* scale, const char* invalid, const char* what) {
    expect_values(element, {{"disparity-scale", scale}, {"invalid-value", invalid}}, what);
  };
  Notifications notifications(element);
  expect("16", "65520", "new");
  set("min-disparity", "1");
  expect("16", "0", "min-disparity=1");
  set("min-disparity", "10");
  expect("16", "144", "min-disparity=10");
  set("min-disparity", "-2047");
  expect("16", std::to_string(65536 - 2048 * 16).c_str(), "min-disparity=-2047");
  fail_unless((notifications.take() == Counts{{"min-disparity", 3}, {"invalid-value", 3}}));
  set("min-disparity", "0");
  set("subpixel", "false");
  expect("16", "65520", "subpixel=false");
  notifications.take();
  set("compatibility", "libsgm");
  expect("1", "65535", "libsgm");
  const Counts counts = notifications.take();
  fail_unless(counts.count("disparity-scale") == 1 && counts.count("invalid-value") == 1);
  set("min-disparity", "-3");
  expect("1", "65532", "libsgm, min-disparity=-3");
  set("subpixel", "true");
  expect("16", "65472", "libsgm, min-disparity=-3, subpixel=true");
  notifications.take();
  set("p1", "3");
  fail_unless((notifications.take() == Counts{{"p1", 1}}));
}

// With compatibility=libsgm, properties that were not set have libSGM's values.
TEST(test_defaults_of_libsgm) {
  const Owned<GstElement> element = new_element("cudasgmstereo");
  const auto expect = [&](const char* paths, const char* census, const char* speckle_size) {
    expect_values(element, {{"paths", paths}, {"census", census}, {"speckle-size", speckle_size}},
                  "libsgm");
  };
  Notifications notifications(element);
  expect("4", "census-gradient", "100");
  set_property(element, "compatibility", "libsgm");
  expect("8", "symmetric-9x7", "0");
  fail_unless((notifications.take() ==
               Counts{{"census", 1}, {"compatibility", 1}, {"paths", 1}, {"speckle-size", 1}}));
  set_property(element, "paths", "4");
  set_property(element, "speckle-size", "30");
  expect("4", "symmetric-9x7", "30");
  set_property(element, "compatibility", "none");
  expect("4", "census-gradient", "30");
}
