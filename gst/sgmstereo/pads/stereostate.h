// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/base/gstaggregator.h>

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "gst/base/devicesession.h"
#include "gst/base/qosstate.h"
#include "gst/core/scoped.h"
#include "gst/core/videoformat.h"
#include "gst/flight/completionwait.h"
#include "gst/sgmstereo/pads/capsarrival.h"
#include "gst/sgmstereo/pads/unlinkedpad.h"
#include "gst/sgmstereo/stereosettings.h"

GST_DEBUG_CATEGORY_EXTERN(cuda_sgm_stereo_debug);
#define GST_CAT_DEFAULT cuda_sgm_stereo_debug

namespace cudavision {

struct StereoStream;

struct StereoSinkPad {
  GstAggregatorPad* pad = nullptr;
  std::atomic<bool> flushed{false};  ///< a flush has ended, so the held frame must be discarded

  bool is_linked() const { return gst_pad_is_linked(GST_PAD_CAST(pad)); }
  bool is_ended() const { return gst_aggregator_pad_is_eos(pad); }
};

/// The output on one source pad. For the aggregating thread only.
struct SourceBranch {
  std::optional<FrameFormat> format;  ///< nullopt until negotiated
  bool pad_discont;                   ///< the next buffer is discontinuous
  bool ended = false;                 ///< downstream has returned EOS
  bool started = false;               ///< a push has returned

  void reopen() { ended = started = false; }
};

class StereoRequestPad {
 public:
  /// Sinks the floating reference of a new pad.
  StereoRequestPad(GstPad* new_pad, SourcePad source_pad, StereoOutput what)
      : pad(static_cast<GstPad*>(gst_object_ref_sink(new_pad))), id(source_pad), output(what) {}

  const ObjectPtr<GstPad> pad;
  const SourcePad id;
  const StereoOutput output;
  std::atomic<bool> released{false};

  struct Branch : SourceBranch {
    Branch() : SourceBranch{std::nullopt, true} {}
    ~Branch() { forget_negotiation(); }
    void forget_negotiation() {
      if (pool)
        gst_buffer_pool_set_active(pool.get(), FALSE);
      pool.reset();
      format.reset();
    }

    ObjectPtr<GstBufferPool> pool;
  };
  /// Needs a StereoStream, so that only the aggregating thread can call it.
  Branch& branch(const StereoStream&) noexcept { return branch_; }

 private:
  Branch branch_;
};

using RequestPads = std::vector<std::shared_ptr<StereoRequestPad>>;

/// The state that threads share under the object lock. Never free a buffer, caps or event while
/// holding the lock, because destroy functions might call the element.
struct StereoShared {
  StereoSettings settings;
  std::optional<StereoSettings> started;  ///< the settings at the start; nullopt while stopped
  QosState qos;
  /// Includes pads that are being released. nullptr for src and for pads that were not requested.
  PerSourcePad<std::shared_ptr<StereoRequestPad>> request_pads;

  struct Side {
    Caps arrived_caps;    ///< of the last valid CAPS event; queued frames may have older caps
    guint64 dropped = 0;  ///< number of frames without a partner of equal size and depth
  };
  std::array<Side, 2> sides;  ///< left first
};

/// The part of a cudasgmstereo element that all threads may use.
struct StereoState {
  /// The callbacks report unlinked pads; see PadAlarm.
  StereoState(GstElement* element, GstClockCallback waiting, GstClockCallback ended)
      : shared(element),
        session(element, shared.for_locking_function().settings),
        alarm(PadAlarm::Kind::waiting, waiting),
        end_alarm(PadAlarm::Kind::ended, ended) {}

  bool is_left(const GstAggregatorPad* pad) const { return pad == left.pad; }
  StereoSinkPad& sink(const GstAggregatorPad* pad) { return is_left(pad) ? left : right; }
  StereoSinkPad& other_sink(const GstAggregatorPad* pad) { return is_left(pad) ? right : left; }
  std::size_t side_of(const GstAggregatorPad* pad) const { return is_left(pad) ? 0 : 1; }

  ObjectLocked<StereoShared> shared;
  DeviceSession session;
  StereoSinkPad left, right;

  // The next four members have their own locks.
  PadAlarm alarm, end_alarm;
  CapsArrival arrival;
  CompletionWait frames_arrival;  ///< notified when a frame is queued on a sink pad

  std::atomic<bool> arrived_packed{false};    ///< the last caps on sink_left are for packed frames
  std::atomic<bool> flush_finished{false};    ///< sink_left got FLUSH_STOP, but no SEGMENT since
  std::atomic<bool> downstream_ended{false};  ///< all linked branches have returned EOS
};

StereoState& stereo_state(gpointer self);

inline GstAggregatorClass* stereo_parent_class() {
  return static_cast<GstAggregatorClass*>(g_type_class_peek(GST_TYPE_AGGREGATOR));
}

/// Returns the current settings. Settings that need a restart keep their values from the start.
inline StereoSettings stereo_settings(gpointer self) {
  const auto shared = stereo_state(self).shared.lock();
  return shared->started ? shared->settings.since_start(*shared->started) : shared->settings;
}

/// Returns the last caps that have arrived on a sink pad, or nullptr.
inline Caps stereo_arrived_caps(gpointer self, const GstAggregatorPad* pad) {
  StereoState& state = stereo_state(self);
  const auto shared = state.shared.lock();
  const Caps& arrived = shared->sides[state.side_of(pad)].arrived_caps;
  return Caps(arrived ? gst_caps_ref(arrived.get()) : nullptr);
}

inline void stereo_forget_arrived_caps(gpointer self, const GstAggregatorPad* pad) {
  StereoState& state = stereo_state(self);
  Caps forgotten;
  state.shared.lock()->sides[state.side_of(pad)].arrived_caps.swap(forgotten);
}

inline RequestPads stereo_request_pads(gpointer self) {
  RequestPads pads;
  const auto shared = stereo_state(self).shared.lock();
  for (const auto& pad : shared->request_pads)
    if (pad && !pad->released)
      pads.push_back(pad);
  return pads;
}

}  // namespace cudavision
