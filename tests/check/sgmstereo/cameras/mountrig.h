// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "tests/check/common/messagelog.h"
#include "tests/check/common/stereoharness.h"
#include "tests/check/sgmstereo/cameras/turnedcameras.h"

/// The element with two cameras of a moving scene; the right camera may be rotated in its mount.
namespace check {

constexpr GstClockTime frame_time = 40 * ms;

inline Properties watching(const char* drift, const Properties& more = {}) {
  return joined({{"diagnostics-interval", "1"},
                 {"num-disparities", "32"},
                 {"fill-holes", "true"},
                 {"calibration-drift", drift}},
                more);
}

inline Properties correcting(const Properties& more = {}) {
  return watching("correct", more);
}

struct Report {
  Owned<GstMessage> message;
  const GstStructure* figures() const { return structure_of(message, "cudasgmstereo"); }
  bool has(const char* field) const { return gst_structure_has_field(figures(), field); }
  double number(const char* field) const { return number_in(figures(), field); }
  guint count(const char* field) const {
    guint count = 0;
    fail_unless(gst_structure_get_uint(figures(), field, &count));
    return count;
  }
  guint corrections() const { return count("corrections"); }
  guint calibrations() const { return count("calibrations"); }
};

class Rig {
 public:
  explicit Rig(const Properties& properties, const MovingScene& scene = MovingScene(),
               const Size& size = {MovingScene::width, MovingScene::height})
      : stereo_(properties), scene_(scene) {
    stereo_.accept_gray(size.width, size.height);
  }

  Picture next(const Turn& turn) {
    return process(scene_.left(frame_), scene_.right(frame_, turn));
  }
  void skip(int count) { frame_ += count; }
  void send(const Turn& turn, int count) {
    for (int i = 0; i < count; ++i)
      next(turn);
  }
  Picture process(const Picture& left, const Picture& right) {
    map_ = stereo_.match(left, right, frame_++ * frame_time);
    return *map_;
  }
  double wrong(const Turn& turn) const {
    return wrong_share(*map_, scene_.camera(turn), scene_.disparities(frame_ - 1));
  }

  const std::vector<Report>& reports() {
    for (Owned<GstMessage>& message : stereo_.messages().take(GST_MESSAGE_ELEMENT))
      reports_.push_back({std::move(message)});
    fail_if(reports_.empty());
    return reports_;
  }
  const Report& last_report() { return reports().back(); }
  double mean_known(std::size_t pairs) {
    double sum = 0;
    for (std::size_t i = reports().size() - pairs; i < reports_.size(); ++i)
      sum += reports_[i].number("known");
    return sum / static_cast<double>(pairs);
  }
  StereoHarness& stereo() { return stereo_; }

 private:
  StereoHarness stereo_;
  MovingScene scene_;
  std::optional<Picture> map_;
  std::vector<Report> reports_;
  int frame_ = 0;
};

}  // namespace check
