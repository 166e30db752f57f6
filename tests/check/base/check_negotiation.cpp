// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests which caps the elements offer and refuse, changes of caps in mid-stream, and unusual peers.
// GLib criticals end this program.
#include <gst/video/video.h>

#include <algorithm>

#include "tests/check/common/filterharness.h"

using namespace check;

namespace {

std::vector<std::string> formats_in(const GstCaps* caps, const char* feature) {
  std::vector<std::string> names;
  for (guint i = 0; i < gst_caps_get_size(caps); ++i) {
    const GstCapsFeatures* features = gst_caps_get_features(caps, i);
    if (!gst_structure_has_name(gst_caps_get_structure(caps, i), "video/x-raw"))
      continue;
    if (gst_caps_features_get_size(features) != 1 || !gst_caps_features_contains(features, feature))
      continue;
    const GValue* value = gst_structure_get_value(gst_caps_get_structure(caps, i), "format");
    if (value != nullptr && G_VALUE_HOLDS_STRING(value))
      names.push_back(g_value_get_string(value));
    if (value != nullptr && GST_VALUE_HOLDS_LIST(value))
      for (guint k = 0; k < gst_value_list_get_size(value); ++k)
        names.push_back(g_value_get_string(gst_value_list_get_value(value, k)));
  }
  return names;
}

void expect_all_formats(const GstCaps* caps, const char* feature) {
  const std::vector<std::string> offered = formats_in(caps, feature);
  for (const FormatSpec& format : formats())
    fail_unless(std::count(offered.begin(), offered.end(), format.name) == 1, "%s in %s: %d times",
                format.name, feature,
                static_cast<int>(std::count(offered.begin(), offered.end(), format.name)));
  fail_unless_equals_int(offered.size(), formats().size());
}

Owned<GstCaps> sink_caps(FilterHarness& filter, GstCaps* only = nullptr) {
  return Owned<GstCaps>(gst_pad_peer_query_caps(filter.source_pad(), only));
}

/// Refused caps. The error must contain `words`: the refused value, a limit or the remedy.
struct Refused {
  const char* caps;
  std::vector<std::string> words;
};

const std::vector<Refused> refused_caps = {
    {"video/x-raw, format=AYUV, width=32, height=16, framerate=25/1", {"AYUV", "videoconvert"}},
    {"video/x-raw, format=I420_10BE, width=32, height=16, framerate=25/1",
     {"I420_10BE", "videoconvert"}},
    {"video/x-raw(format:Interlaced), format=I420, width=32, height=16, framerate=25/1, "
     "interlace-mode=alternate",
     {"alternate", "deinterlace"}},
    {"video/x-raw(memory:DMABuf), format=I420, width=32, height=16, framerate=25/1",
     {"memory:DMABuf", "video/x-raw"}},
    {"video/x-raw(memory:NVMM), format=NV12, width=32, height=16, framerate=25/1",
     {"memory:NVMM", "nvvideoconvert ! video/x-raw", "nvvidconv"}},
    {"video/x-raw(memory:GLMemory), format=RGBA, width=32, height=16, framerate=25/1",
     {"memory:GLMemory", "gldownload"}},
    {"video/x-raw, format=I420, width=0, height=16, framerate=25/1", {"0×16"}},
    {"video/x-raw, format=I420, width=70000, height=1, framerate=25/1",
     {"70000×1", "65535", "scale or crop"}},
    {"video/x-raw, format=I420, width=1, height=70000, framerate=25/1", {"1×70000", "65535"}},
    {"audio/x-raw, format=S16LE, rate=8000, channels=1, layout=interleaved",
     {"audio/x-raw", "raw video", "the video of the source"}},
    {"video/x-bayer, format=bggr, width=32, height=16, framerate=25/1",
     {"video/x-bayer", "bayer2rgb"}},
    {"video/x-h264, width=32, height=16", {"video/x-h264", "decodebin"}},
    {"image/jpeg, width=32, height=16", {"image/jpeg", "decodebin"}},
};

/// Expects one error for the caps and a frame, and then success with valid caps.
void expect_refusal(FilterHarness& filter, const Refused& refused) {
  const Owned<GstCaps> caps = caps_from(refused.caps);
  fail_unless(!gst_pad_peer_query_accept_caps(filter.source_pad(), caps), "the query accepts %s",
              refused.caps);
  fail_unless_equals_int(filter.messages().complaints(), 0);
  fail_unless(!filter.send_caps(refused.caps), "the event is accepted: %s", refused.caps);
  const GstFlowReturn flow = filter.push(gst_buffer_new_allocate(nullptr, 64, nullptr));
  fail_unless(flow == GST_FLOW_NOT_NEGOTIATED || flow == GST_FLOW_ERROR, "flow %s after %s",
              gst_flow_get_name(flow), refused.caps);
  fail_unless(filter.pull() == nullptr);
  filter.messages().expect_one(GST_MESSAGE_ERROR, refused.words);

  filter.accept_caps(gray(), 16, 16);
  const Picture picture = make_picture(gray(), 16, 16, Content::natural, 1);
  expect_picture(filter.process(picture), result(picture), "after refused caps");
}

constexpr int width = 34, height = 20;

Picture picture() {
  return make_picture(gray(), width, height, Content::natural, 1);
}

void answer_caps(GstPad* pad, const std::string& caps) {
  answer_queries(pad, GST_QUERY_CAPS,
                 [=](GstQuery* query) { gst_query_set_caps_result(query, caps_from(caps).get()); });
}

void expect_works(FilterHarness& filter, const std::string& what) {
  const Picture in = picture();
  expect_picture(filter.process(in), result(in), what);
  fail_unless_equals_int(filter.messages().complaints(), 0);
}

Owned<GstCaps> caps_with_null(const char* media_type, const char* field) {
  GstStructure* structure = gst_structure_new(media_type, "width", G_TYPE_INT, width, "height",
                                              G_TYPE_INT, height, nullptr);
  GValue null = G_VALUE_INIT;
  g_value_init(&null, G_TYPE_STRING);
  gst_structure_take_value(structure, field, &null);
  return Owned<GstCaps>(gst_caps_new_full(structure, nullptr));
}

}  // namespace

