// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/integral/noisemessages.h"

#include <cmath>
#include <vector>

namespace cudavision {
namespace {

double levels_of(std::uint32_t variance) {
  return std::sqrt(variance) / noise::Level::per_level;
}

void add_array(GstStructure* structure, const char* field, const std::vector<double>& numbers) {
  GValue array = G_VALUE_INIT;
  g_value_init(&array, GST_TYPE_ARRAY);
  for (const double number : numbers) {
    GValue value = G_VALUE_INIT;
    g_value_init(&value, G_TYPE_DOUBLE);
    g_value_set_double(&value, number);
    gst_value_array_append_and_take_value(&array, &value);
  }
  gst_structure_take_value(structure, field, &array);
}

}  // namespace

void NoiseMessages::allocate() {
  std::array<Slot, slot_count> slots;
  for (Slot& slot : slots)
    slot.host = session().device().allocate_host(FrameLayout::max_channels * sizeof(noise::State));
  slots_ = std::move(slots);
}

void NoiseMessages::read_back(const FrameTimes& times, const FrameLayout& layout,
                              const nlmeans::Parameters& parameters, const noise::State* states) {
  Slot& slot = slots_[next()];
  slot.layout = layout;
  slot.parameters = parameters;
  download(states, slot.host);
  DeviceMessages::read_back(times);
}

Structure NoiseMessages::describe(std::size_t number, const FrameTimes& times) {
  const Slot& slot = slots_[number];
  const auto* const states = slot.host.as<const noise::State>();
  std::vector<double> noise, used, strengths;
  for (int c = 0; c < slot.layout.channel_count; ++c) {
    if (slot.layout.channels[c].role == Role::alpha)
      continue;
    noise.push_back(levels_of(states[c].measured));
    used.push_back(levels_of(states[c].used.variance));
    strengths.push_back(nlmeans::strength_under_noise(slot.layout, slot.parameters, c, states));
  }
  Structure structure = structure_with_times("cudaintegral", times);
  add_array(structure.get(), "noise", noise);
  add_array(structure.get(), "noise-used", used);
  add_array(structure.get(), "strength", strengths);
  return structure;
}

}  // namespace cudavision
