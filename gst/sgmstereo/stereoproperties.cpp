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

/// Presets for speed, accuracy and density. custom represents all other values.
enum class StereoPreset { custom, fast, balanced, accurate, dense };

constexpr GEnumValue presets[] = {
    enum_value(StereoPreset::custom, "Other values; setting it changes nothing", "custom"),
    enum_value(StereoPreset::fast, "The least time, without clean-up", "fast"),
    enum_value(StereoPreset::balanced, "The default", "balanced"),
    enum_value(StereoPreset::accurate, "Fewer disparities, of which fewer are wrong", "accurate"),
    enum_value(StereoPreset::dense, "A disparity for every pixel", "dense"),
    {},
};

struct PresetValues {
  StereoPreset preset;
  int speckle_size, confidence_threshold;
  bool fill_holes, refine, slanted_surfaces;
  double noise;
};

constexpr double automatic_noise = sgm::Parameters::automatic_noise;

// Chosen by the errors on pairs with ground truth, see docs/elements/stereo-accuracy.md. More paths
// and other values of uniqueness, median and lr-max-diff gained nothing.
constexpr PresetValues preset_values[] = {
    {StereoPreset::fast, 0, 0, false, false, false, 0},
    {StereoPreset::balanced, sgm::Config::automatic, 0, false, true, true, automatic_noise},
    {StereoPreset::accurate, 100, 60, false, true, true, automatic_noise},
    {StereoPreset::dense, 100, 20, true, true, true, automatic_noise},
};

/// Resolves automatic values.
auto values_of(const StereoSettings& settings) {
  const sgm::Parameters parameters = sgm::resolved(settings);
  return std::make_tuple(parameters.speckle_size, parameters.confidence_threshold,
                         parameters.fill_holes, parameters.refine, parameters.slanted_surfaces,
                         parameters.noise);
}

/// custom changes nothing.
void apply_preset(StereoPreset preset, StereoSettings& settings) {
  for (const PresetValues& values : preset_values)
    if (values.preset == preset) {
      settings.speckle_size = values.speckle_size;
      settings.confidence_threshold = values.confidence_threshold;
      settings.fill_holes = values.fill_holes;
      settings.refine = values.refine;
      settings.slanted_surfaces = values.slanted_surfaces;
      settings.noise = values.noise;
    }
}

StereoPreset preset_of(const StereoSettings& settings) {
  for (const PresetValues& values : preset_values) {
    StereoSettings with_preset = settings;
    apply_preset(values.preset, with_preset);
    if (values_of(with_preset) == values_of(settings))
      return values.preset;
  }
  return StereoPreset::custom;
}

/* Ids: first StereoSettings, then the session's, then these. */

const ElementProperties<Settings>* properties = nullptr;  // set by class_init

enum Own : guint {
  own_invalid_value = DeviceSession::property_count,
  own_disparity_scale,
  own_dropped_left,
  own_dropped_right,
  own_preset,
};

guint own_id(guint id) {
  return id - properties->count() - 1;
}

DeviceSession::Property session_property(guint id) {
  return static_cast<DeviceSession::Property>(own_id(id));
}

void install_own(GObjectClass* klass) {
  constexpr auto shown = static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  constexpr auto set = static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                                                GST_PARAM_CONTROLLABLE | GST_PARAM_MUTABLE_PLAYING);
  const sgm::DisparityScale scale = sgm::disparity_scale(Settings());
  const guint first = properties->count() + 1;
  g_object_class_install_property(
      klass, first + own_invalid_value,
      g_param_spec_uint("invalid-value", "Invalid value",
                        "GRAY16_LE sample that marks an unknown disparity", 0, G_MAXUINT16,
                        scale.invalid, shown));
  g_object_class_install_property(
      klass, first + own_disparity_scale,
      g_param_spec_int("disparity-scale", "Disparity scale",
                       "Counts of a GRAY16_LE sample per pixel of disparity", 1, 16,
                       scale.per_pixel, shown));
  g_object_class_install_property(
      klass, first + own_dropped_left,
      g_param_spec_uint64("dropped-left", "Dropped left frames",
                          "Number of left frames dropped since the start because they had no "
                          "partner, or one of another size or depth",
                          0, G_MAXUINT64, 0, shown));
  g_object_class_install_property(
      klass, first + own_dropped_right,
      g_param_spec_uint64("dropped-right", "Dropped right frames",
                          "Number of right frames dropped since the start because they had "
                          "no partner, or one of another size or depth",
                          0, G_MAXUINT64, 0, shown));
  g_object_class_install_property(
      klass, first + own_preset,
      g_param_spec_enum("preset", "Preset",
                        "Sets speckle-size, confidence-threshold, fill-holes, refine, "
                        "slanted-surfaces and noise at once; each of them may be set again "
                        "afterwards",
                        register_enum("GstCudaSgmStereoPreset", presets),
                        static_cast<gint>(preset_of(Settings())), set));
}

/// Returns the scale that properties show. The next start refuses a minimum out of range.
sgm::DisparityScale scale_of(StereoSettings settings) {
  settings.minimum = std::clamp(settings.minimum, Ranges::minimum.min, Ranges::minimum.max);
  return sgm::disparity_scale(settings);
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
  const sgm::Parameters old_shown = sgm::resolved(before), new_shown = sgm::resolved(after);
  notify("paths", new_shown.paths != old_shown.paths);
  notify("census", new_shown.census != old_shown.census);
  notify("speckle-size", new_shown.speckle_size != old_shown.speckle_size);
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
  properties = &all;
  DeviceSession::install_properties(klass, all.count() + 1);
  install_own(klass);
}

std::string stereo_range_error(const StereoSettings& settings) {
  return properties->range_error(settings);
}

void stereo_set_property(GObject* object, guint id, const GValue* value, GParamSpec* pspec) {
  StereoState& state = stereo_state(object);
  const Settings before = stereo_settings(object);
  if (properties->has(id))
    properties->set(object, id, value, pspec, state.shared.for_locking_function().settings);
  else if (own_id(id) == own_preset)
    apply_preset(static_cast<StereoPreset>(g_value_get_enum(value)), state.shared.lock()->settings);
  else
    state.session.set_property(session_property(id), value);
  notify_of_others(object, pspec, before, stereo_settings(object));
}

void stereo_get_property(GObject* object, guint id, GValue* value, GParamSpec* pspec) {
  StereoState& state = stereo_state(object);
  if (properties->has(id)) {
    properties->get(object, id, value, pspec, state.shared.for_locking_function().settings);
    return;
  }
  const Settings settings = stereo_settings(object);
  switch (own_id(id)) {
    case own_invalid_value:
      return g_value_set_uint(value, scale_of(settings).invalid);
    case own_disparity_scale:
      return g_value_set_int(value, scale_of(settings).per_pixel);
    case own_dropped_left:
      return g_value_set_uint64(value, state.shared.lock()->sides[0].dropped);
    case own_dropped_right:
      return g_value_set_uint64(value, state.shared.lock()->sides[1].dropped);
    case own_preset:
      return g_value_set_enum(value, static_cast<gint>(preset_of(settings)));
    default:
      return state.session.get_property(session_property(id), value);
  }
}

}  // namespace cudavision