TEST(test_templates, .for_each_element()) {
  const Owned<GstElement> element = new_element(tested().element);
  for (const char* name : {"sink", "src"}) {
    const Owned<GstCaps> caps(
        gst_pad_template_get_caps(gst_element_get_pad_template(element, name)));
    expect_all_formats(caps, GST_CAPS_FEATURE_MEMORY_SYSTEM_MEMORY);
    if (built_with_cuda())
      expect_all_formats(caps, "memory:CUDAMemory");
    else
      fail_unless(formats_in(caps, "memory:CUDAMemory").empty());
  }
}

TEST(test_caps_query, .for_each_element()) {
  FilterHarness filter;
  const Owned<GstCaps> caps = sink_caps(filter);
  expect_all_formats(caps, GST_CAPS_FEATURE_MEMORY_SYSTEM_MEMORY);
  if (testing_cuda())
    expect_all_formats(caps, "memory:CUDAMemory");
  else
    fail_unless(formats_in(caps, "memory:CUDAMemory").empty(),
                "CUDA memory is offered on the CPU backend");
}

TEST(test_caps_query_follows_downstream, .for_each_element()) {
  FilterHarness filter;
  filter.accept_downstream("video/x-raw, format=(string){ NV12, RGBA }, width=[1, 640]");
  Owned<GstCaps> caps = sink_caps(filter);
  const std::vector<std::string> offered = formats_in(caps, GST_CAPS_FEATURE_MEMORY_SYSTEM_MEMORY);
  fail_unless((offered == std::vector<std::string>{"NV12", "RGBA"}) ||
              (offered == std::vector<std::string>{"RGBA", "NV12"}));
  const Owned<GstCaps> wide = caps_from("video/x-raw, format=NV12, width=641, height=4");
  fail_unless(!gst_caps_can_intersect(caps, wide));

  const Owned<GstCaps> only = caps_from("video/x-raw, format=NV12");
  caps = sink_caps(filter, only);
  fail_unless(gst_caps_is_subset(caps, only));
  fail_unless(!gst_caps_is_empty(caps));
}

