// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include "tests/check/common/owned.h"

/// Neighbours that answer queries as GStreamer allows, but as few elements do, and whose pools,
/// allocators and memory fail now and then, as they do when memory runs out, a device is lost or an
/// application ends.
namespace fuzz {

/// Now and then, answers a CAPS query with caps that its filter excludes, or with none. Returns
/// false if it has given no answer. Any thread may call this.
bool answer_caps_query(GstQuery* query);

class UnfilteredPeer {
 public:
  UnfilteredPeer(GstPad* pad, const char* caps);
  ~UnfilteredPeer();
  UnfilteredPeer(const UnfilteredPeer&) = delete;
  UnfilteredPeer& operator=(const UnfilteredPeer&) = delete;

 private:
  const check::Owned<GstPad> pad_;
  const gulong probe_;
};

/// Answers an ALLOCATION query with a pool that fails, such an allocator, or both. Sizes and
/// numbers of buffers may be nonsense. Any thread may call this.
void offer_failing_pools(GstQuery* query);

/// Returns a buffer whose memory cannot be mapped now and then.
GstBuffer* new_unreliable_buffer(gsize size);

/// While this lives, downstream of an element's pad offers pools that fail now and then; see
/// offer_failing_pools().
class FailingPools {
 public:
  explicit FailingPools(GstPad* pad);
  ~FailingPools();
  FailingPools(const FailingPools&) = delete;
  FailingPools& operator=(const FailingPools&) = delete;

 private:
  const check::Owned<GstPad> pad_;
  const gulong probe_;
};

}  // namespace fuzz
