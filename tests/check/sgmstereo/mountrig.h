// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <vector>

#include "tests/check/common/messagelog.h"
#include "tests/check/common/stereoharness.h"
#include "tests/check/sgmstereo/turnedcameras.h"

/// Two cameras of a moving scene, the right one of which has turned in its mount, and the element
/// that matches their pictures.
namespace check {

constexpr GstClockTime frame_time = 40 * ms;

/// Properties of an element that inspects every pair.
inline Properties watching(const char* drift, const Properties& more = {}) {
  Properties all{{"diagnostics-interval", "1"},
                 {"num-disparities", "32"},
                 {"fill-holes", "true"},
                 {"calibration-drift", drift}};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

inline Properties correcting(const Properties& more = {}) {
  return watching("correct", more);
}

/// What the element has said about a pair.
struct Said {
  Owned<GstMessage> message;
  const GstStructure* figures() const { return structure_of(message, "cudasgmstereo"); }
  bool has(const char* field) const { return gst_structure_has_field(figures(), field); }
  double number(const char* field) const { return number_in(figures(), field); }
  guint corrections() const {
    guint count = 0;
    fail_unless(gst_structure_get_uint(figures(), "corrections", &count));
    return count;
  }
};

/// A stream of pairs of one scene.
class Rig {
 public:
  explicit Rig(const Properties& properties, const MovingScene& scene = MovingScene())
      : stereo_(properties), scene_(scene) {
    stereo_.accept_gray(MovingScene::width, MovingScene::height);
  }

  /// Sends the next pair, and returns its map.
  Picture next(const Turn& turn) {
    return process(scene_.left(frame_), scene_.right(frame_, turn));
  }
  /// Leaves pairs out.
  void skip(int count) { frame_ += count; }
  void send(const Turn& turn, int count) {
    for (int i = 0; i < count; ++i)
      next(turn);
  }
  Picture process(const Picture& left, const Picture& right) {
    const GstClockTime time = static_cast<GstClockTime>(frame_++) * frame_time;
    const Map map = stereo_.process(at(time, to_buffer(left)), at(time, to_buffer(right)));
    return from_buffer(map, format_named("GRAY16_LE"), left.width, left.height);
  }
  /// Returns the share of the last map that is wrong or missing.
  double wrong(const Picture& map, const Turn& turn) const {
    return wrong_share(map, scene_.camera(turn), scene_.disparities(frame_ - 1));
  }

  Said last_said() {
    std::vector<Owned<GstMessage>> all = stereo_.messages().take(GST_MESSAGE_ELEMENT);
    fail_if(all.empty());
    return {std::move(all.back())};
  }
  StereoHarness& stereo() { return stereo_; }

 private:
  StereoHarness stereo_;
  MovingScene scene_;
  int frame_ = 0;
};

}  // namespace check
