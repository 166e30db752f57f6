// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests the property frames: which frames are searched, and the order and metas of delayed frames.
#include <gst/video/video.h>

#include "tests/check/denoise/film.h"

using namespace check;

// Near both ends of a video, and in very short videos, fewer frames are searched.
TEST(test_each_number_of_frames, .times(4)) {
  const int frames = 2 * index + 3;
  for (const char* format : {"GRAY8", "NV12", "RGB", "GRAY16_LE"})
    for (const int length : {1, 2, 4, 12}) {
      const auto pictures = film(format, length);
      Film one(frames, format);
      for (int i = 0; i < length; ++i) {
        fail_unless_equals_int(one.push(pictures[i]), GST_FLOW_OK);
        if (const int ready = i - frames / 2; ready >= 0)
          one.expect(expected(pictures, ready, frames, 0, length),
                     "frame " + std::to_string(ready));
        one.expect_none();
      }
      one.filter.send_eos();
      for (int i = std::max(0, length - frames / 2); i < length; ++i)
        one.expect(expected(pictures, i, frames, 0, length), "frame " + std::to_string(i));
      one.expect_none();
    }
}

// No frame beyond a scene cut is searched. In RGB of more than 8 bits, green reveals the cut.
TEST(test_scene_cuts) {
  for (const auto& [format, level] : {std::pair{"I420", 150}, std::pair{"GBR_10LE", 700}}) {
    auto pictures = film(format, 6);
    const auto other = film(format, 5, level, 2);
    pictures.insert(pictures.end(), other.begin(), other.end());
    Film one(5, format);
    one.push(pictures, 0, 11);
    one.filter.send_eos();
    one.expect(pictures, 5, 0, 6);
    one.expect(pictures, 5, 6, 11);
  }
}

// If the bright half changes sides, the histogram hardly changes, but a new scene begins.
TEST(test_cut_to_a_mirror_image, .times(3)) {
  const char* const formats[] = {"I420", "BGRx", "GRAY16_LE"};
  constexpr Size size = {58, 36};
  std::vector<Picture> pictures = film(formats[index], 6, 40, 1, size);
  const FormatSpec& format = *pictures[0].format;
  const int step = format.bits == 16 ? 60 * 256 : 60;
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    const Picture plain = pictures[i];
    pictures[i] = picture_with(format, size.width, size.height, [&](int place, int x, int y) {
      const bool is_bright = (x >= size.width / 2) == (i < 3);
      return plain.sample(place, x, y) + (is_bright ? step : 0);
    });
  }
  Film one(5, format.name, {}, size);
  one.push(pictures, 0, 6);
  one.filter.send_eos();
  one.expect(pictures, 5, 0, 3);
  one.expect(pictures, 5, 3, 6);
}

TEST(test_interruptions, .times(4)) {
  const auto pictures = film("GRAY8", 9);
  Film one(5);
  one.push(pictures, 0, 5);
  if (index == 0)
    one.filter.send_segment(new_segment());
  else if (index == 1)
    one.filter.send_event(gst_event_new_gap(5 * frame_time, frame_time));
  else if (index == 2)
    fail_unless(
        one.filter.send_caps("video/x-raw, format=GRAY8, width=29, height=18, "
                             "framerate=50/1, colorimetry=1:4:0:0"));
  for (int i = 5; i < 9; ++i) {
    GstBuffer* buffer = at(i * frame_time, to_buffer(pictures[i]));
    if (index == 3 && i == 5)
      GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_DISCONT);
    fail_unless_equals_int(one.filter.push(buffer), GST_FLOW_OK);
  }
  one.filter.send_eos();
  one.expect(pictures, 5, 0, 5);
  one.expect(pictures, 5, 5, 9);
  one.expect_none();
}

TEST(test_flush) {
  const auto pictures = film("GRAY8", 9);
  Film one(5);
  one.push(pictures, 0, 4);
  one.expect(expected(pictures, 0, 5, 0, 4), "frame 0");
  one.expect(expected(pictures, 1, 5, 0, 4), "frame 1");
  one.filter.flush();
  one.filter.send_segment(new_segment());
  one.expect_none();
  for (int i = 4; i < 9; ++i)
    one.filter.push(at((i - 2) * frame_time, to_buffer(pictures[i])));
  one.filter.send_eos();
  one.expect(pictures, 5, 4, 9);
  one.expect_none();
}

// A change of `frames` while playing pushes all delayed frames.
TEST(test_change_while_playing) {
  const auto pictures = film("GRAY8", 12);
  Film one(3);
  const int changes[][3] = {{3, 0, 4}, {7, 4, 8}, {1, 8, 9}, {5, 9, 12}};  // frames, first, end
  for (const auto& [frames, first, end] : changes) {
    one.filter.set("frames", std::to_string(frames));
    for (int i = first; i < end; ++i)
      one.push(pictures[i]);
  }
  one.filter.send_eos();
  for (const auto& [frames, first, end] : changes)
    one.expect(pictures, frames, first, end);
  one.expect_none();
}

