// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests the buffers of cudaintegral, their memory, and bad and missing frames.
#include <gst/video/gstvideometa.h>

#include "tests/check/common/filterharness.h"
#include "tests/check/common/pictures/tensors.h"
#include "tests/check/common/pipelines.h"

using namespace check;

namespace {

Integral table(Output output, bool same_size = false, ElementType type = ElementType::automatic) {
  return {output, same_size, type};
}

template <class What>
void for_each_table(What what) {
  for (Output output : all_tables)
    for (bool same_size : {false, true})
      what(table(output, same_size));
}

Picture brightest(const FormatSpec& format, int width, int height) {
  return picture_with(format, width, height, [&](int, int, int) { return format.peak(); });
}

std::string type_out(FilterHarness& filter) {
  const Owned<GstCaps> caps = current_caps(filter.sink_pad());
  const gchar* type = gst_structure_get_string(gst_caps_get_structure(caps, 0), "types");
  return type != nullptr ? type : "no tensor";
}

}  // namespace

// The rows of a table are contiguous even in CUDA memory.
TEST(test_tables_in_cuda_memory, .unless(unless_testing_cuda())) {
  constexpr auto map_cuda = static_cast<GstMapFlags>(GST_MAP_READ | GST_MAP_FLAG_LAST << 1);
  for (const char* name : {"GRAY8", "NV12", "BGRA", "GRAY16_LE"})
    for (ElementType type : all_element_types)
      for_each_table([&](Integral how) {
        how.type = type;
        const FormatSpec& format = format_named(name);
        FilterHarness filter("cudaintegral", how.properties());
        filter.accept_downstream("other/tensors(memory:CUDAMemory)");
        for (const Size& size :
             {Size{1, 1}, Size{1, 37}, Size{41, 1}, Size{33, 31}, Size{131, 6}, Size{301, 233}}) {
          filter.accept_caps(format, size.width, size.height, colorimetry(format, false));
          for (unsigned seed : {1u, 2u, 3u}) {
            const Picture picture =
                make_picture(format, size.width, size.height, Content::random, seed);
            expect_tensor(filter, picture, how, odd_layout);
          }
          const Owned<GstBuffer> out = filter.process(
              to_buffer(make_picture(format, size.width, size.height, Content::natural, 4)));
          GstMapInfo on_device, on_host;
          fail_unless_equals_int(gst_buffer_n_memory(out), 1);
          fail_unless(gst_buffer_map(out, &on_device, map_cuda));
          gst_buffer_unmap(out, &on_device);
          fail_unless(gst_buffer_map(out, &on_host, GST_MAP_READ));
          gst_buffer_unmap(out, &on_host);
          fail_unless_equals_uint64(on_device.size, on_host.size);
          fail_unless(on_device.data != on_host.data);
        }
      });
}

// A sum of 32 bits holds at most 66051 squares of 255.
TEST(test_automatic_type) {
  struct Case {
    const char* format;
    Output output;
    Size size;
    const char* type;
  };
  for (const Case& c : {Case{"GRAY8", Output::squared_sum, {22017, 3}, "uint32"},
                        Case{"GRAY8", Output::squared_sum, {22018, 3}, "uint64"},
                        Case{"RGBx", Output::squared_sum, {3, 22017}, "uint32"},
                        Case{"RGBx", Output::squared_sum, {3, 22018}, "uint64"},
                        Case{"GRAY16_LE", Output::sum, {65535, 1}, "uint32"},
                        Case{"GRAY16_LE", Output::sum, {32769, 2}, "uint64"},
                        Case{"GRAY16_LE", Output::squared_sum, {1, 1}, "uint32"},
                        Case{"GRAY16_LE", Output::squared_sum, {2, 1}, "uint64"},
                        Case{"I420_10LE", Output::tilted_sum, {2048, 2050}, "uint32"},
                        Case{"I420_10LE", Output::tilted_sum, {2049, 2050}, "uint64"}}) {
    const FormatSpec& format = format_named(c.format);
    const Integral how = table(c.output);
    FilterHarness filter("cudaintegral", how.properties());
    filter.accept_caps(format, c.size.width, c.size.height, colorimetry(format, false));
    if (c.output == Output::tilted_sum)  // its definition is slow
      filter.process(to_buffer(Picture(format, c.size.width, c.size.height)));
    else
      expect_tensor(filter, brightest(format, c.size.width, c.size.height), how);
    fail_unless(type_out(filter) == c.type, "%s %dx%d, %s: %s", c.format, c.size.width,
                c.size.height, nick_of(c.output), type_out(filter).c_str());
  }
}

