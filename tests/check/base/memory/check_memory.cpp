// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests the memory of the output: the peer's choice, downstream's pool and strides, or the input
// buffer. Compares the layouts that the tests assume with GStreamer's unpacking, because
// GstVideoFormatInfo does not describe formats in which several samples share a word.
#include <gst/video/gstvideometa.h>
#include <gst/video/gstvideopool.h>
#include <gst/video/video.h>

#include <cstring>

#include "tests/check/common/filterharness.h"
#include "tests/check/common/pipelines.h"

using namespace check;

TEST(test_sinks_get_system_memory, .for_each_element()) {
  const std::string source =
      "videotestsrc num-buffers=4 ! video/x-raw,format=NV12,width=62,height=34 ! " +
      tested_launch() + " name=e ! ";
  for (const char* sink :
       {"fakesink", "filesink location=/dev/null", "appsink sync=false wait-on-eos=false",
        "tee name=t ! queue ! fakesink t. ! queue ! fakesink", "queue ! identity ! fakesink",
        "video/x-raw(ANY) ! fakesink", "video/x-raw ! fakesink"})
    run_pipeline(source + sink, [&](GstElement* pipeline) {
      fail_unless(!output_is_cuda(pipeline, "e"), "CUDA memory for: %s", sink);
    });
}

TEST(test_pool_of_downstream, .for_each_element().times(formats().size())) {
  const FormatSpec& format = format_number(index);
  for (bool know_video_meta : {false, true}) {
    GstVideoAlignment align;
    gst_video_alignment_reset(&align);
    if (know_video_meta) {
      align.padding_left = 16;
      align.padding_right = 48;
      align.padding_top = 2;
      align.padding_bottom = 6;
    }
    FilterHarness filter;
    answer_queries(filter.element(), GST_QUERY_ALLOCATION, [&](GstQuery* query) {
      GstCaps* caps = nullptr;
      gst_query_parse_allocation(query, &caps, nullptr);
      GstVideoInfo video;
      fail_unless(gst_video_info_from_caps(&video, caps));
      const Owned<GstBufferPool> pool(gst_video_buffer_pool_new());
      GstStructure* config = gst_buffer_pool_get_config(pool);
      gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
      gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_ALIGNMENT);
      gst_buffer_pool_config_set_video_alignment(config, &align);
      gst_buffer_pool_config_set_params(config, caps, static_cast<guint>(video.size), 2, 8);
      fail_unless(gst_buffer_pool_set_config(pool, config));
      config = gst_buffer_pool_get_config(pool);
      guint size = 0;
      gst_buffer_pool_config_get_params(config, nullptr, &size, nullptr, nullptr);
      gst_structure_free(config);
      gst_query_add_allocation_pool(query, pool, size, 2, 8);
      if (know_video_meta)
        gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
    });
    filter.accept_caps(format, 34, 20, colorimetry(format, false));
    const Picture picture = make_picture(format, 34, 20, Content::natural, 3);
    for (int i = 0; i < 12; ++i)
      expect_picture(filter.process(picture, odd_layout), result(picture),
                     "in downstream's memory");
  }
}

