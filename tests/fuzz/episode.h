// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <functional>
#include <memory>
#include <random>

#include "tests/check/common/filterharness.h"

/// Anything that a pipeline could do to an element, in any order: it must neither crash nor leak,
/// every failure must be an element error, and every frame that comes out while nothing is wrong
/// must be right.
///
/// CUDAVISION_FUZZ_SEED     the first episode; each episode is reproduced by its own number
/// CUDAVISION_FUZZ_SECONDS  how long to go on (default 8)
namespace fuzz {

/// What the caps and a buffer say of a frame besides its picture.
struct FrameKind {
  bool limited = false;
  bool interlaced = false;
};

/// One life of an element.
class Life {
 public:
  virtual ~Life() = default;
  virtual void run() = 0;
};

/// That of an element with one input and one output. What only that element knows is for its own
/// class to fill in.
class Episode : public Life {
 public:
  /// alive: counts the buffers that were sent in and still exist. properties: set before the start.
  Episode(const char* element, unsigned seed, int& alive, const check::Properties& properties = {});

  void run() override;

 protected:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  template <class T, std::size_t n>
  T one_of(const T (&list)[n]) {
    return list[random_() % n];
  }
  guint64 any_number();
  check::FilterHarness& filter() { return filter_; }
  /// Fails where anything but the expected came out for a picture of a format that is possible.
  virtual void judge(GstBuffer* out, const check::Picture& picture, const FrameKind& kind);

 private:
  /// Whether the element takes frames of that format with the properties as they are now.
  virtual bool possible(const check::FormatSpec& format) const = 0;
  /// What comes out for a picture of a format that is possible.
  virtual check::Picture expected(const check::Picture& picture, const FrameKind& kind) const = 0;
  virtual void change_properties() = 0;
  /// The element was stopped and started.
  virtual void restarted() {}
  /// Caps of a neighbour downstream that takes whatever the element makes of video.
  virtual const char* open_downstream() { return "video/x-raw"; }
  /// Sets what makes any format possible.
  virtual void mend() = 0;

  void do_something();
  void good_caps();
  void bad_caps();
  void good_frame();
  void bad_frame();
  void resume_segment();
  void flush_or_end();
  void send_event();
  void change_state();
  void ask();
  void restrict_downstream();

  GstBuffer* tracked(GstBuffer* buffer);
  GstBuffer* stamped(GstBuffer* buffer);
  GstBuffer* take_output();
  struct Sent {
    check::Picture picture;
    FrameKind kind;
  };
  /// sent: what can be expected of the buffer; nullptr where nothing can.
  void push_and_judge(GstBuffer* buffer, const Sent* sent);
  check::Layout any_layout();

  enum class Scan { progressive, interleaved, mixed };

  std::mt19937 random_;
  unsigned seed_;
  int& alive_;
  check::FilterHarness filter_;
  const check::FormatSpec* format_ = nullptr;
  int width_ = 1, height_ = 1;
  bool limited_ = false;
  Scan scan_ = Scan::progressive;
  bool started_ = false;
  bool restricted_ = false;
  GstClockTime time_ = 0;
};

using MakeEpisode = std::function<std::unique_ptr<Life>(unsigned seed, int& alive)>;

/// Episode after episode, for as long as the environment says.
void run_episodes(const MakeEpisode& make);

/// Seconds that a test which runs them may take.
double time_limit();

}  // namespace fuzz
