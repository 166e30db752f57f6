// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/sgmstereo/wallpairs.h"

#include <algorithm>

#include "tests/check/common/testcase.h"

namespace check {

Pair wall(const FormatSpec& format) {
  constexpr int disparity = 12;
  const Picture left = noise_picture(format, width, height, 1);
  return {left, shifted(left, disparity)};
}

Picture moved_down(const Picture& picture, int rows) {
  return picture_with(*picture.format, picture.width, picture.height, [&](int place, int x, int y) {
    return picture.sample(place, x, std::clamp(y - rows, 0, picture.height - 1));
  });
}

std::vector<PackedPair> packed_pairs(const Pair& pair) {
  std::vector<PackedPair> pairs;
  for (const bool side_by_side : {true, false})
    for (const bool right_first : {false, true}) {
      const Picture frame = right_first ? packed(pair.right, pair.left, side_by_side)
                                        : packed(pair.left, pair.right, side_by_side);
      std::string more =
          side_by_side ? ", multiview-mode=side-by-side" : ", multiview-mode=top-bottom";
      if (right_first)
        more += ", multiview-flags=(GstVideoMultiviewFlagsSet)1:ffffffff";
      pairs.push_back({frame, caps_of(gray(), frame.width, frame.height, more),
                       right_first && side_by_side ? width : 0,
                       right_first && !side_by_side ? height : 0});
    }
  return pairs;
}

Properties inspecting(const Properties& more) {
  return joined({{"diagnostics-interval", "1000000000"}, {"num-disparities", "32"}}, more);
}

void send(StereoHarness& stereo, const Pair& pair, int count, GstClockTime first) {
  for (int i = 0; i < count; ++i)
    stereo.process(pair.left, pair.right, first + i * GST_SECOND);
}

void send_eos(StereoHarness& stereo) {
  stereo.send_to_all(gst_event_new_eos);
  stereo.expect_end();
}

std::string warning_for(const Pair& pair, const Properties& properties) {
  StereoHarness stereo(inspecting(properties));
  stereo.accept_caps(caps_of(*pair.left.format, pair.left.width, pair.left.height));
  send(stereo, pair, 2);
  fail_unless(stereo.messages().complaints() <= 1);
  const std::string text = stereo.messages().text(GST_MESSAGE_WARNING);
  // The warning is posted once per start, however often its cause recurs.
  send(stereo, pair, 3, 2 * GST_SECOND);
  send_eos(stereo);
  fail_unless_equals_int(stereo.messages().complaints(), text.empty() ? 0 : 1);
  return text;
}

void expect_no_warning(const Pair& pair, const Properties& properties) {
  const std::string text = warning_for(pair, properties);
  fail_unless(text.empty(), "%s", text.c_str());
}

}  // namespace check
