// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/pairing/pairingtimeout.h"

#include <algorithm>
#include <utility>

#include "cuda/core/range.h"
#include "gst/core/text.h"
#include "gst/sgmstereo/pairing/framepairing.h"

namespace cudavision {
namespace {

std::string milliseconds(GstClockTime time) {
  return text_of(static_cast<double>(time) / GST_MSECOND) + " ms";
}

}  // namespace

std::string InputTimeout::missed(const char* pad, std::int64_t time) {
  quiet_.add(time);
  if (!quiet_.must_warn(warning_timeouts::silent_camera))
    return {};
  return std::string("No frames have arrived on ") + pad +
         " for 2 s, so frames of the other camera are dropped: check the silent camera and its "
         "cable, and put a \"queue\" between each camera and the element.";
}

std::string InputTimeout::sends(const char* pad) {
  const ConditionTimer last = std::exchange(quiet_, {});
  if (!last.has_warned())
    return {};
  return std::string("Frames arrive on ") + pad + " again, after " +
         number_text(static_cast<double>(last.length()) / GST_SECOND, 1) + " s without frames.";
}

void PairingTimeout::end() {
  last_ = {};
  counts_ = {};
  nearest_ = GST_CLOCK_TIME_NONE;
  unpaired_.restart();
}

std::string PairingTimeout::add(Side side, std::int64_t time, std::optional<std::int64_t> other,
                                GstClockTime max_skew) {
  ++counts_[side];
  last_[side] = time;
  unpaired_.add(time);
  // In live pipelines, the partner may be the other camera's last dropped frame.
  for (const std::optional<std::int64_t>& partner : {other, last_[1 - side]})
    if (partner)
      nearest_ = std::min<GstClockTime>(nearest_, time_between(time, *partner));
  if (std::min(counts_[left], counts_[right]) < warning_timeouts::min_unpaired_frames ||
      nearest_ <= max_skew || !unpaired_.must_warn(warning_timeouts::unpaired_frames))
    return {};
  const GstClockTime enough = (nearest_ / GST_MSECOND + 1) * GST_MSECOND;
  return "No pair has formed for 2 s, because the frames of the two cameras are at least " +
         milliseconds(nearest_) + " apart, but max-skew allows " + milliseconds(max_skew) +
         ": set max-skew=" + std::to_string(enough) + " or more, or trigger both cameras together.";
}

}  // namespace cudavision
