// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <functional>
#include <mutex>

#include "tests/check/common/owned.h"

namespace fuzz {

/// A sink behind a source pad of an element. It takes some frames slowly and some not at all, keeps
/// a few and, in some lives, ignores the filters of CAPS queries and offers pools that fail.
class Downstream {
 public:
  /// Calls on_frame() for each frame that leaves the element, in the thread that pushes it, before
  /// the sink or even if none is linked. It may destroy neither this nor the element. If it returns
  /// false, the frame goes no further.
  Downstream(GstPad* source, bool linked, std::function<bool()> on_frame);
  ~Downstream();
  Downstream(const Downstream&) = delete;
  Downstream& operator=(const Downstream&) = delete;

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