// The ALLOCATION query's answer allows any strides, and frames of the offered pools are processed.
TEST(test_pool_for_upstream, .for_each_element()) {
  for (const FormatSpec& format : formats()) {
    FilterHarness filter;
    filter.accept_caps(format, 35, 21, colorimetry(format, false));
    const Owned<GstCaps> caps = current_caps(filter.source_pad());
    const Owned<GstQuery> query(gst_query_new_allocation(caps, TRUE));
    fail_unless(gst_pad_peer_query(filter.source_pad(), query), "%s", format.name);
    fail_unless(gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr),
                "%s: the answer lacks GstVideoMeta", format.name);
    const Picture picture = make_picture(format, 35, 21, Content::natural, 3);
    for (guint i = 0; i < gst_query_get_n_allocation_pools(query); ++i) {
      GstBufferPool* offered = nullptr;
      guint size = 0, minimum = 0, maximum = 0;
      gst_query_parse_nth_allocation_pool(query, i, &offered, &size, &minimum, &maximum);
      const Owned<GstBufferPool> pool(offered);
      if (pool == nullptr)
        continue;
      GstStructure* config = gst_buffer_pool_get_config(pool);
      gst_buffer_pool_config_set_params(config, caps, size, minimum, maximum);
      gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
      fail_unless(gst_buffer_pool_set_config(pool, config));
      fail_unless(gst_buffer_pool_set_active(pool, TRUE));
      for (int frame = 0; frame < 3; ++frame) {
        GstBuffer* in = nullptr;
        fail_unless_equals_int(gst_buffer_pool_acquire_buffer(pool, &in, nullptr), GST_FLOW_OK);
        GstVideoInfo info;
        gst_video_info_from_caps(&info, caps);
        GstVideoFrame mapped;
        fail_unless(gst_video_frame_map(&mapped, &info, in, GST_MAP_WRITE));
        for (std::size_t p = 0; p < picture.planes.size(); ++p)
          for (int y = 0; y < picture.planes[p].rows; ++y)
            memcpy(static_cast<guint8*>(mapped.data[p]) + mapped.info.stride[p] * y,
                   picture.planes[p].row(y), static_cast<gsize>(picture.planes[p].row_bytes));
        gst_video_frame_unmap(&mapped);
        filter.expect(in, result(picture), "from the proposed pool");
      }
      gst_buffer_pool_set_active(pool, FALSE);
    }
  }
}

TEST(test_identity_pushes_the_input_buffer, .for_each_element().times(formats().size())) {
  const FormatSpec& format = format_number(index);
  FilterHarness filter{tested().idle};
  filter.accept_caps(format, 32, 18, colorimetry(format, false));
  const Picture picture = make_picture(format, 32, 18, Content::natural, 3);
  for (bool idle : {true, false, true}) {
    filter.set(idle ? tested().idle : tested().working);
    const Owned<GstBuffer> in(to_buffer(picture));
    const Owned<GstBuffer> out = filter.process(gst_buffer_ref(in));
    fail_unless((in == out) == idle, "%s, idle: %d", format.name, idle);
  }
}

namespace {

/// Makes a pool of page-aligned system memory, with frames of `size` bytes.
Owned<GstBufferPool> pool_of_pages(GstCaps* caps, gsize size) {
  Owned<GstBufferPool> pool(gst_buffer_pool_new());
  GstAllocationParams params;
  gst_allocation_params_init(&params);
  params.align = 4095;
  GstStructure* config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, caps, static_cast<guint>(size), 3, 0);
  gst_buffer_pool_config_set_allocator(config, nullptr, &params);
  fail_unless(gst_buffer_pool_set_config(pool, config));
  return pool;
}

constexpr int width = 37, height = 5;

/// Unpacks row y with GStreamer to AYUV or ARGB. 8-bit samples become the upper bytes of words.
std::vector<int> unpacked_row(const Picture& picture, const GstVideoFormatInfo* format, int y) {
  gpointer data[GST_VIDEO_MAX_PLANES] = {};
  gint stride[GST_VIDEO_MAX_PLANES] = {};
  for (std::size_t p = 0; p < picture.planes.size(); ++p) {
    data[p] = const_cast<std::uint8_t*>(picture.planes[p].row(0));
    stride[p] = picture.planes[p].row_bytes;
  }
  const bool deep =
      GST_VIDEO_FORMAT_INFO_BITS(gst_video_format_get_info(format->unpack_format)) > 8;
  std::vector<guint16> words(std::size_t{4} * (width + 8));
  format->unpack_func(format, GST_VIDEO_PACK_FLAG_NONE, words.data(), data, stride, 0, y, width);
  const auto* bytes = reinterpret_cast<const guint8*>(words.data());
  std::vector<int> row;
  for (std::size_t i = 0; i < std::size_t{4} * width; ++i)
    row.push_back(deep ? words[i] : bytes[i] << 8);
  return row;
}

}  // namespace

