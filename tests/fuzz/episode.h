// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>
#include <vector>

#include "tests/check/common/definitions/regiondefinition.h"
#include "tests/check/common/filterharness.h"
#include "tests/fuzz/life.h"

namespace fuzz {

/// The properties of a frame that its caps and its buffer's flags define.
struct FrameKind {
  bool limited = false;
  bool interlaced = false;
};

/// A Life of an element with one input. Derived classes add its properties and expected output.
class Episode : public Life {
 public:
  Episode(const char* element, unsigned seed, check::BufferCount& buffers,
          const check::Properties& properties = {})
      : Life(seed, buffers), filter_(element, properties) {
    change_frames_in_flight();
  }

  void run() override;

 protected:
  check::FilterHarness& filter() { return filter_; }
  const check::Regions& regions() const { return regions_; }
  /// `idle`: the element changes nothing, so even unused bits stay. See check::in_regions() for the
  /// other parameters.
  check::Picture in_regions(const check::Picture& picture, const check::Process& process, bool idle,
                            bool equalizes = false) const;
  virtual check::Picture new_picture(const check::FormatSpec& format, int width, int height);
  /// The frames between two interruptions, nullptr if unknown, and the index of the judged frame.
  struct Sequence {
    std::vector<const check::Picture*> frames;
    std::size_t judged;
  };
  const Sequence& sequence() const { return sequence_; }

  virtual void judge(GstBuffer* out, const check::Picture& picture, const FrameKind& kind);

 private:
  /// Returns true if the element accepts frames of the format with its current properties.
  virtual bool possible(const check::FormatSpec&) const { return true; }
  /// Returns the expected output. Elements with another output format override judge().
  virtual check::Picture expected(const check::Picture& picture, const FrameKind&) const {
    return picture;
  }
  virtual void change_properties() = 0;
  virtual void restarted() {}
  virtual const char* open_downstream() { return "video/x-raw"; }
  virtual void mend() {}

  void change_regions();
  void do_something();
  void good_caps();
  void change_settings();
  void bad_caps();
  void good_frame();
  void bad_frame();
  void resume_segment();
  void flush_or_end();
  void send_event();
  void change_state();
  void relink();
  void ask();
  void restrict_downstream();
  void ignore_filters();
  void use_failing_pools();
  void control_properties();

  GstBuffer* stamped(GstBuffer* buffer);
  struct Sent {
    check::Picture picture;
    FrameKind kind;
  };
  struct InFlight {
    std::optional<Sent> sent;
    int interruptions;  ///< number of interruptions before this frame
  };
  /// Pushes the buffer. `sent` is empty if the test cannot know the result.
  void push(GstBuffer* buffer, std::optional<Sent> sent);
  void drain();
  /// Drains and judges all frames. Call it before a change that affects the output.
  void drain_and_judge();
  std::size_t judge_rest();
  Sequence sequence_around(std::size_t number) const;
  void change_frames_in_flight();

  enum class Scan { progressive, interleaved, mixed };

  check::FilterHarness filter_;
  check::Regions regions_;
  const check::FormatSpec* format_ = nullptr;
  int width_ = 1, height_ = 1;
  bool limited_ = false;
  Scan scan_ = Scan::progressive;
  bool started_ = false;
  bool restricted_ = false;
  GstClockTime time_ = 0;
  std::vector<InFlight> in_flight_;  ///< frames that are not judged yet
  int interruptions_ = 0;
  Sequence sequence_;
};

}  // namespace fuzz
