// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/pictures/cudaframes.h"
#include "tests/check/common/pipelines.h"
#include "tests/check/common/streams/padsharness.h"

using namespace check;

namespace {

const char cuda_caps[] = "video/x-raw(memory:CUDAMemory)";

using Bytes = std::vector<std::uint8_t>;

std::vector<Bytes> outputs(const std::string& description) {
  std::vector<Bytes> all;
  run_pipeline(description + " ! fakesink name=sink", "sink",
               [&](GstBuffer* buffer) { all.push_back(bytes_of(buffer)); });
  fail_unless(!all.empty(), "nothing came out: %s", description.c_str());
  return all;
}

Bytes last_output(const std::string& description) {
  return outputs(description).back();
}

std::string cameras(bool left_cuda, bool right_cuda, const char* format,
                    const char* left_pattern = "smpte", int frames = 8) {
  std::string launch;
  for (const auto& [pad, cuda, pattern] : {std::tuple{"sink_left", left_cuda, left_pattern},
                                           std::tuple{"sink_right", right_cuda, "bar"}}) {
    // At this framerate, even a pipeline that has just started processes every frame.
    launch += "videotestsrc num-buffers=" + std::to_string(frames) + " pattern=" + pattern +
              " ! video/x-raw,width=64,height=32,framerate=25/1,format=" + format;
    if (cuda)
      launch += std::string(" ! cudagaussblur sigma=0 backend=cuda ! capsfilter caps=\"") +
                cuda_caps + "\"";
    launch += std::string(" ! queue ! e.") + pad + " ";
  }
  return launch;
}

const char cuda_tensors[] = "other/tensors(memory:CUDAMemory)";

const char* cuda_caps_of_pad(const char* name) {
  return std::string(name) == "points" ? cuda_tensors : cuda_caps;
}

bool offers_cuda(const StereoHarness& stereo, const char* name) {
  const Owned<GstCaps> caps(gst_pad_query_caps(pad_of(stereo.element(), name).get(), nullptr));
  return gst_caps_can_intersect(caps, caps_from(cuda_caps_of_pad(name)).get());
}

}  // namespace

TEST(test_cuda_memory_is_offered) {
  PadsHarness stereo;
  stereo.open_all();
  for (const char* pad :
       {"sink_left", "sink_right", "src", "depth", "confidence", "rectified", "points"})
    fail_unless_equals_int(offers_cuda(stereo, pad), testing_cuda());
}

// Peers that do not ask for CUDA memory get system memory, regardless of the input's memory.
TEST(test_system_memory_for_anybody) {
  for (const char* peer : {"", " ! tee", " ! queue", " ! identity"})
    run_pipeline(cameras(testing_cuda(), testing_cuda(), "GRAY8") + "cudasgmstereo name=e" + peer +
                     " ! fakesink",
                 [](GstElement* pipeline) { fail_unless(!output_is_cuda(pipeline, "e")); });
}

