// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "tests/check/common/receiver.h"

namespace check {

/// Runs a test for each of these numbers of frames in flight: TEST(name,
/// .times(std::size(overlaps))).
constexpr int overlaps[] = {2, 3, 8};
/// The same, and one frame after the other.
constexpr int numbers_in_flight[] = {1, 2, 3, 8};

/// tested() with several frames in flight, and numbered frames for it, whose pictures differ. It
/// has accepted the caps of these frames.
class Overlap {
 public:
  explicit Overlap(int frames_in_flight, const Properties& more = {});

  FilterHarness& filter() { return filter_; }
  Receiver& receiver() { return receiver_; }

  GstBuffer* frame(guint64 number) const;
  /// Pushes a frame, or several, which must be accepted.
  void push(guint64 number);
  void push(guint64 first, guint64 count);
  /// Returns the function with which a Feeder makes these frames.
  Feeder::MakeFrame frames() const {
    return [](guint64 number) { return numbered_frame(number); };
  }

  /// Waits until this has arrived downstream since the last call of Receiver::forget(); fails the
  /// test if something else arrives.
  void expect(const std::string& arrivals);
  /// Expects that all frames that the receiver has kept show the right pictures.
  void expect_pictures();
  /// Waits until all frames in flight have gone.
  void drain();
  /// Sends what a new stream begins with, for the same caps.
  void begin();
  /// Starts the element again, and expects all of a new stream.
  void expect_new_stream();

 private:
  static GstBuffer* numbered_frame(guint64 number);

  FilterHarness filter_;
  Receiver receiver_{filter_};
};

/// Returns "first first+1 …", count numbers as Receiver::arrivals() lists frames.
std::string numbers(guint64 first, guint64 count);

}  // namespace check