TEST(test_timestamps_flags_metas) {
  const gchar* no_tags[] = {nullptr};
  gst_meta_register_custom("CheckIntegralUntagged", no_tags, nullptr, nullptr, nullptr);
  const FormatSpec& format = format_named("I420");
  for (Output output : {Output::sum, Output::mean})
    for (bool pictures : {false, true}) {
      FilterHarness filter("cudaintegral", Integral{output}.properties());
      if (pictures)
        filter.accept_downstream("video/x-raw");
      filter.accept_caps(format, 32, 18);
      GstBuffer* in =
          stamped(to_buffer(make_picture(format, 32, 18, Content::natural, 1), padded_layout));
      GST_BUFFER_FLAG_SET(in, GST_BUFFER_FLAG_DISCONT | GST_BUFFER_FLAG_MARKER);
      gst_buffer_add_custom_meta(in, "CheckIntegralUntagged");
      gst_buffer_add_video_region_of_interest_meta(in, "face", 5, 6, 7, 8);
      const Owned<GstBuffer> out = filter.process(in);
      expect_stamps(out);
      fail_unless(GST_BUFFER_FLAG_IS_SET(out.get(), GST_BUFFER_FLAG_DISCONT) &&
                  GST_BUFFER_FLAG_IS_SET(out.get(), GST_BUFFER_FLAG_MARKER));
      fail_unless(gst_buffer_get_custom_meta(out, "CheckIntegralUntagged") != nullptr);
      // A region of interest stays valid for the mean, but not for a table.
      fail_unless((gst_buffer_get_video_region_of_interest_meta_id(out, 0) != nullptr) ==
                  (output == Output::mean));
    }
}

TEST(test_missing_frame_passes) {
  FilterHarness filter("cudaintegral");
  filter.accept_caps(gray(), 24, 16);
  Owned<GstBuffer> out = filter.process(at(GST_SECOND, missing_frame()));
  fail_unless_equals_int(gst_buffer_get_size(out), 0);
  fail_unless_equals_uint64(GST_BUFFER_PTS(out), GST_SECOND);
  GstBuffer* marked = to_buffer(Picture(gray(), 24, 16));
  GST_BUFFER_FLAG_SET(marked, GST_BUFFER_FLAG_GAP);
  out = filter.process(marked);
  fail_unless_equals_int(gst_buffer_get_size(out), 4 * 25 * 17);
  fail_unless(GST_BUFFER_FLAG_IS_SET(out.get(), GST_BUFFER_FLAG_GAP));
}

TEST(test_short_buffer) {
  const FormatSpec& format = format_named("NV12");
  FilterHarness filter("cudaintegral");
  filter.accept_caps(format, 24, 16, colorimetry(format, false));
  GstBuffer* bad = to_buffer(Picture(format, 24, 16));
  gst_buffer_set_size(bad, 100);
  fail_unless_equals_int(filter.push(bad), GST_FLOW_ERROR);
  fail_unless_equals_int(filter.messages().count(GST_MESSAGE_ERROR), 1);
  expect_tensor(filter, make_picture(format, 24, 16, Content::natural, 1), Integral{Output::sum});
}

