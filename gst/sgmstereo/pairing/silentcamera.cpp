// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/pairing/silentcamera.h"

#include <gst/gst.h>

#include <cstdio>
#include <utility>

namespace cudavision {
namespace {

constexpr std::int64_t patience = 2 * GST_SECOND;

}  // namespace

std::string SilentCamera::missed(const char* pad, std::int64_t time) {
  // Running time begins anew after a flushing seek.
  if (!since_ || time < *since_)
    since_ = time;
  until_ = time;
  if (warned_ || until_ - *since_ < patience)
    return {};
  warned_ = true;
  return std::string("Nothing has arrived on ") + pad +
         " for 2 s, while the other camera sends frames, which are dropped for lack of partners: "
         "check this camera and its cable, and put a \"queue\" between each camera and the "
         "element.";
}

std::string SilentCamera::sends(const char* pad) {
  const SilentCamera last = std::exchange(*this, {});
  if (!last.warned_)
    return {};
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%.1f",
                static_cast<double>(last.until_ - *last.since_) / GST_SECOND);
  return std::string("Frames arrive on ") + pad + " again, after " + seconds + " s without any.";
}

}  // namespace cudavision
