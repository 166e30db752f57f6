// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests which metas the elements copy, depending on their tags, and the timestamps, flags and
// offsets of buffers.
#include <gst/video/gstvideometa.h>
#include <gst/video/video.h>

#include "tests/check/common/filterharness.h"

using namespace check;

namespace {

struct TaggedMeta {
  const char* name;
  std::vector<const char*> tags;
  bool kept;
};

const std::vector<TaggedMeta>& tagged_metas() {
  static const std::vector<TaggedMeta> metas = {
      {"CheckUntagged", {}, true},
      {"CheckVideo", {"video"}, true},
      {"CheckSize", {"size"}, true},
      {"CheckOrientation", {"orientation"}, true},
      {"CheckVideoSizeOrientation", {"video", "size", "orientation"}, true},
      {"CheckMemory", {"memory"}, false},
      {"CheckVideoMemory", {"video", "memory"}, false},
      {"CheckColorspace", {"video", "colorspace"}, false},
      {"CheckOwn", {"something-else"}, false},
  };
  return metas;
}

void register_metas() {
  static bool done = false;  // all tests share one process when check does not fork
  if (done)
    return;
  done = true;
  for (const TaggedMeta& meta : tagged_metas()) {
    std::vector<const gchar*> tags(meta.tags.begin(), meta.tags.end());
    tags.push_back(nullptr);
    gst_meta_register_custom(meta.name, tags.data(), nullptr, nullptr, nullptr);
  }
}

void start(FilterHarness& filter, const FormatSpec& format) {
  filter.accept_caps(format, 32, 18, colorimetry(format, false));
}

int count_video_metas(GstBuffer* buffer) {
  gpointer state = nullptr;
  int count = 0;
  while (gst_buffer_iterate_meta_filtered(buffer, &state, GST_VIDEO_META_API_TYPE) != nullptr)
    ++count;
  return count;
}

}  // namespace

TEST(test_metas_by_tag, .for_each_element()) {
  register_metas();
  const FormatSpec& format = format_named("NV12");
  FilterHarness filter;
  start(filter, format);
  GstBuffer* in = to_buffer(make_picture(format, 32, 18, Content::natural, 1));
  for (const TaggedMeta& meta : tagged_metas()) {
    GstCustomMeta* custom = gst_buffer_add_custom_meta(in, meta.name);
    fail_unless(custom != nullptr);
    gst_structure_set(gst_custom_meta_get_structure(custom), "answer", G_TYPE_INT, 42, nullptr);
  }
  const Owned<GstBuffer> out = filter.process(in);
  for (const TaggedMeta& meta : tagged_metas()) {
    GstCustomMeta* custom = gst_buffer_get_custom_meta(out, meta.name);
    fail_unless((custom != nullptr) == meta.kept, "%s was %s", meta.name,
                meta.kept ? "lost" : "kept");
    gint answer = 0;
    if (custom != nullptr)
      fail_unless(gst_structure_get_int(gst_custom_meta_get_structure(custom), "answer", &answer) &&
                  answer == 42);
  }
}

TEST(test_metas_of_gstreamer, .for_each_element()) {
  const FormatSpec& format = format_named("BGRA");
  FilterHarness filter;
  start(filter, format);
  GstBuffer* in = to_buffer(make_picture(format, 32, 18, Content::natural, 1));
  GstVideoCropMeta* crop = gst_buffer_add_video_crop_meta(in);
  crop->x = 3;
  crop->y = 4;
  crop->width = 20;
  crop->height = 10;
  GstVideoRegionOfInterestMeta* region =
      gst_buffer_add_video_region_of_interest_meta(in, "face", 5, 6, 7, 8);
  region->id = 99;
  const Owned<GstCaps> clock(gst_caps_new_empty_simple("timestamp/x-unix"));
  gst_buffer_add_reference_timestamp_meta(in, clock, 123456789, 40);
  gst_buffer_add_video_time_code_meta_full(in, 25, 1, nullptr, GST_VIDEO_TIME_CODE_FLAGS_NONE, 1, 2,
                                           3, 4, 0);

  const Owned<GstBuffer> out = filter.process(in);
  crop = gst_buffer_get_video_crop_meta(out);
  fail_unless(crop != nullptr && crop->x == 3 && crop->y == 4 && crop->width == 20 &&
              crop->height == 10);
  region = gst_buffer_get_video_region_of_interest_meta_id(out, 99);
  fail_unless(region != nullptr && region->x == 5 && region->h == 8);
  GstReferenceTimestampMeta* reference = gst_buffer_get_reference_timestamp_meta(out, clock);
  fail_unless(reference != nullptr && reference->timestamp == 123456789);
  fail_unless(gst_buffer_get_video_time_code_meta(out) != nullptr);
}

