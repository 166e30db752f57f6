// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/base/gstbasetransform.h>

#include <deque>

#include "gst/core/scoped.h"

namespace cudavision {

/// Frames of a filter that wait for later ones, because its operation searches these, too. The
/// element stores the pixels of the frames on the device (see GstCudaVisionFilterClass), so
/// that upstream gets its buffers back at once, however few it has. Here wait their times, flags
/// and metas, and the buffers that stand for missing frames. It belongs to the streaming thread.
struct FrameDelay {
  struct Waiting {
    OwnedBuffer buffer;  ///< without memory
    bool missing;        ///< stands for a missing frame
  };

  /// How many later frames the operation searches. 0: frames do not wait.
  std::size_t ahead = 0;
  std::deque<Waiting> waiting;       ///< oldest first
  guint64 arrived = 0;               ///< frames since the element was made, which numbers them
  bool interrupted = false;          ///< the next frame does not continue the ones that wait
  GstFlowReturn flow = GST_FLOW_OK;  ///< of frames that were pushed while an event was handled

  guint64 oldest() const { return arrived - waiting.size(); }
};

/// Takes a frame of upstream, and hands on the oldest one if as many as it waits for have come.
GstFlowReturn delay_frame(GstBaseTransform* trans, OwnedBuffer in);
/// Hands on all that wait, which search the frames that there are. The next frame begins anew.
void push_delayed(gpointer self);
/// Drops all that wait.
void drop_delayed(gpointer self);

}  // namespace cudavision
