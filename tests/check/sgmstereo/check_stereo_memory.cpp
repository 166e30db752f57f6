// SPDX-License-Identifier: LGPL-2.1-or-later
// Where cudasgmstereo works and in which memory its frames lie. What is not about CUDA memory
// itself runs on the CPU backend as well.
#include "tests/check/common/pipelines.h"
#include "tests/check/common/propertyfacts.h"
#include "tests/check/common/stereoharness.h"

using namespace check;

namespace {

const char cuda_caps[] = "video/x-raw(memory:CUDAMemory)";

using Bytes = std::vector<std::uint8_t>;

/// What the last buffer held that came to the sink of a pipeline whose element is e.
Bytes last_output(const std::string& description) {
  Bytes bytes;
  const auto keep = +[](GstElement*, GstBuffer* buffer, GstPad*, gpointer to) {
    *static_cast<Bytes*>(to) = bytes_of(buffer);
  };
  run_pipeline(
      description + " ! fakesink name=sink signal-handoffs=true",
      [&](GstElement* pipeline) {
        GstElement* sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
        g_signal_connect(sink, "handoff", G_CALLBACK(keep), &bytes);
        gst_object_unref(sink);
      },
      [](GstElement*) {});
  fail_unless(!bytes.empty(), "nothing came out: %s", description.c_str());
  return bytes;
}

/// Two cameras, whose frames lie in CUDA memory where they are asked to.
std::string cameras(bool left_cuda, bool right_cuda, const char* format) {
  std::string launch;
  for (const auto& [pad, cuda, pattern] :
       {std::tuple{"sink_left", left_cuda, "smpte"}, std::tuple{"sink_right", right_cuda, "bar"}}) {
    // Slow enough to see every frame of a pipeline that has just begun.
    launch += std::string("videotestsrc num-buffers=8 pattern=") + pattern +
              " ! video/x-raw,width=64,height=32,framerate=25/1,format=" + format;
    if (cuda)
      launch += std::string(" ! cudagaussblur sigma=0 backend=cuda ! capsfilter caps=\"") +
                cuda_caps + "\"";
    launch += std::string(" ! queue ! e.") + pad + " ";
  }
  return launch;
}

bool offers_cuda(const StereoHarness& stereo, const char* name) {
  GstPad* pad = gst_element_get_static_pad(stereo.element(), name);
  GstCaps* caps = gst_pad_query_caps(pad, nullptr);
  GstCaps* cuda = gst_caps_from_string(cuda_caps);
  const bool offers = gst_caps_can_intersect(caps, cuda);
  gst_caps_unref(cuda);
  gst_caps_unref(caps);
  gst_object_unref(pad);
  return offers;
}

}  // namespace

GST_START_TEST(test_device_properties) {
  GstElement* element = gst_element_factory_make("cudasgmstereo", nullptr);
  expect_enum_default(element, "backend", "auto");
  expect_enum_nicks(element, "backend", {"auto", "cuda", "cpu"});
  expect_enum_nicks(element, "active-backend", {"none", "cpu", "cuda"});
  fail_unless_equals_int(property_of(element, "active-backend")->flags & G_PARAM_READWRITE,
                         G_PARAM_READABLE);
  for (const char* name : {"backend", "cuda-device-id"})
    expect_changeable_when_ready(element, name);
  gst_object_unref(element);
}
GST_END_TEST

GST_START_TEST(test_active_backend) {
  GstElement* element = make_element("cudasgmstereo");
  std::vector<std::string> seen;
  const auto on_notify = +[](GstElement* self, GParamSpec*, gpointer list) {
    static_cast<std::vector<std::string>*>(list)->push_back(enum_nick(self, "active-backend"));
  };
  g_signal_connect(element, "notify::active-backend", G_CALLBACK(on_notify), &seen);
  for (int cycle = 0; cycle < 3; ++cycle) {
    seen.clear();
    fail_unless(enum_nick(element, "active-backend") == "none");
    fail_unless_equals_int(gst_element_set_state(element, GST_STATE_READY),
                           GST_STATE_CHANGE_SUCCESS);
    fail_unless(enum_nick(element, "active-backend") == test_backend());
    gst_element_set_state(element, GST_STATE_PLAYING);
    gst_element_set_state(element, GST_STATE_NULL);
    fail_unless((seen == std::vector<std::string>{test_backend(), "none"}));
  }
  gst_object_unref(element);
}
GST_END_TEST

