// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/pads/stereostate.h"

namespace cudavision {

StereoSettings stereo_settings(gpointer self) {
  const auto shared = stereo_state(self).shared.lock();
  return shared->started ? shared->settings.since_start(*shared->started) : shared->settings;
}

Caps stereo_arrived_caps(gpointer self, const GstAggregatorPad* pad) {
  StereoState& state = stereo_state(self);
  const auto shared = state.shared.lock();
  const Caps& arrived = shared->sides[state.side_of(pad)].arrived_caps;
  return Caps(arrived ? gst_caps_ref(arrived.get()) : nullptr);
}

void stereo_forget_arrived_caps(gpointer self, const GstAggregatorPad* pad) {
  StereoState& state = stereo_state(self);
  Caps forgotten;
  state.shared.lock()->sides[state.side_of(pad)].arrived_caps.swap(forgotten);
}

RequestPads stereo_request_pads(gpointer self) {
  RequestPads pads;
  const auto shared = stereo_state(self).shared.lock();
  for (std::size_t i = 0; i < pads.size(); ++i)
    if (const auto& pad = shared->request_pads[i]; pad && !pad->released)
      pads[i] = pad;
  return pads;
}

GstStateChangeReturn stereo_change_state(GstElement* element, GstStateChange transition) {
  return stereo_state(element).session.change_state(transition,
                                                    GST_ELEMENT_CLASS(stereo_parent_class()));
}

void stereo_set_context(GstElement* element, GstContext* context) {
  stereo_state(element).session.set_context(context, GST_ELEMENT_CLASS(stereo_parent_class()));
}

}  // namespace cudavision
