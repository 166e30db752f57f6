// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cstring>
#include <string>

#include "gst/core/elementerror.h"
#include "gst/sgmstereo/pipeline/stereostream.h"

namespace cudavision {
namespace {

constexpr char remedy[] =
    "link the other camera to this pad. If each frame holds both pictures, link the only camera to "
    "sink_left and set frame-packing=side-by-side or frame-packing=top-bottom.";

/// Returns the element of an active, unlinked pad, or nullptr. If `ended` is true, an EOS must be
/// queued after waiting frames on the other sink pad; if it is false, no such EOS may be queued.
ObjectPtr<GstElement> element_lacking(GstPad* pad, bool ended) {
  // The element is nullptr during its disposal.
  ObjectPtr<GstElement> element(gst_pad_get_parent_element(pad));
  if (!element || !GST_PAD_IS_ACTIVE(pad) || gst_pad_is_linked(pad))
    return nullptr;
  const bool is_left = std::strcmp(text_of(GST_PAD_NAME(pad)), "sink_left") == 0;
  const ObjectPtr<GstPad> other(
      gst_element_get_static_pad(element.get(), is_left ? "sink_right" : "sink_left"));
  const bool other_ended = GST_PAD_IS_EOS(other.get()) &&
                           !gst_aggregator_pad_is_eos(GST_AGGREGATOR_PAD_CAST(other.get()));
  return other_ended == ended ? std::move(element) : nullptr;
}

}  // namespace

gboolean warn_of_waiting(GstClock*, GstClockTime, GstClockID, gpointer data) {
  auto* pad = static_cast<GstPad*>(data);
  if (const auto element = element_lacking(pad, false))
    post_warning(element.get(), GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED,
                 std::string("Frames have waited 5 s for partners because nothing is linked to ") +
                     text_of(GST_PAD_NAME(pad)) + ": " + remedy);
  return TRUE;
}

gboolean refuse_end(GstClock*, GstClockTime, GstClockID, gpointer data) {
  auto* pad = static_cast<GstPad*>(data);
  if (const auto element = element_lacking(pad, true))
    post_exceptions(element.get(), 0, [&]() -> int {
      throw ElementError(
          GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED,
          std::string("Frames have no partners at EOS because nothing is linked to ") +
              text_of(GST_PAD_NAME(pad)) + ": " + remedy);
    });
  return TRUE;
}

}  // namespace cudavision