// The GstVideoMeta of the input must not be copied to other memory.
TEST(test_video_meta_is_the_outputs, .for_each_element().times(formats().size())) {
  const FormatSpec& format = format_number(index);
  FilterHarness filter;
  filter.accept_caps(format, 31, 17, colorimetry(format, false));
  const Picture picture = make_picture(format, 31, 17, Content::natural, 1);
  for (const Layout& layout : all_layouts) {
    const Owned<GstBuffer> out = filter.process(to_buffer(picture, layout));
    fail_unless(count_video_metas(out) <= 1, "%d GstVideoMeta", count_video_metas(out));
    expect_picture(from_buffer(out, format, 31, 17), result(picture), "with meta");
    // This downstream has not announced support of GstVideoMeta.
    expect_picture(from_plain_buffer(out, format, 31, 17), result(picture), "without meta");
  }
}

TEST(test_timestamps_offsets_flags, .for_each_element()) {
  const FormatSpec& format = format_named("I420");
  for (const Property& property : {tested().working, tested().idle}) {
    FilterHarness filter{property};
    start(filter, format);
    for (guint flags : {0u, guint{GST_BUFFER_FLAG_DISCONT}, guint{GST_BUFFER_FLAG_GAP},
                        guint{GST_BUFFER_FLAG_CORRUPTED}, guint{GST_BUFFER_FLAG_MARKER},
                        guint{GST_BUFFER_FLAG_DELTA_UNIT}, guint{GST_VIDEO_BUFFER_FLAG_INTERLACED},
                        guint{GST_VIDEO_BUFFER_FLAG_TFF} | guint{GST_VIDEO_BUFFER_FLAG_INTERLACED},
                        guint{GST_VIDEO_BUFFER_FLAG_RFF}, guint{GST_BUFFER_FLAG_DROPPABLE}}) {
      GstBuffer* in = stamped(to_buffer(make_picture(format, 32, 18, Content::natural, 1)));
      GST_BUFFER_FLAG_SET(in, flags);
      const Owned<GstBuffer> out = filter.process(in);
      expect_stamps(out);
      const guint ours = GST_BUFFER_FLAGS(out.get()) & ~guint{GST_BUFFER_FLAG_TAG_MEMORY};
      fail_unless_equals_int_hex(ours, flags);
    }
  }
}

// A frame with the GAP flag still has pixels, which are processed.
TEST(test_gap_flag_is_processed, .for_each_element()) {
  const FormatSpec& format = format_named("RGBA");
  FilterHarness filter;
  start(filter, format);
  const Picture picture = make_picture(format, 32, 18, Content::natural, 1);
  GstBuffer* in = to_buffer(picture);
  GST_BUFFER_FLAG_SET(in, GST_BUFFER_FLAG_GAP);
  filter.expect(in, result(picture), "gap");
}

// Flags and metas of a frame must not remain on the pool's buffer.
TEST(test_nothing_left_from_earlier_frames, .for_each_element()) {
  register_metas();
  const FormatSpec& format = format_named("GRAY8");
  FilterHarness filter;
  start(filter, format);
  for (int i = 0; i < 40; ++i) {
    GstBuffer* in = to_buffer(Picture(format, 32, 18));
    const bool marked = i % 3 == 0;
    if (marked) {
      GST_BUFFER_FLAG_SET(in, GST_BUFFER_FLAG_CORRUPTED);
      gst_buffer_add_custom_meta(in, "CheckUntagged");
    }
    const Owned<GstBuffer> out = filter.process(in);
    fail_unless(GST_BUFFER_FLAG_IS_SET(out.get(), GST_BUFFER_FLAG_CORRUPTED) == marked);
    fail_unless((gst_buffer_get_custom_meta(out, "CheckUntagged") != nullptr) == marked);
    fail_unless(count_video_metas(out) <= 1);
  }
}