// Downstream's memory may have a prefix and padding, but the tensor has its exact size.
TEST(test_memory_of_downstream) {
  for (ElementType type : all_element_types)
    for (gsize prefix : {0, 1, 2, 4, 7}) {
      const Integral how{Output::sum, false, type};
      FilterHarness filter("cudaintegral", how.properties());
      GstAllocationParams params;
      gst_allocation_params_init(&params);
      params.prefix = prefix;
      params.padding = 5;
      gst_harness_set_propose_allocator(filter.harness(), nullptr, &params);
      filter.accept_caps(gray(), 23, 14);
      for (unsigned seed : {1u, 2u, 3u})
        expect_tensor(filter, make_picture(gray(), 23, 14, Content::random, seed), how);
    }
}

TEST(test_pool_of_downstream) {
  for (const char* sink_caps : {"ANY", "other/tensors(memory:CUDAMemory); other/tensors"}) {
    FilterHarness filter("cudaintegral");
    filter.accept_downstream(sink_caps);
    answer_queries(filter.element(), GST_QUERY_ALLOCATION, [](GstQuery* query) {
      const Owned<GstBufferPool> pool(gst_buffer_pool_new());
      gst_query_add_allocation_pool(query, pool, 100002, 2, 4);
    });
    filter.accept_caps(gray(), 23, 14);
    for (unsigned seed = 0; seed < 9; ++seed)
      expect_tensor(filter, make_picture(gray(), 23, 14, Content::random, seed),
                    Integral{Output::sum});
  }
}

TEST(test_tables_of_several_contexts, .unless(unless_testing_cuda())) {
  const auto new_uploader = [&] {
    Owned<GstHarness> uploader(gst_harness_new_parse("cudagaussblur sigma=0 backend=cuda"));
    gst_harness_set_sink_caps_str(uploader, "video/x-raw(memory:CUDAMemory)");
    gst_harness_set_src_caps_str(uploader, caps_of(gray(), 61, 37).c_str());
    return uploader;
  };
  const Owned<GstHarness> first = new_uploader(), second = new_uploader();
  FilterHarness filter("cudaintegral");
  filter.accept_downstream("other/tensors(memory:CUDAMemory)");
  fail_unless(
      filter.send_caps(caps_of(gray(), 61, 37).replace(0, 11, "video/x-raw(memory:CUDAMemory)")));
  for (unsigned i = 0; i < 6; ++i) {
    const Picture picture = make_picture(gray(), 61, 37, Content::natural, i);
    GstHarness* uploader = i % 2 == 0 ? first : second;
    const Owned<GstBuffer> out =
        filter.process(gst_harness_push_and_pull(uploader, to_buffer(picture)));
    expect_tensor(out, current_caps(filter.sink_pad()).get(),
                  tensor_of(picture, Integral{Output::sum}), "frame " + std::to_string(i));
  }
}

TEST(test_behind_another_element, .times(formats().size())) {
  const FormatSpec& format = format_number(index);
  const std::string feature = testing_cuda() ? "video/x-raw(memory:CUDAMemory)" : "video/x-raw";
  const std::string backend = " backend=" + test_backend() + " ";
  const Picture picture = make_picture(format, 61, 37, Content::natural, 4);
  for (Output output : {Output::sum, Output::squared_sum, Output::mean}) {
    const Integral how = Integral{output};
    std::string launch = "cudagaussblur sigma=0" + backend + "! capsfilter caps=" + feature +
                         " ! cudaintegral output=" + nick_of(output) + backend;
    if (!is_table(output))
      launch += "! capsfilter caps=" + feature + " ! cudagaussblur sigma=0" + backend;
    const Owned<GstHarness> harness = new_shared_harness(launch);
    gst_harness_set_src_caps_str(harness,
                                 caps_of(format, 61, 37, colorimetry(format, false)).c_str());
    const Owned<GstBuffer> out(gst_harness_push_and_pull(harness, to_buffer(picture, odd_layout)));
    fail_unless(out != nullptr, "nothing came out of: %s", launch.c_str());
    fail_unless(!is_cuda_memory(out));
    const FormatSpec& gray = natural_format(picture, output);
    if (is_table(output))
      expect_tensor(out, current_caps(harness->sinkpad).get(), tensor_of(picture, how), launch);
    else
      expect_picture(from_buffer(out, gray, 61, 37), gray_picture_of(picture, how, gray), launch);
  }
}
