// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <functional>
#include <mutex>

#include "tests/check/common/owned.h"

namespace fuzz {

/// A sink that is slow, refuses frames or keeps some, and may be a hostile peer.
class Downstream {
 public:
  /// Calls on_frame() in the pushing thread for each frame, even if no sink is linked. on_frame()
  /// must not destroy this object. If it returns false, the frame is dropped.
  Downstream(GstPad* source, bool linked, std::function<bool()> on_frame);
  ~Downstream();

  GstPad* source() const { return source_; }
  void relink();
  void unlink();

 private:
  void remove_sink();
  static GstFlowReturn chain(GstPad* pad, GstObject*, GstBuffer* buffer);
  static gboolean handle_query(GstPad* pad, GstObject* parent, GstQuery* query);
  static GstPadProbeReturn probe(GstPad*, GstPadProbeInfo*, gpointer on_frame);

  const check::Owned<GstPad> source_;
  const gulong probe_;
  const bool hostile_ = g_random_int() % 6 == 0;
  std::mutex mutex_;
  check::Owned<GstPad> sink_;  ///< nullptr if unlinked; guarded by mutex_
};

}  // namespace fuzz