TEST(test_output_caps_are_input_caps, .for_each_element()) {
  FilterHarness filter;
  for (const char* text :
       {"video/x-raw, format=NV12, width=98, height=54, framerate=30000/1001, "
        "pixel-aspect-ratio=16/15, colorimetry=bt709, chroma-site=mpeg2, "
        "interlace-mode=progressive",
        "video/x-raw, format=RGBA, width=9, height=5, framerate=0/1, max-framerate=25/1",
        "video/x-raw, format=I420, width=98, height=54, framerate=25/1, "
        "interlace-mode=interleaved, field-order=top-field-first",
        "video/x-raw, format=GRAY8, width=98, height=54, framerate=25/1, "
        "multiview-mode=side-by-side, multiview-flags=half-aspect"}) {
    fail_unless(filter.send_caps(text), "refused: %s", text);
    const Owned<GstCaps> in = caps_from(text), out = current_caps(filter.sink_pad());
    fail_unless(gst_caps_is_equal(in, out), "%" GST_PTR_FORMAT " became %" GST_PTR_FORMAT, in.get(),
                out.get());
  }
}

TEST(test_refused_caps, .for_each_element()) {
  for (const Refused& refused : refused_caps) {
    FilterHarness filter;
    expect_refusal(filter, refused);
  }
}

// If upstream must reconfigure, refused caps cause only a warning, because new caps may follow.
TEST(test_refused_caps_before_others, .for_each_element()) {
  const Owned<GstHarness> harness = new_shared_harness(
      "identity name=upstream ! " + tested_launch() + " backend=" + test_backend());
  MessageLog messages(harness->element);
  const Owned<GstElement> upstream = element_in(harness->element, "upstream");
  const Owned<GstPad> source = pad_of(upstream, "src");
  for (bool asked : {true, false}) {
    if (asked)
      gst_pad_send_event(source, gst_event_new_reconfigure());
    else
      gst_pad_check_reconfigure(source);  // clears the flag
    gst_pad_push_event(source, gst_event_new_stream_start("stream"));
    for (int sent = 0; sent < 2; ++sent)
      fail_unless(!send_caps(source, refused_caps[0].caps));
    fail_unless_equals_int(messages.count(GST_MESSAGE_WARNING), asked ? 1 : 0);
    fail_unless_equals_int(messages.count(GST_MESSAGE_ERROR), asked ? 0 : 1);
    messages.clear();
  }
}

TEST(test_cuda_memory_on_the_cpu,
     .for_each_element().unless(testing_cuda() ? "needs the CPU backend" : "")) {
  FilterHarness filter;
  expect_refusal(filter, {"video/x-raw(memory:CUDAMemory), format=NV12, width=32, height=16",
                          {"CUDA memory", "cudadownload",
                           built_with_cuda() ? "set backend=cuda" : "built without CUDA"}});
}

// A source whose CAPS query returns empty caps sends nothing, so the query itself must warn.
TEST(test_cuda_memory_behind_the_cpu,
     .for_each_element().unless(testing_cuda() || !built_with_cuda()
                                    ? "needs backend=cpu in a build with CUDA"
                                    : "")) {
  FilterHarness filter;
  filter.accept_downstream("video/x-raw(memory:CUDAMemory); other/tensors(memory:CUDAMemory)");
  for (int asked = 0; asked < 2; ++asked) {
    const Owned<GstCaps> offered(gst_pad_peer_query_caps(filter.harness()->srcpad, nullptr));
    fail_unless(gst_caps_is_empty(offered));
  }
  filter.messages().expect_one(GST_MESSAGE_WARNING, {"CUDAMemory", "set backend=cuda"});
}

// Sources such as filesrc send no caps.
TEST(test_data_without_caps, .for_each_element()) {
  FilterHarness filter;
  filter.send_segment(new_segment());
  fail_unless_equals_int(filter.push(gst_buffer_new_allocate(nullptr, 64, nullptr)),
                         GST_FLOW_NOT_NEGOTIATED);
  filter.messages().expect_one(GST_MESSAGE_ERROR, {"without caps", "decodebin"});
}

TEST(test_caps_without_a_size, .for_each_element()) {
  FilterHarness filter;
  fail_unless(!filter.send_caps("video/x-raw, format=I420, framerate=25/1"));
  filter.messages().expect_one(GST_MESSAGE_ERROR,
                               {"format=(string)I420", "Correct the capsfilter"});
}

