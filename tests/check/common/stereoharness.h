// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/check/common/filterharness.h"

namespace check {

struct Pair {
  Picture left, right;
};

struct StereoFrame {
  GstClockTime pts = GST_CLOCK_TIME_NONE;
  bool gap = false;
  GstClockTime duration = 40 * GST_MSECOND;
};
using StereoFrames = std::vector<StereoFrame>;

constexpr GstClockTime ms = GST_MSECOND;

GstBuffer* small_frame(const StereoFrame& frame);

/// Returns `count` frames at 25 frames per second; the first has time `first`.
StereoFrames frames_from(GstClockTime first, int count);

struct Map : Owned<GstBuffer> {
  using Owned::Owned;
  GstClockTime pts() const { return GST_BUFFER_PTS(*this); }
  bool discont() const { return GST_BUFFER_FLAG_IS_SET(get(), GST_BUFFER_FLAG_DISCONT); }
};

class StereoHarness {
 public:
  /// `two`: also links sink_right. Pairs are not inspected unless `properties` ask for it.
  explicit StereoHarness(const Properties& properties = {}, bool two = true);

  GstElement* element() const { return element_; }
  GstHarness* left() const { return left_; }    ///< also receives the element's output
  GstHarness* right() const { return right_; }  ///< nullptr if sink_right is not linked
  const std::vector<GstHarness*>& harnesses() const { return harnesses_; }
  MessageLog& messages() { return messages_; }
  void set(const char* property, const std::string& value) {
    set_property(element_, property, value);
  }
  guint64 number(const char* property) const;

  GstHarness* open(const std::string& pad);
  void close(const std::string& pad);
  const std::map<std::string, Owned<GstHarness>>& opened() const { return opened_; }

  bool send_caps(GstHarness* to, const std::string& caps) {
    return check::send_caps(to->srcpad, caps);
  }
  void accept_caps(const std::string& caps);
  void accept_downstream(const std::string& caps) {
    gst_harness_set_sink_caps_str(left_, caps.c_str());
  }
  void accept_gray(int width = 32, int height = 16);

  Map process(GstBuffer* left, GstBuffer* right);
  Map process(const Picture& left, const Picture& right, GstClockTime time = GST_CLOCK_TIME_NONE);
  /// Process frames as process() does, and return the resulting picture.
  Picture match(GstBuffer* left, GstBuffer* right) {
    return picture_at(left_->sinkpad, process(left, right));
  }
  Picture match(const Picture& left, const Picture& right,
                GstClockTime time = GST_CLOCK_TIME_NONE) {
    return picture_at(left_->sinkpad, process(left, right, time));
  }
  Map process_at(GstClockTime time) { return process(small_frame({time}), small_frame({time})); }
  void push_pair(GstClockTime time);
  Map pull();

  /// Sends GRAY8 frames of 32×16, then EOS, each camera from its own thread. Returns the maps.
  std::vector<Map> run(const StereoFrames& left, const StereoFrames& right);

  /// Sends make()'s events to all linked pads with the same seqnum, which it returns.
  guint32 send_to_all(const std::function<GstEvent*()>& make,
                      guint32 seqnum = gst_util_seqnum_next());
  /// Sends a flush and a new segment to all linked pads. Returns the seqnum of the flush.
  guint32 flush();
  /// Sets the state `low` and then PLAYING, and begins a new stream on all linked pads.
  void restart(GstState low = GST_STATE_READY);
  /// Waits for the first error, which must contain these words.
  void expect_error(const std::vector<std::string>& words = {});
  GstFlowReturn flow_after_stop();
  void expect_end();

  /// Returns the queued events of this type, oldest first. Discards all other events.
  std::vector<Owned<GstEvent>> take_events(GstEventType type);

 private:
  const Owned<GstElement> element_;
  MessageLog messages_;
  const Owned<GstHarness> left_;  // the last harness to be destroyed, which stops the element
  const Owned<GstHarness> right_;
  std::vector<GstHarness*> harnesses_;
  std::map<std::string, Owned<GstHarness>> opened_;
};

std::vector<GstClockTime> times_of(const std::vector<Map>& outputs);

/// Returns the error of an element that must not start with these properties.
std::string start_error(const Properties& properties);

/// A harness that has received GRAY8 caps and a first pair.
struct PlayingStereo : StereoHarness {
  explicit PlayingStereo(const Properties& properties = {}) : StereoHarness(properties) {
    accept_gray();
    process_at(0);
  }
};

/// Make a picture of noise, and the right camera's view of it at a constant disparity.
Picture noise_picture(const FormatSpec& format, int width, int height, unsigned seed);
Picture shifted(const Picture& left, int disparity);

/// Returns a frame with both pictures. Chroma is 0 if two halves have more samples than a frame.
Picture packed(const Picture& first, const Picture& second, bool side_by_side);

}  // namespace check