TEST(test_memory_of_the_frames, .unless(unless_testing_cuda())) {
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

// Request pads output the same bytes in CUDA and system memory, whether src is linked or not.
TEST(test_memory_of_request_pads, .unless(unless_testing_cuda())) {
  for (const char* pad : {"depth", "confidence", "rectified"})
    for (const char* src : {"e.src ! queue ! fakesink  ", ""}) {
      const std::string launch = cameras(true, true, "NV12") +
                                 "cudasgmstereo name=e focal-length=50 baseline=20  " + src + "e." +
                                 pad + " ! queue";
      fail_unless(last_output(launch + " ! capsfilter caps=\"" + cuda_caps +
                              "\" ! cudagaussblur sigma=0 backend=cuda") == last_output(launch),
                  "%s in CUDA memory, %s", pad, src);
    }
}

TEST(test_points_in_cuda_memory, .unless(unless_testing_cuda())) {
  for (bool cuda : {true, false}) {
    const std::string launch = cameras(cuda, cuda, "NV12") +
                               "cudasgmstereo name=e focal-length=50 baseline=20  e.points ! queue";
    fail_unless(last_output(launch + " ! capsfilter caps=\"" + cuda_tensors + "\"") ==
                last_output(launch));
  }
}

TEST(test_named_cuda_memory, .unless(unless_testing_cuda())) {
  run_pipeline(cameras(true, true, "NV12") + "cudasgmstereo name=e ! capsfilter caps=\"" +
                   cuda_caps + "\" ! fakesink",
               [](GstElement* pipeline) { fail_unless(output_is_cuda(pipeline, "e")); });
}

// From GStreamer 1.24 on, the host waits for a pair in CUDA memory only if it inspects the pair.
TEST(test_pairs_in_stream_order, .unless(unless_testing_cuda())) {
  constexpr int frames = 24;
  const auto pipeline = [](bool cuda) {
    return cameras(cuda, cuda, "NV12", "ball", frames) + "cudasgmstereo name=e ! " +
           (cuda ? std::string("capsfilter caps=\"") + cuda_caps + "\"" : "identity") +
           " ! cudagaussblur name=e2 sigma=0";
  };
  int marked = 0;
  run_pipeline(pipeline(true) + " ! fakesink", "e2",
               [&](GstBuffer* buffer) { marked += is_marked_unfinished(buffer); });
  if (pushes_in_stream_order)
    fail_unless(marked > frames / 2 && marked < frames, "%d", marked);
  else
    fail_unless_equals_int(marked, 0);
  fail_unless(outputs(pipeline(true)) == outputs(pipeline(false)));
}

// The cameras' frames are on different GPUs. The element runs on either GPU, or chooses a GPU (-1).
TEST(test_cameras_on_two_gpus, .times(3).unless(unless_testing_two_gpus())) {
  const auto camera = [](int gpu, const char* pattern, const char* pad) {
    return std::string("videotestsrc num-buffers=8 pattern=") + pattern +
           " ! video/x-raw,width=64,height=32,framerate=25/1,format=NV12 ! cudagaussblur sigma=0 "
           "backend=cuda cuda-device-id=" +
           std::to_string(gpu) + " ! capsfilter caps=\"" + cuda_caps + "\" ! queue ! e." + pad +
           " ";
  };
  fail_unless(last_output(camera(0, "smpte", "sink_left") + camera(1, "bar", "sink_right") +
                          "cudasgmstereo name=e cuda-device-id=" +
                          std::to_string(static_cast<int>(index) - 1)) ==
              last_output(cameras(false, false, "NV12") + "cudasgmstereo name=e"));
}

// Element and pool follow the frames' context; a refused negotiation stops the element.
TEST(test_frames_of_another_context, .unless(unless_testing_cuda())) {
  const std::string caps = caps_of(gray(), 32, 16);
  const auto new_uploader = [&] {
    Owned<GstHarness> uploader = new_harness_in_own_context("cudagaussblur sigma=0 backend=cuda");
    gst_harness_set_sink_caps_str(uploader, cuda_caps);
    gst_harness_set_src_caps_str(uploader, caps.c_str());
    return uploader;
  };
  const Owned<GstHarness> first = new_uploader(), second = new_uploader();
  PadsHarness stereo;
  stereo.open_all();
  stereo.accept_downstream(cuda_caps);
  for (const char* pad : {"depth", "confidence", "rectified", "points"})
    gst_harness_set_sink_caps_str(stereo.at_pad(pad), cuda_caps_of_pad(pad));
  stereo.accept_gray();
  const auto push_pair = [&](GstHarness* uploader, GstClockTime time) {
    for (GstHarness* harness : stereo.harnesses())
      gst_harness_push(harness, gst_harness_push_and_pull(uploader, small_frame({time})));
  };
  for (guint i = 0; i < 4; ++i) {
    push_pair(i % 2 == 0 ? first : second, i * 40 * ms);
    for (GstHarness* outlet : stereo.outlets())
      fail_unless_equals_uint64(pull_from(outlet).pts(), i * 40 * ms);
  }
  fail_unless_equals_int(stereo.messages().complaints(), 0);
  answer_queries(stereo.element(), GST_QUERY_CAPS, [](GstQuery* query) {
    gst_query_set_caps_result(query, Owned<GstCaps>(gst_caps_new_empty()).get());
  });
  push_pair(first, 160 * ms);
  fail_unless_equals_int(stereo.flow_after_stop(), GST_FLOW_NOT_NEGOTIATED);
  fail_unless(gst_harness_try_pull(stereo.left()) == nullptr);
}