// Recurring memory is page-locked after a while. Upstream frees it before or after the stop.
TEST(test_memory_that_comes_back, .for_each_element().times(2)) {
  // An NV12 frame of this size fills 33 pages.
  constexpr int width = 352, height = 256;
  const FormatSpec& format = format_named("NV12");
  const Picture pictures[] = {make_picture(format, width, height, Content::natural, 1),
                              make_picture(format, width, height, Content::ramp, 2)};
  const Picture expected[] = {result(pictures[0]), result(pictures[1])};
  const std::vector<std::uint8_t> bytes[] = {
      bytes_of(Owned<GstBuffer>(to_buffer(pictures[0])).get()),
      bytes_of(Owned<GstBuffer>(to_buffer(pictures[1])).get())};
  const Owned<GstCaps> caps = caps_from(caps_of(format, width, height));
  const Owned<GstBufferPool> upstream = pool_of_pages(caps, bytes[0].size());
  const Owned<GstBufferPool> downstream = pool_of_pages(caps, bytes[0].size());
  fail_unless(gst_buffer_pool_set_active(upstream, TRUE));
  std::vector<Owned<GstBuffer>> outputs;
  {
    FilterHarness filter;
    answer_queries(filter.element(), GST_QUERY_ALLOCATION, [&](GstQuery* query) {
      gst_query_add_allocation_pool(query, downstream, static_cast<guint>(bytes[0].size()), 3, 0);
    });
    filter.accept_caps(format, width, height, colorimetry(format, false));
    for (int i = 0; i < 20; ++i) {
      GstBuffer* in = nullptr;
      fail_unless_equals_int(gst_buffer_pool_acquire_buffer(upstream, &in, nullptr), GST_FLOW_OK);
      gst_buffer_fill(in, 0, bytes[i % 2].data(), bytes[i % 2].size());
      Owned<GstBuffer> out = filter.process(in);
      expect_picture(from_buffer(out, format, width, height), expected[i % 2],
                     "frame " + std::to_string(i));
      if (i >= 18)
        outputs.push_back(std::move(out));
    }
    if (index == 0)
      gst_buffer_pool_set_active(upstream, FALSE);
  }
  gst_buffer_pool_set_active(upstream, FALSE);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    expect_picture(from_buffer(outputs[i], format, width, height), expected[i],
                   "after the element has gone");
}

TEST(test_samples_are_where_gstreamer_reads_them, .times(formats().size())) {
  const FormatSpec& format = format_number(index);
  const GstVideoFormatInfo* info =
      gst_video_format_get_info(gst_video_format_from_string(format.name));
  fail_unless(info->unpack_func != nullptr, "GStreamer has no format %s", format.name);
  const Picture picture = make_picture(format, width, height, Content::random, 11);
  for (int y = 0; y < height; ++y) {
    const std::vector<int> row = unpacked_row(picture, info, y);
    for (int x = 0; x < width; ++x) {
      const int* pixel = row.data() + std::ptrdiff_t{4} * x;
      for (int c = 0; c < static_cast<int>(format.places.size()); ++c)
        fail_unless(pixel[c + 1] >> (16 - format.bits) == picture.sample(c, x, y),
                    "%s: component %d is %d at %d,%d, but GStreamer reads %d", format.name, c,
                    picture.sample(c, x, y), x, y, pixel[c + 1] >> (16 - format.bits));
      if (GST_VIDEO_FORMAT_INFO_HAS_ALPHA(info)) {
        const Place& alpha = format.others.back().place;
        const int bits = alpha.depth != 0 ? alpha.depth : format.bits;
        fail_unless(pixel[0] >> (16 - bits) == picture.sample_at(alpha, x, y), "%s: alpha at %d,%d",
                    format.name, x, y);
      }
    }
  }
}
