// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/base/gstbasetransform.h>

#include "tests/check/common/streams/receiver.h"

namespace check {

/// Numbers of frames in flight for tests with TEST(name, .times(std::size(overlaps))).
constexpr int overlaps[] = {2, 3, 8};
/// The numbers in `overlaps`, and 1.
constexpr int numbers_in_flight[] = {1, 2, 3, 8};

/// A harness for tested() with frames in flight. The constructor sends caps.
class Overlap {
 public:
  explicit Overlap(int frames_in_flight, const Properties& more = {});

  FilterHarness& filter() { return filter_; }
  Receiver& receiver() { return receiver_; }

  GstBuffer* frame(guint64 number) const;
  /// The frames must be accepted.
  void push(guint64 number);
  void push(guint64 first, guint64 count);
  Feeder::MakeFrame frames() const {
    return [](guint64 number) { return numbered_frame(number); };
  }

  /// Waits for these arrivals since Receiver::forget(); anything else fails the test.
  void expect(const std::string& arrivals);
  void expect_pictures();
  void drain();
  void begin();
  /// Starts the element if necessary, and expects a complete new stream.
  void expect_new_stream();

 private:
  static GstBuffer* numbered_frame(guint64 number);

  FilterHarness filter_;
  Receiver receiver_{filter_};
};

inline GstPad* src_of(Overlap& overlap) {
  return GST_BASE_TRANSFORM_SRC_PAD(overlap.filter().element());
}

/// Calls act() when this frame passes the source pad, in the thread that pushes it.
class AtFrame {
 public:
  AtFrame(GstPad* src, guint64 number, std::function<void()> act)
      : pts_(number * frame_duration), act_(std::move(act)) {
    gst_pad_add_probe(src, GST_PAD_PROBE_TYPE_BUFFER, on_buffer, this, nullptr);
  }
  bool done() const { return done_; }
  std::thread::id thread() const { return thread_; }

 private:
  static GstPadProbeReturn on_buffer(GstPad*, GstPadProbeInfo* info, gpointer data) {
    auto* self = static_cast<AtFrame*>(data);
    if (GST_BUFFER_PTS(GST_PAD_PROBE_INFO_BUFFER(info)) != self->pts_)
      return GST_PAD_PROBE_OK;
    self->act_();
    self->thread_ = std::this_thread::get_id();
    self->done_ = true;
    return GST_PAD_PROBE_REMOVE;
  }

  const GstClockTime pts_;
  const std::function<void()> act_;
  std::thread::id thread_;
  std::atomic<bool> done_{false};
};

/// Returns `count` numbers from `first` on, in the format of Receiver::arrivals(), such as "3 4 5".
std::string numbers(guint64 first, guint64 count);

}  // namespace check