TEST(test_missing_frames) {
  const auto pictures = film("GRAY8", 5);
  Film one(3);
  for (int i = 0; i < 5; ++i) {
    GstBuffer* buffer = i == 2 ? missing_frame() : to_buffer(pictures[i]);
    one.filter.push(at(i * frame_time, buffer));
  }
  one.filter.send_eos();
  one.expect(pictures, 3, 0, 2);
  one.expect_missing();
  one.expect(pictures, 3, 3, 5);
}

// Frames keep times, flags and metas; with strength 0 they are delayed unchanged.
TEST(test_metas_and_unchanged_frames) {
  const auto pictures = film("GRAY8", 6);
  Film one(5, "GRAY8", {{"strength", "0"}});
  for (guint64 i = 0; i < 6; ++i) {
    GstBuffer* buffer = at(i * frame_time, to_buffer(pictures[i]));
    GST_BUFFER_OFFSET(buffer) = 100 + i;
    gst_buffer_add_video_region_of_interest_meta(buffer, "face", static_cast<guint>(i), 0, 4, 4);
    if (i == 3)
      GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_MARKER);
    one.filter.push(buffer);
  }
  one.filter.send_eos();
  for (guint64 i = 0; i < 6; ++i) {
    const Owned<GstBuffer> out = one.filter.pull();
    fail_unless_equals_uint64(GST_BUFFER_PTS(out), i * frame_time);
    fail_unless_equals_uint64(GST_BUFFER_OFFSET(out), 100 + i);
    fail_unless_equals_int(GST_BUFFER_FLAG_IS_SET(out.get(), GST_BUFFER_FLAG_MARKER), i == 3);
    const GstVideoRegionOfInterestMeta* face = gst_buffer_get_video_region_of_interest_meta(out);
    fail_unless(face && face->x == i);
    expect_picture(from_buffer(out, gray(), 29, 18), pictures[i], "unchanged");
  }
}

// Frames that QoS drops are not searched, and the next frame is marked as DISCONT.
TEST(test_late_frames) {
  const auto pictures = film("GRAY8", 4);
  Film one(3);
  one.push(pictures, 0, 2);
  gst_harness_push_upstream_event(one.filter.harness(),
                                  gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 1, 0, 3 * frame_time));
  for (int late = 0; late < 2; ++late)
    one.push(pictures[1]);
  one.push(pictures, 2, 4);
  one.filter.send_eos();
  for (int i = 0; i < 4; ++i) {
    const Owned<GstBuffer> out = one.filter.pull();
    fail_unless_equals_uint64(GST_BUFFER_PTS(out), (i < 2 ? i : i + 2) * frame_time);
    fail_unless_equals_int(GST_BUFFER_FLAG_IS_SET(out.get(), GST_BUFFER_FLAG_DISCONT), i == 2);
    expect_picture(from_buffer(out, gray(), 29, 18), expected(pictures, i, 3, 0, 4),
                   "frame " + std::to_string(i));
  }
  one.expect_none();
}

// The element must keep no buffers, because upstream's pool may be small.
TEST(test_keeps_no_buffers) {
  const auto pictures = film("GRAY8", 6);
  Film one(9);
  for (const Picture& picture : pictures) {
    GstBuffer* buffer = to_buffer(picture);
    gst_buffer_ref(buffer);
    one.filter.push(buffer);
    ASSERT_BUFFER_REFCOUNT(buffer, "an input", 1);
    gst_buffer_unref(buffer);
  }
}

TEST(test_latency) {
  Film one(5);
  const auto expect = [&](GstClockTime latency) {
    fail_unless_equals_uint64(gst_harness_query_latency(one.filter.harness()), latency);
  };
  gst_harness_set_upstream_latency(one.filter.harness(), 10 * GST_MSECOND);
  expect(10 * GST_MSECOND + 2 * frame_time);
  one.filter.set("frames", "9");
  one.push(film("GRAY8", 1)[0]);
  expect(10 * GST_MSECOND + 4 * frame_time);
  one.filter.set("frames", "1");
  one.push(film("GRAY8", 1)[0]);
  expect(10 * GST_MSECOND);
}

TEST(test_restart) {
  const auto pictures = film("GRAY8", 3);
  Film one(3);
  one.push(pictures[0]);
  fail_unless_equals_int(gst_element_set_state(one.filter.element(), GST_STATE_READY),
                         GST_STATE_CHANGE_SUCCESS);
  one.expect_none();
}
