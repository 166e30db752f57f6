// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests the caps and buffers of cudathreshold, and the range of its input samples.
#include <gst/video/gstvideometa.h>

#include "tests/check/common/definitions/thresholddefinition.h"
#include "tests/check/common/outputcaps.h"
#include "tests/check/common/pipelines.h"

using namespace check;

// Thresholds are relative to black. Without colorimetry, YUV is limited. RGB is always full.
TEST(test_range_follows_the_caps) {
  for (const char* name : {"GRAY8", "GRAY16_LE", "I420", "P010_10LE", "YUY2", "RGB"}) {
    const FormatSpec& format = format_named(name);
    const bool rgb = format.family == Family::rgb;
    const bool by_default = format.family == Family::yuv;
    const Picture page = picture_with(format, 61, 47, [&](int, int x, int y) {
      return ((x + 2 * y) % 5 == 0 ? 34 : 40) << (format.bits - 8);
    });
    for (bool sauvola : {false, true}) {
      Threshold how{9, sauvola}, other = how;
      other.limited = true;
      const Picture full = thresholded(page, how, gray());
      fail_unless(rgb || !difference(full, thresholded(page, other, gray())).empty(),
                  "%s: the picture does not show its range", name);
      FilterHarness filter("cudathreshold", how.properties());
      for (const auto& [caps, limited] :
           {std::pair{colorimetry(format, true), true},
            {colorimetry(format, false), false},
            {std::string(), by_default},
            {std::string(rgb ? ", colorimetry=2:1:7:1" : ", colorimetry=bt709"), true},
            {std::string(rgb ? ", colorimetry=1:1:7:1" : ", colorimetry=1:3:5:1"), false}}) {
        filter.accept_caps(format, 61, 47, caps);
        how.limited = limited;
        expect_gray_picture(filter, page, thresholded(page, how, gray()), how.description());
      }
    }
  }
}

TEST(test_output_caps) {
  for (const OutputCaps& expected : {
           OutputCaps{{},
                      "format=NV12, width=64, height=48, framerate=25/1, "
                      "pixel-aspect-ratio=16/15, colorimetry=bt709, chroma-site=mpeg2, "
                      "interlace-mode=interleaved, field-order=top-field-first, "
                      "multiview-mode=side-by-side, multiview-flags=half-aspect, views=1",
                      "",
                      "format=GRAY8, width=64, height=48, framerate=25/1, "
                      "pixel-aspect-ratio=16/15, interlace-mode=interleaved, "
                      "field-order=top-field-first, multiview-mode=side-by-side, "
                      "multiview-flags=half-aspect, views=1"},
           OutputCaps{{},
                      "format=P010_10LE, width=7, height=3, framerate=25/1",
                      ", format=(string){ GRAY16_LE, GRAY8 }",
                      "format=GRAY8, width=7, height=3, framerate=25/1"},
           OutputCaps{{},
                      "format=RGBA, width=7, height=3, framerate=25/1",
                      ", format=GRAY16_LE",
                      "format=GRAY16_LE, width=7, height=3, framerate=25/1"},
       })
    expect_output_caps("cudathreshold", expected);
}

TEST(test_pictures_that_downstream_takes) {
  for (const char* downstream : {"video/x-raw, format=GRAY8", "video/x-raw, format=GRAY16_LE"})
    expect_offers("cudathreshold", {}, downstream,
                  {"video/x-raw, format=NV12", "video/x-raw, format=P010_10LE"}, {});
  expect_offers("cudathreshold", {}, "video/x-raw, width=9", {"video/x-raw, width=9"},
                {"video/x-raw, width=8"});
  for (const char* none : {"video/x-raw, format=RGB", "other/tensors"})
    expect_offers("cudathreshold", {}, none, {}, {"video/x-raw"});
}

TEST(test_system_memory_unless_named) {
  for (const char* sink :
       {"video/x-raw(ANY) ! fakesink", "video/x-raw ! fakesink", "videoconvert ! fakesink"})
    run_pipeline(std::string("videotestsrc num-buffers=2 ! video/x-raw,width=62,height=34 ! "
                             "cudathreshold name=e ! ") +
                     sink,
                 [&](GstElement* pipeline) {
                   const Owned<GstCaps> caps = output_caps(pipeline, "e");
                   fail_unless(!gst_caps_features_contains(gst_caps_get_features(caps, 0),
                                                           "memory:CUDAMemory"),
                               "%" GST_PTR_FORMAT " for: %s", caps.get(), sink);
                 });
}

TEST(test_timestamps_flags_metas) {
  const FormatSpec& format = format_named("I420");
  FilterHarness filter("cudathreshold");
  filter.accept_caps(format, 32, 18);
  GstBuffer* in =
      stamped(to_buffer(make_picture(format, 32, 18, Content::natural, 1), padded_layout));
  GST_BUFFER_FLAG_SET(in, GST_BUFFER_FLAG_DISCONT | GST_BUFFER_FLAG_MARKER);
  gst_buffer_add_video_region_of_interest_meta(in, "face", 5, 6, 7, 8);
  const Owned<GstBuffer> out = filter.process(in);
  expect_stamps(out);
  fail_unless(GST_BUFFER_FLAG_IS_SET(out.get(), GST_BUFFER_FLAG_DISCONT) &&
              GST_BUFFER_FLAG_IS_SET(out.get(), GST_BUFFER_FLAG_MARKER));
  fail_unless(gst_buffer_get_video_region_of_interest_meta_id(out, 0) != nullptr);
}

TEST(test_behind_another_element, .times(formats().size())) {
  const FormatSpec& format = format_number(index);
  const std::string feature = testing_cuda() ? "video/x-raw(memory:CUDAMemory)" : "video/x-raw";
  const std::string backend = " backend=" + test_backend() + " ";
  const Picture picture = make_picture(format, 61, 37, Content::natural, 4);
  const std::string launch = "cudagaussblur sigma=0" + backend + "! capsfilter caps=" + feature +
                             " ! cudathreshold" + backend + "! capsfilter caps=" + feature +
                             " ! cudagaussblur sigma=0" + backend;
  const Owned<GstHarness> harness = new_shared_harness(launch);
  gst_harness_set_src_caps_str(harness,
                               caps_of(format, 61, 37, colorimetry(format, false)).c_str());
  const Owned<GstBuffer> out(gst_harness_push_and_pull(harness, to_buffer(picture, odd_layout)));
  fail_unless(out != nullptr, "nothing came out of: %s", launch.c_str());
  fail_unless(!is_cuda_memory(out));
  expect_picture(from_buffer(out, gray(), 61, 37), thresholded(picture, {}, gray()), launch);
}
