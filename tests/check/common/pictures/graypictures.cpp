// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/pictures/graypictures.h"

#include <gst/video/video.h>

#include <cstring>

namespace check {

void expect_gray_picture(FilterHarness& filter, const Picture& picture, const Picture& expected,
                         const std::string& what, const Layout& layout) {
  const Owned<GstBuffer> out = filter.process_unchanged(picture, layout);
  GstVideoInfo info;
  const Owned<GstCaps> caps = current_caps(filter.sink_pad());
  fail_unless(gst_video_info_from_caps(&info, caps) &&
                  std::strcmp(info.finfo->name, expected.format->name) == 0 &&
                  info.width == expected.width && info.height == expected.height,
              "%" GST_PTR_FORMAT " instead of %s %dx%d", caps.get(), expected.format->name,
              expected.width, expected.height);
  expect_picture(from_buffer(out, *expected.format, expected.width, expected.height), expected,
                 what);
}

}  // namespace check
