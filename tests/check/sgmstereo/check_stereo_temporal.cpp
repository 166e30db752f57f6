// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests the histories of cudasgmstereo's temporal filter, and the confidence of kept disparities.
#include "tests/check/common/definitions/stereodefinition.h"
#include "tests/check/common/stereoharness.h"

using namespace check;

namespace {

constexpr int width = 64, height = 24, disparity = 6;

const Properties keeping = {{"num-disparities", "32"}, {"temporal-persistence", "255"}};

struct Wall {
  Picture left, right;

  explicit Wall(bool covered, unsigned seed = 5)
      : left(noise_picture(gray(), width, height, seed)), right(shifted(left, disparity)) {
    const Picture other = noise_picture(*left.format, width, height, seed + 1);
    for (int y = 4; y < 20; ++y)
      for (int x = 20; x < 44; ++x)
        if (covered)
          right.set_sample(0, x, y, other.sample(0, x, y));
  }
};

/// An element that has matched the uncovered wall, and keeps the wall's disparities.
class Keeper {
 public:
  Keeper() {
    stereo_.accept_gray(width, height);
    match(Wall(false));
  }

  StereoHarness& stereo() { return stereo_; }

  Picture match(const Wall& wall, bool left_discont = false, bool right_discont = false) {
    GstBuffer *left = next(wall.left), *right = at(GST_BUFFER_PTS(left), to_buffer(wall.right));
    if (left_discont)
      GST_BUFFER_FLAG_SET(left, GST_BUFFER_FLAG_DISCONT);
    if (right_discont)
      GST_BUFFER_FLAG_SET(right, GST_BUFFER_FLAG_DISCONT);
    return stereo_.match(left, right);
  }

  GstBuffer* next(const Picture& picture) { return at(time_ += 40 * ms, to_buffer(picture)); }
  void rewind() { time_ = 0; }

 private:
  StereoHarness stereo_{keeping};
  GstClockTime time_ = 0;
};

/// Returns the map of the covered wall, matched without an earlier frame.
Picture first_map(unsigned seed = 5) {
  StereoHarness stereo(keeping);
  stereo.accept_gray(width, height);
  const Wall wall(true, seed);
  return stereo.match(wall.left, wall.right);
}

int unknown_in(const Picture& map) {
  int count = 0;
  for (int y = 6; y < 18; ++y)
    for (int x = 22 + disparity; x < 42 + disparity; ++x)
      count += disparity_at(map, x, y) == -16;
  return count;
}

void expect_kept(const Picture& map, const char* what) {
  fail_unless(unknown_in(first_map()) > 60);
  fail_unless(unknown_in(map) == 0, "%s: %d disparities are lost", what, unknown_in(map));
}

using Reset = void (*)(Keeper&);

void expect_new_sequence_after(const char* what, Reset reset) {
  Keeper keeper;
  expect_kept(keeper.match(Wall(true)), what);
  reset(keeper);
  expect_picture(keeper.match(Wall(true)), first_map(), what);
  keeper.match(Wall(false));
  expect_kept(keeper.match(Wall(true)), what);
  fail_unless_equals_int(keeper.stereo().messages().complaints(), 0);
}

void send_segment(GstHarness* to) {
  const GstSegment segment = new_segment();
  gst_harness_push_event(to, gst_event_new_segment(&segment));
}

}  // namespace

TEST(test_new_histories) {
  expect_new_sequence_after("flush", [](Keeper& keeper) {
    keeper.stereo().flush();
    keeper.rewind();
  });
  expect_new_sequence_after("left segment",
                            [](Keeper& keeper) { send_segment(keeper.stereo().left()); });
  expect_new_sequence_after("right segment",
                            [](Keeper& keeper) { send_segment(keeper.stereo().right()); });
  expect_new_sequence_after("caps", [](Keeper& keeper) {
    keeper.stereo().accept_caps(
        caps_of(gray(), width, height, ", pixel-aspect-ratio=(fraction)2/1"));
  });
  expect_new_sequence_after("a new start", [](Keeper& keeper) {
    keeper.stereo().restart();
    keeper.stereo().accept_gray(width, height);
    keeper.rewind();
  });
  expect_new_sequence_after("switching off and on", [](Keeper& keeper) {
    keeper.stereo().set("temporal-persistence", "0");
    keeper.match(Wall(false));
    keeper.stereo().set("temporal-persistence", "255");
  });
}

TEST(test_discont_begins_a_history) {
  for (const bool left : {true, false}) {
    Keeper keeper;
    expect_kept(keeper.match(Wall(true)), "no DISCONT");
    expect_picture(keeper.match(Wall(true), left, !left), first_map(), "DISCONT");
  }
}

TEST(test_scene_cut_begins_a_history) {
  Keeper keeper;
  expect_kept(keeper.match(Wall(true)), "the same scene");
  // The areas of most noise pictures are too similar for a scene cut, but not with seed 61.
  expect_picture(keeper.match(Wall(true, 61)), first_map(61), "another scene");
}

// Neither a dropped frame without a partner nor a changed property begins a new history.
TEST(test_goes_on_after_drops_and_changes) {
  Keeper keeper;
  gst_harness_push(keeper.stereo().right(), keeper.next(Wall(true).right));
  keeper.next(Wall(true).left);
  expect_kept(keeper.match(Wall(true)), "after a drop");
  wait_until([&] { return keeper.stereo().number("dropped-right") == 1; }, "the drop");
  for (const auto& [name, value] :
       {std::pair{"temporal-alpha", "0.4"}, std::pair{"temporal-delta", "3"},
        std::pair{"uniqueness", "0.9"}, std::pair{"confidence-threshold", "1"},
        std::pair{"temporal-persistence", "200"}}) {
    keeper.stereo().set(name, value);
    expect_kept(keeper.match(Wall(true)), name);
  }
}

// A kept disparity was not measured in the current pair, so it does not change the confidence.
TEST(test_confidence_of_kept_disparities) {
  const Properties properties = joined(keeping, {{"output", "confidence"}});
  const auto confidence_of = [&](bool wall_before) {
    StereoHarness stereo(properties);
    stereo.accept_gray(width, height);
    const Wall before(false), covered(true);
    if (wall_before)
      stereo.process(before.left, before.right);
    return stereo.match(covered.left, covered.right);
  };
  expect_picture(confidence_of(true), confidence_of(false), "confidence");
}
