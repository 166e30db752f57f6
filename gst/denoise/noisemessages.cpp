// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/denoise/noisemessages.h"

#include <cmath>

namespace cudavision {
namespace {

double levels_of(std::uint32_t variance) {
  return std::sqrt(variance) / noise::Level::per_level;
}

void set_value(GValue& value, double number) {
  g_value_init(&value, G_TYPE_DOUBLE);
  g_value_set_double(&value, number);
}
void set_value(GValue& value, bool boolean) {
  g_value_init(&value, G_TYPE_BOOLEAN);
  g_value_set_boolean(&value, boolean);
}

template <class Number>
void add_array(GstStructure* structure, const char* field, const std::vector<Number>& numbers) {
  GValue array = G_VALUE_INIT;
  g_value_init(&array, GST_TYPE_ARRAY);
  for (const Number number : numbers) {
    GValue value = G_VALUE_INIT;
    set_value(value, number);
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
  std::vector<bool> uncertain;
  for (int c = 0; c < slot.layout.channel_count; ++c) {
    if (slot.layout.channels[c].role == Role::alpha)
      continue;
    noise.push_back(levels_of(states[c].measured));
    used.push_back(levels_of(states[c].used.variance));
    uncertain.push_back(states[c].uncertain);
    strengths.push_back(nlmeans::strength_under_noise(slot.layout, slot.parameters, c, states));
  }
  Structure structure = structure_with_times("cudadenoise", times);
  add_array(structure.get(), "noise", noise);
  add_array(structure.get(), "noise-used", used);
  add_array(structure.get(), "strength", strengths);
  add_array(structure.get(), "uncertain", uncertain);
  return structure;
}

}  // namespace cudavision
