// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/stereoproperties.h"

#include <algorithm>
#include <cstring>
#include <tuple>

#include "gst/sgmstereo/pads/stereostate.h"

namespace cudavision {
namespace {

using Settings = StereoSettings;
using Ranges = sgm::Parameters::Ranges;

enum class StereoPreset { custom, fast, balanced, accurate, dense };  // custom: any other values

struct Preset {
  StereoPreset name;
  std::tuple<int, int, bool, bool, bool, double> values;
};

auto preset_members(sgm::Parameters& parameters) {
  return std::tie(parameters.speckle_size, parameters.confidence_threshold, parameters.fill_holes,
                  parameters.refine, parameters.slanted_surfaces, parameters.noise);
}

constexpr double automatic_noise = sgm::Parameters::automatic_noise;

// docs/elements/stereo-accuracy.md lists the errors of the presets on pairs with ground truth.
constexpr Preset presets[] = {
    {StereoPreset::fast, {0, 0, false, false, false, 0}},
    {StereoPreset::balanced, {sgm::Config::automatic, 0, false, true, true, automatic_noise}},
    {StereoPreset::accurate, {100, 60, false, true, true, automatic_noise}},
    {StereoPreset::dense, {100, 20, true, true, true, automatic_noise}},
};

StereoPreset preset_of(const StereoSettings& settings) {
  sgm::Parameters resolved = sgm::resolved(settings);
  for (const Preset& preset : presets) {
    StereoSettings with_preset = settings;
    preset_members(with_preset) = preset.values;
    sgm::Parameters of_preset = sgm::resolved(with_preset);
    if (preset_members(of_preset) == preset_members(resolved))
      return preset.name;
  }
  return StereoPreset::custom;
}

const ElementProperties<Settings>* properties = nullptr;  // set by class_init

/// Clamps min-disparity, because an invalid value causes no error before the next start.
sgm::DisparityScale scale_of(StereoSettings settings) {
  settings.minimum = std::clamp(settings.minimum, Ranges::minimum.min, Ranges::minimum.max);
  return sgm::disparity_scale(settings);
}

void add_derived_properties(ElementProperties<Settings>& all) {
  constexpr auto read_only = static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  constexpr auto writable =
      static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_CONTROLLABLE |
                               GST_PARAM_MUTABLE_PLAYING);
  const sgm::DisparityScale scale = sgm::disparity_scale(Settings());
  all.add(g_param_spec_uint("invalid-value", "Invalid value",
                            "GRAY16_LE sample that marks an unknown disparity", 0, G_MAXUINT16,
                            scale.invalid, read_only),
          [](GObject* self, const Settings&, GValue* value) {
            g_value_set_uint(value, scale_of(stereo_settings(self)).invalid);
          });
  all.add(g_param_spec_int(
              "disparity-scale", "Disparity scale",
              "GRAY16_LE value of one pixel of disparity; divide samples by it to get pixels", 1,
              16, scale.per_pixel, read_only),
          [](GObject* self, const Settings&, GValue* value) {
            g_value_set_int(value, scale_of(stereo_settings(self)).per_pixel);
          });
  const auto add_dropped = [&](std::size_t side, const PropertySpec& spec) {
    all.add(g_param_spec_uint64(spec.name, spec.nick, spec.blurb, 0, G_MAXUINT64, 0, read_only),
            [=](GObject* self, const Settings&, GValue* value) {
              g_value_set_uint64(value, stereo_state(self).shared.lock()->sides[side].dropped);
            });
  };
  add_dropped(0, {"dropped-left", "Dropped left frames",
                  "Number of left frames dropped since the start because they had no partner of "
                  "equal size and bit depth"});
  add_dropped(1, {"dropped-right", "Dropped right frames",
                  "Number of right frames dropped since the start because they had no partner of "
                  "equal size and bit depth"});
  all.add(
      g_param_spec_enum(
          "preset", "Preset",
          "Sets speckle-size, confidence-threshold, fill-holes, refine, "
          "slanted-surfaces and noise together; each can be changed afterwards",
          register_enum(
              "GstCudaSgmStereoPreset",
              {EnumValue{StereoPreset::custom, "Any other values; setting custom changes nothing",
                         "custom"},
               EnumValue{StereoPreset::fast, "Fastest, without clean-up", "fast"},
               EnumValue{StereoPreset::balanced, "The default", "balanced"},
               EnumValue{StereoPreset::accurate, "Fewer but more reliable disparities", "accurate"},
               EnumValue{StereoPreset::dense, "A disparity for every pixel", "dense"}}),
          static_cast<gint>(preset_of(Settings())), writable),
      [](GObject* self, const Settings&, GValue* value) {
        g_value_set_enum(value, static_cast<gint>(preset_of(stereo_settings(self))));
      },
      [](Settings& settings, const GValue* value) {
        for (const Preset& preset : presets)
          if (static_cast<gint>(preset.name) == g_value_get_enum(value))
            preset_members(settings) = preset.values;
      });
}

void notify_of_others(GObject* object, const GParamSpec* pspec, const Settings& before,
                      const Settings& after) {
  const auto notify = [&](const char* name, bool changed) {
    if (changed && std::strcmp(name, pspec->name) != 0)
      g_object_notify(object, name);
  };
  const sgm::DisparityScale old_scale = scale_of(before);
  const sgm::DisparityScale scale = scale_of(after);
  notify("invalid-value", scale.invalid != old_scale.invalid);
  notify("disparity-scale", scale.per_pixel != old_scale.per_pixel);
  const sgm::Parameters old_resolved = sgm::resolved(before), new_resolved = sgm::resolved(after);
  notify("paths", new_resolved.paths != old_resolved.paths);
  notify("census", new_resolved.census != old_resolved.census);
  notify("speckle-size", new_resolved.speckle_size != old_resolved.speckle_size);
  notify("confidence-threshold", after.confidence_threshold != before.confidence_threshold);
  notify("fill-holes", after.fill_holes != before.fill_holes);
  notify("refine", after.refine != before.refine);
  notify("slanted-surfaces", after.slanted_surfaces != before.slanted_surfaces);
  notify("noise", before.noise != after.noise);
  notify("preset", preset_of(after) != preset_of(before));
}

}  // namespace

void install_stereo_properties(GObjectClass* klass) {
  static ElementProperties<Settings> all(klass);
  add_stereo_properties(all);
  add_device_properties(
      all, +[](gpointer self) -> DeviceSession& { return stereo_state(self).session; });
  add_derived_properties(all);
  properties = &all;
}

std::string stereo_range_error(const StereoSettings& settings) {
  return properties->range_error(settings);
}

void stereo_set_property(GObject* object, guint id, const GValue* value, GParamSpec* pspec) {
  const Settings before = stereo_settings(object);
  properties->set(object, id, value, stereo_state(object).shared.for_locking_function().settings);
  notify_of_others(object, pspec, before, stereo_settings(object));
}

void stereo_get_property(GObject* object, guint id, GValue* value, GParamSpec*) {
  properties->get(object, id, value, stereo_state(object).shared.for_locking_function().settings);
}

}  // namespace cudavision
