// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/pipeline/unlinkedreports.h"

#include <gst/base/gstaggregator.h>

#include <cstring>
#include <string>

#include "gst/core/elementerror.h"
#include "gst/core/scoped.h"
#include "gst/core/text.h"

namespace cudavision {
namespace {

/// Returns the element of a pad that should be linked and is not.
ObjectPtr<GstElement> element_lacking(GstPad* pad) {
  // Without a parent the element is being disposed of.
  ObjectPtr<GstElement> element(gst_pad_get_parent_element(pad));
  if (!GST_PAD_IS_ACTIVE(pad) || gst_pad_is_linked(pad))
    element.reset();
  return element;
}

/// Returns true if EOS has arrived on the other sink pad, but frames before it still wait.
bool other_has_ended(GstElement* element, GstPad* pad) {
  const bool is_left = std::strcmp(text_of(GST_PAD_NAME(pad)), "sink_left") == 0;
  const ObjectPtr<GstPad> other(
      gst_element_get_static_pad(element, is_left ? "sink_right" : "sink_left"));
  return GST_PAD_IS_EOS(other.get()) &&
         !gst_aggregator_pad_is_eos(GST_AGGREGATOR_PAD_CAST(other.get()));
}

}  // namespace

gboolean warn_of_waiting(GstClock*, GstClockTime, GstClockID, gpointer data) {
  auto* pad = static_cast<GstPad*>(data);
  const ObjectPtr<GstElement> element = element_lacking(pad);
  if (element && !other_has_ended(element.get(), pad))
    post_warning(element.get(), GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED,
                 "Frames have waited 5 s for partners because nothing is linked to " +
                     std::string(text_of(GST_PAD_NAME(pad))) +
                     ": link the other camera to it. If each frame holds both pictures, link it to "
                     "sink_left and set frame-packing=side-by-side or frame-packing=top-bottom.");
  return TRUE;
}

gboolean refuse_end(GstClock*, GstClockTime, GstClockID, gpointer data) {
  auto* pad = static_cast<GstPad*>(data);
  const ObjectPtr<GstElement> element = element_lacking(pad);
  if (element && other_has_ended(element.get(), pad))
    post_exceptions(element.get(), 0, [&]() -> int {
      throw ElementError(
          GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED,
          "One camera has ended, but nothing is linked to " +
              std::string(text_of(GST_PAD_NAME(pad))) +
              ", so that its frames have no partners: link the other camera to it. If each frame "
              "holds both pictures, link it to sink_left and set frame-packing=side-by-side or "
              "frame-packing=top-bottom.");
    });
  return TRUE;
}

}  // namespace cudavision