GST_START_TEST(test_no_gpu) {
  MessageLog messages;
  GstElement* element = gst_element_factory_make("cudasgmstereo", nullptr);
  gst_object_ref_sink(element);
  gst_element_set_bus(element, messages.bus());
  gst_util_set_object_arg(G_OBJECT(element), "backend", "cuda");
  fail_unless_equals_int(gst_element_set_state(element, GST_STATE_READY), GST_STATE_CHANGE_FAILURE);
  const std::vector<GstMessage*> errors = messages.take(GST_MESSAGE_ERROR);
  fail_unless_equals_int(errors.size(), 1);
  GError* error = nullptr;
  gst_message_parse_error(errors[0], &error, nullptr);
  fail_unless(g_error_matches(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND), "%s",
              error->message);
  g_error_free(error);
  gst_message_unref(errors[0]);

  // The default: the CPU, and one warning.
  gst_util_set_object_arg(G_OBJECT(element), "backend", "auto");
  fail_unless_equals_int(gst_element_set_state(element, GST_STATE_READY), GST_STATE_CHANGE_SUCCESS);
  fail_unless(enum_nick(element, "active-backend") == "cpu");
  fail_unless_equals_int(messages.count(GST_MESSAGE_WARNING), 1);
  gst_element_set_state(element, GST_STATE_NULL);
  gst_element_set_bus(element, nullptr);
  gst_object_unref(element);
}
GST_END_TEST

GST_START_TEST(test_cuda_memory_is_offered) {
  StereoHarness stereo;
  for (const char* pad : {"sink_left", "sink_right", "src"})
    fail_unless_equals_int(offers_cuda(stereo, pad), testing_cuda());
}
GST_END_TEST

// Who names nothing gets system memory, wherever the frames were.
GST_START_TEST(test_system_memory_for_anybody) {
  for (const char* peer : {"", " ! tee", " ! queue", " ! identity"})
    run_pipeline(cameras(testing_cuda(), testing_cuda(), "GRAY8") + "cudasgmstereo name=e" + peer +
                     " ! fakesink",
                 [](GstElement* pipeline) { fail_unless(!output_is_cuda(pipeline, "e")); });
}
GST_END_TEST

// The map is the same wherever the frames lie and wherever it goes.
GST_START_TEST(test_memory_of_the_frames) {
  for (const char* format : {"GRAY8", "NV12", "P010_10LE", "RGBA"}) {
    const Bytes expected = last_output(cameras(false, false, format) + "cudasgmstereo name=e");
    for (const auto& [left, right] :
         {std::pair{true, true}, std::pair{true, false}, std::pair{false, true}}) {
      fail_unless(last_output(cameras(left, right, format) + "cudasgmstereo name=e") == expected,
                  "%s", format);
      for (const char* out : {"GRAY16_LE", "GRAY8"}) {
        const Bytes system = last_output(cameras(left, right, format) +
                                         "cudasgmstereo name=e ! video/x-raw,format=" + out);
        fail_unless(
            last_output(cameras(left, right, format) + "cudasgmstereo name=e ! capsfilter caps=\"" +
                        cuda_caps + ",format=" + out + "\" ! cudagaussblur sigma=0 backend=cuda") ==
                system,
            "%s to %s in CUDA memory", format, out);
      }
    }
  }
}
GST_END_TEST

GST_START_TEST(test_named_cuda_memory) {
  run_pipeline(cameras(true, true, "NV12") + "cudasgmstereo name=e ! capsfilter caps=\"" +
                   cuda_caps + "\" ! fakesink",
               [](GstElement* pipeline) { fail_unless(output_is_cuda(pipeline, "e")); });
}
GST_END_TEST

static Suite* check_stereo_memory_suite() {
  Suite* suite = suite_create("stereo memory");
  TCase* tc = tcase_create("memory");
  suite_add_tcase(suite, tc);
  tcase_add_test(tc, test_device_properties);
  tcase_add_test(tc, test_active_backend);
  ADD_TEST_UNLESS(tc, test_no_gpu, unless_without_gpu());
  tcase_add_test(tc, test_cuda_memory_is_offered);
  tcase_add_test(tc, test_system_memory_for_anybody);
  ADD_TEST_UNLESS(tc, test_memory_of_the_frames, unless_testing_cuda());
  ADD_TEST_UNLESS(tc, test_named_cuda_memory, unless_testing_cuda());
  return suite;
}

GST_CHECK_MAIN(check_stereo_memory)
