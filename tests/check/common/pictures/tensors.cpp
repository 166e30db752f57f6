// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/pictures/tensors.h"

#include <gst/video/video.h>

#include <algorithm>

#include "tests/check/common/pipelines.h"

namespace check {

namespace {

std::string description(const Picture& picture, const Integral& how) {
  return std::string(picture.format->name) + " " + std::to_string(picture.width) + "x" +
         std::to_string(picture.height) + ", " + how.description();
}

}  // namespace

void expect_tensor(GstBuffer* buffer, const GstCaps* caps, const Tensor& expected,
                   const std::string& what) {
  const bool cuda = gst_caps_features_contains(gst_caps_get_features(caps, 0), "memory:CUDAMemory");
  fail_unless_equals_int(is_cuda_memory(buffer), cuda);
  const Owned<GstCaps> right = caps_from(expected.caps());
  if (cuda)
    gst_caps_set_features(right, 0, gst_caps_features_new("memory:CUDAMemory", nullptr));
  fail_unless(gst_caps_is_equal(caps, right), "%s: %" GST_PTR_FORMAT " instead of %" GST_PTR_FORMAT,
              what.c_str(), caps, right.get());
  fail_unless(gst_buffer_get_video_meta(buffer) == nullptr, "%s: the tensor has a GstVideoMeta",
              what.c_str());
  const std::vector<std::uint8_t> bytes = bytes_of(buffer);
  fail_unless(bytes.size() == expected.bytes.size(), "%s: %d bytes instead of %d", what.c_str(),
              static_cast<int>(bytes.size()), static_cast<int>(expected.bytes.size()));
  const auto [got, want] = std::mismatch(bytes.begin(), bytes.end(), expected.bytes.begin());
  if (got == bytes.end())
    return;
  const auto size = static_cast<std::ptrdiff_t>(bytes.size()) / expected.columns / expected.rows;
  const auto element = static_cast<int>((got - bytes.begin()) / size);
  ck_abort_msg("%s: element %d,%d differs (byte %d instead of %d)", what.c_str(),
               element % expected.columns, element / expected.columns, *got, *want);
}

void expect_tensor(FilterHarness& filter, const Picture& picture, const Integral& how,
                   const Layout& layout) {
  const Owned<GstBuffer> out = filter.process_unchanged(picture, layout);
  const Owned<GstCaps> caps = current_caps(filter.sink_pad());
  expect_tensor(out, caps, tensor_of(picture, how), description(picture, how));
}

void expect_gray_picture(FilterHarness& filter, const Picture& picture, const Integral& how,
                         const FormatSpec& format, const Layout& layout) {
  expect_gray_picture(filter, picture, gray_picture_of(picture, how, format),
                      description(picture, how), layout);
}

}  // namespace check
