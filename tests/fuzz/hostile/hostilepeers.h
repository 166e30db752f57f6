// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include "tests/check/common/owned.h"

/// Neighbours with unusual answers, and with pools, allocators and memory that fail now and then.
namespace fuzz {

/// May answer with no caps or caps outside the filter. Returns false if unanswered. Thread-safe.
bool answer_caps_query(GstQuery* query);

class UnfilteredPeer {
 public:
  UnfilteredPeer(GstPad* pad, const char* caps);
  ~UnfilteredPeer();

 private:
  const check::Owned<GstPad> pad_;
  const gulong probe_;
};

/// May offer a failing pool and a failing allocator, with random sizes and counts. Thread-safe.
void offer_failing_pools(GstQuery* query);

/// Returns a buffer whose memory sometimes cannot be mapped.
GstBuffer* new_unreliable_buffer(gsize size);

/// During this object's life, downstream offers failing pools.
class FailingPools {
 public:
  explicit FailingPools(GstPad* pad);
  ~FailingPools();

 private:
  const check::Owned<GstPad> pad_;
  const gulong probe_;
};

}  // namespace fuzz