// Alternate fields are refused even if the caps lack format:Interlaced.
TEST(test_alternate_without_feature, .for_each_element()) {
  FilterHarness filter;
  filter.send_caps(
      "video/x-raw, format=I420, width=32, height=16, framerate=25/1, interlace-mode=alternate");
  fail_unless(filter.push(to_buffer(Picture(format_named("I420"), 32, 16))) != GST_FLOW_OK);
  fail_unless(filter.pull() == nullptr);
}

TEST(test_same_caps_again, .for_each_element()) {
  const FormatSpec& format = format_named("I420");
  FilterHarness filter;
  const Picture picture = make_picture(format, 30, 20, Content::natural, 1);
  for (int i = 0; i < 5; ++i) {
    filter.accept_caps(format, 30, 20, colorimetry(format, false));
    expect_picture(filter.process(picture), result(picture), "same caps again");
  }
}

TEST(test_downstream_cannot_take_it, .for_each_element()) {
  FilterHarness filter;
  filter.accept_downstream("video/x-raw, format=RGB");
  fail_unless(!filter.send_caps(caps_of(gray(), 32, 16)));
  fail_unless_equals_int(filter.push(to_buffer(Picture(gray(), 32, 16))), GST_FLOW_NOT_NEGOTIATED);
  fail_unless(filter.pull() == nullptr);

  const FormatSpec& rgb = format_named("RGB");
  filter.accept_caps(rgb, 32, 16);
  const Picture picture = make_picture(rgb, 32, 16, Content::natural, 1);
  expect_picture(filter.process(picture), result(picture), "after caps that do not fit");
}

// A peer may answer a CAPS query with more caps than the query's filter allows.
TEST(test_caps_beyond_the_filter, .for_each_element()) {
  FilterHarness filter;
  for (const char* pad : {"sink", "src"})
    answer_caps(pad_of(filter.element(), pad).get(), "video/x-raw(ANY);audio/x-raw");
  filter.accept_caps(gray(), width, height, colorimetry(gray(), false));
  expect_works(filter, "peers that ignore the filter");
}

TEST(test_texts_that_are_null, .for_each_element()) {
  FilterHarness filter;
  filter.accept_caps(gray(), width, height, colorimetry(gray(), false));
  for (const auto& [media_type, field] : {std::pair{"video/x-raw", "format"},
                                          {"video/x-raw", "colorimetry"},
                                          {"video/x-raw", "multiview-mode"},
                                          {"other/tensors", "dimensions"},
                                          {"other/tensors", "types"}})
    for (const char* name : {"sink", "src"}) {
      const Owned<GstPad> pad = pad_of(filter.element(), name);
      const Owned<GstCaps> caps = caps_with_null(media_type, field);
      gst_pad_query_accept_caps(pad, caps);
      const Owned<GstCaps> answer(gst_pad_query_caps(pad, caps));
      fail_unless(answer != nullptr);
    }
  expect_works(filter, "caps with NULL");
}

TEST(test_pool_with_less_room_than_buffers, .for_each_element()) {
  FilterHarness filter;
  answer_queries(filter.element(), GST_QUERY_ALLOCATION, [](GstQuery* query) {
    const Owned<GstBufferPool> pool(gst_video_buffer_pool_new());
    gst_query_add_allocation_pool(query, pool, width * height, 5, 3);
  });
  filter.accept_caps(gray(), width, height, colorimetry(gray(), false));
  expect_works(filter, "a pool whose minimum exceeds its maximum");
}

TEST(test_allocation_queries_of_any_caps, .for_each_element()) {
  FilterHarness filter;
  filter.accept_caps(gray(), width, height, colorimetry(gray(), false));
  for (const char* text : {"ANY", "EMPTY", "video/x-raw", "video/x-raw, format={GRAY8, RGB}",
                           "video/x-raw(ANY), format=GRAY8, width=8, height=8"}) {
    const Owned<GstCaps> caps = caps_from(text);
    const Owned<GstQuery> query(gst_query_new_allocation(caps, TRUE));
    gst_pad_peer_query(filter.source_pad(), query);
    fail_unless_equals_int(static_cast<int>(gst_query_get_n_allocation_pools(query)), 0);
  }
  const Owned<GstQuery> without_caps(gst_query_new_allocation(nullptr, TRUE));
  gst_pad_peer_query(filter.source_pad(), without_caps);
  expect_works(filter, "ALLOCATION queries");
}
