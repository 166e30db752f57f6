// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/pads/sourcecaps.h"

#include <algorithm>
#include <string>
#include <utility>

#include "cuda/remap/remap.h"
#include "gst/core/caps.h"
#include "gst/core/elementerror.h"
#include "gst/core/text.h"
#include "gst/sgmstereo/pads/stereocaps.h"

namespace cudavision {

namespace {

// Returns an empty string, or why pictures of that size cannot be rectified as the settings ask.
std::string rectification_error(const StereoSettings& settings, const PictureSize& picture) {
  const bool calibrated = settings.calibration.automatic() || settings.calibration.any();
  const bool rectifies = calibrated || settings.drift() == CalibrationDrift::correct;
  if (!rectifies || std::max(picture.width, picture.height) <= remap::largest_picture)
    return {};
  return "Pictures of " + size_text(picture.width, picture.height) +
         " are too large to be rectified: each side can have at most " +
         std::to_string(remap::largest_picture) +
         " pixels. Put videoscale before the element, or " +
         (calibrated ? "rectify them before it and leave calibration empty."
                     : "set calibration-drift=warn.");
}

}  // namespace

FramePacking stereo_check_caps(GstAggregator* self, const GstAggregatorPad* pad,
                               const GstCaps* caps) {
  const FrameFormat format = frame_format_from_caps(caps);
  if (!stereo_state(self).is_left(pad))
    return {};
  const StereoSettings settings = stereo_settings(self);
  const FramePacking packing = packing_of(format.info, settings.frame_packing);
  const int width = format.layout.width, height = format.layout.height;
  for (const std::string& error :
       {split_error(packing, width, height),
        rectification_error(settings, picture_size(packing, width, height))})
    if (!error.empty())
      refuse_stream(error);
  return packing;
}

namespace {

Caps possible_src_caps(GstAggregator* self, StereoOutput output) {
  StereoState& state = stereo_state(self);
  const GstAggregatorPad* left = state.left.pad;
  const bool cuda = state.session.takes_cuda();
  if (const Caps caps = stereo_arrived_caps(self, left)) {
    try {
      return stereo_src_caps_for(caps.get(), stereo_check_caps(self, left, caps.get()), output,
                                 cuda);
    } catch (const ElementError& e) {
      GST_DEBUG_OBJECT(self, "%s", e.what());
    }
  }
  return stereo_src_caps(output, cuda);
}

}  // namespace

gboolean stereo_answer_src_caps(GstAggregator* self, StereoOutput output, GstQuery* query) {
  return post_exceptions(self, FALSE, [&]() -> gboolean {
    GstCaps* filter = nullptr;
    gst_query_parse_caps(query, &filter);
    gst_query_set_caps_result(query, filtered(possible_src_caps(self, output), filter).get());
    return TRUE;
  });
}

Caps stereo_common_caps(GstAggregator* self, GstPad* source_pad, StereoOutput output,
                        GstCaps* possible) {
  Caps common = peer_caps(source_pad, possible);
  if (!gst_caps_is_empty(common.get()))
    return common;
  const Caps taken = peer_caps(source_pad, nullptr);
  const std::string name = text_of(GST_PAD_NAME(source_pad));
  const auto error = [](const std::string& text) {
    return ElementError(GST_CORE_ERROR, GST_CORE_ERROR_NEGOTIATION, text);
  };
  if (!stereo_state(self).session.takes_cuda() &&
      gst_caps_can_intersect(taken.get(), stereo_src_caps(output, true).get()) &&
      !gst_caps_can_intersect(taken.get(), stereo_src_caps(output, false).get()))
    throw error(needs_cuda_memory_text("the pad " + name));
  const bool on_request =
      GST_PAD_TEMPLATE_PRESENCE(GST_PAD_PAD_TEMPLATE(source_pad)) == GST_PAD_REQUEST;
  throw error(
      "Nothing that the pad " + name +
      " offers is accepted by the element behind it (offered: " + caps_text(possible) + "): " +
      (output == StereoOutput::points ? "put an element there that takes tensors, such as appsink"
                                      : "put \"videoconvert ! videoscale\" between them") +
      (on_request ? ", or release the pad." : "."));
}

Caps stereo_fixated_caps(Caps possible, GstPad* source_pad) {
  Caps caps(gst_caps_make_writable(choose_memory(std::move(possible), source_pad).release()));
  if (gst_caps_is_empty(caps.get()))
    return caps;
  GstStructure* structure = gst_caps_get_structure(caps.get(), 0);
  // Frames without a framerate get 0/1, which means unknown, instead of the lowest that downstream
  // accepts.
  if (gst_structure_has_field(structure, "framerate"))
    gst_structure_fixate_field_nearest_fraction(structure, "framerate", 0, 1);
  if (gst_structure_has_field(structure, "pixel-aspect-ratio"))
    gst_structure_fixate_field_nearest_fraction(structure, "pixel-aspect-ratio", 1, 1);
  return Caps(gst_caps_fixate(caps.release()));
}

bool stereo_peer_refuses_current_caps(GstPad* pad) {
  const ObjectPtr<GstPad> peer(gst_pad_get_peer(pad));
  const Caps caps(gst_pad_get_current_caps(pad));
  if (!peer || !caps)
    return false;
  // A peer takes the caps that it has already, even if it has asked for others since.
  const Caps known(gst_pad_get_current_caps(peer.get()));
  if (known && gst_caps_is_equal(known.get(), caps.get()))
    return false;
  return !gst_pad_query_accept_caps(peer.get(), caps.get());
}

}  // namespace cudavision
