// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/fuzz/hostile/hostiletimes.h"

#include <algorithm>
#include <cmath>

namespace fuzz {

GstClockTime hostile_time(check::Random& random) {
  constexpr GstClockTime half = GstClockTime(1) << 63;
  const GstClockTime near = static_cast<GstClockTime>(random.below(100)) * GST_MSECOND;
  switch (random.below(8)) {
    case 0:
      return 0;
    case 1:
      return near;
    case 2:
      return half - 1 - near;
    case 3:
      return half + near;
    case 4:
      return GST_CLOCK_TIME_NONE - 1 - near;
    case 5:
      return half / 2 + near;
    case 6:
      return GST_CLOCK_TIME_NONE;
    default:
      return random.any_number();
  }
}

void set_hostile_times(check::Random& random, GstBuffer* buffer) {
  if (random.below(2) == 0)
    GST_BUFFER_PTS(buffer) = hostile_time(random);
  if (random.below(2) == 0)
    GST_BUFFER_DTS(buffer) = hostile_time(random);
  if (random.below(2) == 0)
    GST_BUFFER_DURATION(buffer) = hostile_time(random);
}

GstSegment hostile_segment(check::Random& random) {
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.rate = random.one_of({1.0, 1.0, -1.0, 0.5, 1e-9, 1e9});
  segment.applied_rate = random.one_of({1.0, 1.0, -1.0, 1e-9, 1e9});
  for (guint64* field : {&segment.base, &segment.offset, &segment.start, &segment.stop,
                         &segment.time, &segment.position, &segment.duration})
    if (random.below(3) == 0)
      *field = hostile_time(random);
  // Avoids segments at which assertions of GStreamer fail.
  if (segment.start == GST_CLOCK_TIME_NONE)
    segment.start = 0;
  if (segment.stop < segment.start)
    segment.stop = GST_CLOCK_TIME_NONE;
  if (segment.stop == GST_CLOCK_TIME_NONE)
    segment.rate = std::abs(segment.rate);
  if (segment.rate < 0)
    segment.offset = std::min(segment.offset, segment.stop);
  return segment;
}

const char* hostile_framerate(check::Random& random) {
  return random.one_of({"0/1", "0/1", "25/1", "1/2147483647", "2147483647/1",
                        "2147483647/2147483646", "30000/1001"});
}

}  // namespace fuzz
