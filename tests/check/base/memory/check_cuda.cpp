// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests frames in CUDA memory: which peers get them, their pixels, and their CUDA contexts.
#include <gst/video/gstvideometa.h>

#include "tests/check/common/pictures/cudaframes.h"
#include "tests/check/common/pictures/photographs.h"
#include "tests/check/common/pipelines.h"

using namespace check;

namespace {

class Chain {
 public:
  /// `sink_caps` are the caps of the test's pad downstream of the last element.
  explicit Chain(const std::string& launch, const char* sink_caps = nullptr)
      : Chain(new_shared_harness(launch), sink_caps) {}
  Chain(Owned<GstHarness> harness, const char* sink_caps) : harness_(std::move(harness)) {
    if (sink_caps != nullptr)
      gst_harness_set_sink_caps_str(harness_, sink_caps);
  }

  Owned<GstBuffer> process(const Picture& picture, const std::string& more, const Layout& layout) {
    return process(Owned<GstBuffer>(to_buffer(picture, layout)),
                   caps_of(*picture.format, picture.width, picture.height, more));
  }
  Owned<GstBuffer> process(Owned<GstBuffer> in, const std::string& caps) {
    gst_harness_set_src_caps_str(harness_, caps.c_str());
    Owned<GstBuffer> out(gst_harness_push_and_pull(harness_, in.release()));
    fail_unless(out != nullptr, "%s: nothing came out", caps.c_str());
    return out;
  }

 private:
  Owned<GstHarness> harness_;
};

/// Returns a launch line of two elements, with CUDA memory between them when CUDA is tested.
std::string pair_of_elements(const Property& property) {
  const std::string element =
      tested_launch() + " backend=" + test_backend() + " " + text_of(property);
  return element + " ! capsfilter caps=\"" + (testing_cuda() ? cuda_feature : "video/x-raw") +
         "\" ! " + element;
}

/// Makes a pipeline of two elements without a shared context, unlike new_pipeline().
Owned<GstElement> new_unshared_pipeline(const std::string& properties) {
  const std::string element = tested_launch() + properties;
  return Owned<GstElement>(gst_parse_launch(
      ("videotestsrc num-buffers=2 ! video/x-raw,format=NV12,width=64,height=48 ! " + element +
       " ! " + element + " ! fakesink sync=false")
          .c_str(),
      nullptr));
}

guint gpu_of(GstContext* context) {
  guint gpu = 0;
  fail_unless(gst_structure_get_uint(gst_context_get_structure(context), "cuda-device-id", &gpu));
  return gpu;
}

void expect_output(FilterHarness& filter, GstBuffer* in, const Picture& expected,
                   const std::string& what) {
  const Owned<GstBuffer> out = filter.process(in);
  fail_unless(!is_cuda_memory(out), "CUDA memory with the caps of system memory");
  expect_picture(from_buffer(out, *expected.format, expected.width, expected.height), expected,
                 what);
}

}  // namespace

TEST(test_two_elements, .for_each_element().times(formats().size())) {
  const FormatSpec& format = format_number(index);
  Chain pair(pair_of_elements(tested().working));
  unsigned seed = 0;
  for (const auto& [width, height] :
       {std::pair{1, 1}, std::pair{1, 2}, std::pair{2, 1}, std::pair{1, 37}, std::pair{41, 1},
        std::pair{5, 3}, std::pair{17, 9}, std::pair{33, 31}, std::pair{322, 13}})
    for (bool limited : {false, true}) {
      const char* const mode = ++seed % 4 == 0 ? "interleaved" : "progressive";
      Picture picture =
          make_picture(format, width, height, all_contents[seed % std::size(all_contents)], seed);
      picture.interlaced = seed % 4 == 0;
      const Owned<GstBuffer> out =
          pair.process(picture, colorimetry(format, limited) + ", interlace-mode=" + mode,
                       all_layouts[seed % std::size(all_layouts)]);
      expect_picture(from_buffer(out, format, width, height, picture.interlaced),
                     result(result(picture, limited), limited), mode);
    }
}

TEST(test_photographs,
     .for_each_element().times(std::size(photographs)).unless(unless_photographs())) {
  constexpr const char* names[] = {"GRAY8", "NV12", "BGRx", "I420_10LE"};
  const FormatSpec& format = format_named(names[index]);
  const std::string element = tested_launch() + " backend=" + test_backend();
  const auto [before, after] =
      photograph_through(photographs[index], format, colorimetry(format, false), element);
  expect_picture(after, result(before), photographs[index].file + (" " + element));
}

// An element whose settings change nothing must still copy frames between CUDA and system memory.
TEST(test_two_elements_that_change_nothing, .for_each_element().times(formats().size())) {
  const FormatSpec& format = format_number(index);
  Chain pair(pair_of_elements(tested().idle));
  const Picture picture = make_picture(format, 45, 23, Content::natural, 4);
  for (const Layout& layout : all_layouts) {
    const Owned<GstBuffer> out = pair.process(picture, colorimetry(format, false), layout);
    fail_unless(!is_cuda_memory(out));
    expect_picture(from_plain_buffer(out, format, 45, 23), picture, "unchanged");
  }
}

TEST(test_peer_naming_cuda_memory_gets_it, .for_each_element().unless(unless_testing_cuda())) {
  const std::string element = tested_launch();
  const std::string source =
      "videotestsrc num-buffers=4 ! video/x-raw,format=NV12,width=62,height=34 ! " + element +
      " name=e ! ";
  for (const char* sink : {"video/x-raw(memory:CUDAMemory) ! fakesink",
                           "video/x-raw(memory:CUDAMemory),format=NV12 ! identity ! fakesink"})
    run_pipeline(source + sink, [&](GstElement* pipeline) {
      fail_unless(output_is_cuda(pipeline, "e"), "system memory for: %s", sink);
    });
  run_pipeline(source + element + " name=e2 ! " + element + " name=e3 ! fakesink",
               [](GstElement* pipeline) {
                 fail_unless(output_is_cuda(pipeline, "e"));
                 fail_unless(output_is_cuda(pipeline, "e2"));
                 fail_unless(!output_is_cuda(pipeline, "e3"));
               });
}

// The formats include those that libgstcuda does not support.
TEST(test_idle_pushes_cuda_memory,
     .for_each_element().times(formats().size()).unless(unless_testing_cuda())) {
  const FormatSpec& format = format_number(index);
  CudaUploader uploader;
  const Picture picture = make_picture(format, 35, 21, Content::natural, 1);
  FilterHarness filter{tested().idle};
  filter.accept_downstream(cuda_feature);
  fail_unless(filter.send_caps(cuda_caps_of(picture)));
  const Owned<GstBuffer> in = uploader.upload(picture);
  const GstVideoMeta* meta = gst_buffer_get_video_meta(in);
  fail_unless(meta != nullptr, "%s", format.name);
  fail_unless_equals_string(gst_video_format_to_string(meta->format), format.name);
  fail_unless(meta->width == 35 && meta->height == 21);
  const Owned<GstBuffer> out = filter.process(gst_buffer_ref(in));
  fail_unless(in == out);
}

// From GStreamer 1.24 on, the host waits for frames in CUDA memory only to post messages.
TEST(test_frames_in_stream_order, .for_each_element().unless(unless_testing_cuda())) {
  const FormatSpec& format = format_named("NV12");
  const Picture picture = make_picture(format, 35, 21, Content::natural, 1);
  CudaUploader uploader;
  for (const Properties& properties : {Properties{tested().working}, tested().everything}) {
    FilterHarness filter(properties);
    filter.accept_downstream(cuda_feature);
    fail_unless(filter.send_caps(cuda_caps_of(picture)));
    const bool waits = properties == tested().everything && tested().messages > 0;
    for (int i = 0; i < 3; ++i) {
      const Owned<GstBuffer> in = uploader.upload(picture);
      fail_unless(!is_marked_unfinished(in), "the uploader has waited for the device");
      const Owned<GstBuffer> out = filter.process(gst_buffer_ref(in));
      fail_unless(is_marked_unfinished(out) == (pushes_in_stream_order && !waits));
      expect_picture(from_buffer(out, format, 35, 21), result(picture), "in stream order");
    }
  }
}

// Many frames are pushed before the first one is read, and memory is reused.
TEST(test_many_frames_in_stream_order, .for_each_element().unless(unless_testing_cuda())) {
  constexpr int frames = 40;
  const FormatSpec& format = format_named("I420_10LE");
  CudaUploader uploader;
  const std::string element = tested_launch() + " backend=cuda " + text_of(tested().working);
  Chain chain(element + " ! " + cuda_feature + " ! queue ! " + element + " ! " + cuda_feature +
                  " ! " + element,
              cuda_feature);
  std::vector<Picture> pictures;
  std::vector<Owned<GstBuffer>> outs;
  for (int i = 0; i < frames; ++i) {
    pictures.push_back(make_picture(format, 322, 182, Content::natural, i));
    outs.push_back(chain.process(uploader.upload(pictures[i]), cuda_caps_of(pictures[i])));
    if (i >= 4)  // the latest four buffers stay in use
      outs[i - 4] = Owned<GstBuffer>(gst_buffer_copy_deep(outs[i - 4]));
  }
  for (int i = 0; i < frames; ++i)
    expect_picture(from_buffer(outs[i], format, 322, 182), result(result(result(pictures[i]))),
                   "frame " + std::to_string(i));
}

TEST(test_cudaupload_and_cudadownload, .for_each_element().unless(unless_cuda_elements())) {
  for (const char* name : {"NV12", "I420", "RGBA", "P010_10LE", "BGRx", "Y444", "P016_LE",
                           "I422_12LE", "BGRP", "RGB10A2_LE"}) {
    const FormatSpec& format = format_named(name);
    Chain chain("cudaupload ! " + tested_launch() +
                    " backend=cuda ! capsfilter caps=\"video/x-raw(memory:CUDAMemory)\" ! "
                    "cudadownload",
                "video/x-raw");
    const Picture picture = make_picture(format, 322, 182, Content::natural, 4);
    for (int i = 0; i < 5; ++i) {
      const Owned<GstBuffer> out =
          chain.process(picture, colorimetry(format, false), packed_layout);
      expect_picture(from_buffer(out, format, 322, 182), result(picture),
                     "uploaded, processed and downloaded");
    }
  }
}

TEST(test_neighbours_share_a_context, .for_each_element().unless(unless_testing_cuda())) {
  const Owned<GstElement> pipeline = new_unshared_pipeline(" backend=cuda");
  MessageLog messages(pipeline);
  gst_element_set_state(pipeline, GST_STATE_PAUSED);
  fail_unless_equals_int(gst_element_get_state(pipeline, nullptr, nullptr, watchdog),
                         GST_STATE_CHANGE_SUCCESS);
  int contexts = 0;
  for (const Owned<GstMessage>& message : messages.take(GST_MESSAGE_HAVE_CONTEXT))
    contexts += context_in(message) != nullptr;
  fail_unless_equals_int(contexts, 1);
  gst_element_set_state(pipeline, GST_STATE_NULL);
}

// Pipelines spread over the GPUs; all elements of a pipeline use the same GPU.
TEST(test_pipelines_on_the_least_used_gpu, .for_each_element().unless(unless_testing_two_gpus())) {
  std::vector<Owned<GstElement>> pipelines;
  for (guint i = 0; i < 4; ++i) {
    pipelines.push_back(new_unshared_pipeline(" backend=cuda cuda-device-id=-2"));
    MessageLog messages(pipelines.back());
    gst_element_set_state(pipelines.back(), GST_STATE_PAUSED);
    fail_unless_equals_int(gst_element_get_state(pipelines.back(), nullptr, nullptr, watchdog),
                           GST_STATE_CHANGE_SUCCESS);
    std::vector<guint> gpus;
    for (const Owned<GstMessage>& message : messages.take(GST_MESSAGE_HAVE_CONTEXT))
      if (const Owned<GstContext> context = context_in(message))
        gpus.push_back(gpu_of(context));
    fail_unless(gpus == std::vector{i % 2}, "pipeline %u: %zu contexts, of GPU %u", i, gpus.size(),
                gpus.empty() ? 0 : gpus[0]);
  }
  for (GstElement* pipeline : pipelines)
    gst_element_set_state(pipeline, GST_STATE_NULL);
}

// The element stays on its GPU: it copies input frames from the other GPU, and the next element, on
// the other GPU, copies the output frames.
TEST(test_frames_of_another_gpu, .for_each_element().times(2).unless(unless_testing_two_gpus())) {
  const int ours = static_cast<int>(index), theirs = 1 - ours;
  CudaUploader other_uploader(theirs), own_uploader(ours);
  const std::tuple<const char*, int, int> frames[] = {
      {"NV12", 322, 181}, {"NV12", 33, 7},         {"NV12", 1, 1},        {"GRAY8", 322, 181},
      {"xRGB", 322, 181}, {"P010_10LE", 322, 181}, {"P010_10LE", 63, 35}, {"RGBA", 321, 181}};
  for (const auto& [name, width, height] : frames) {
    const FormatSpec& format = format_named(name);
    const Picture picture = make_picture(format, width, height, Content::natural, 4);
    const Properties on_ours = {{"cuda-device-id", std::to_string(ours)}};
    FilterHarness to_system(on_ours), to_cuda(on_ours);
    FilterHarness back(Properties{{"cuda-device-id", std::to_string(theirs)}});
    to_cuda.accept_downstream(cuda_feature);
    for (FilterHarness* filter : {&to_system, &to_cuda, &back})
      fail_unless(filter->send_caps(cuda_caps_of(picture)));
    for (int i = 0; i < 8; ++i) {
      CudaUploader& uploader = i % 4 == 3 ? own_uploader : other_uploader;
      const std::string what = "frame " + std::to_string(i);
      expect_output(to_system, uploader.upload(picture).release(), result(picture), what);
      Owned<GstBuffer> between = to_cuda.process(uploader.upload(picture).release());
      fail_unless(is_cuda_memory(between));
      expect_output(back, between.release(), result(result(picture)), what + ", twice");
    }
  }
}

TEST(test_frames_outlive_their_maker, .for_each_element().unless(unless_testing_cuda())) {
  const Picture picture = make_picture(gray(), 61, 37, Content::natural, 4);
  Owned<GstBuffer> buffer;
  {
    CudaUploader maker;
    buffer = maker.upload(picture);
  }
  FilterHarness filter;
  fail_unless(filter.send_caps(cuda_caps_of(picture)));
  expect_output(filter, buffer.release(), result(picture), "after the maker was freed");
}

// cudadownload may push CUDA memory with system-memory caps.
TEST(test_cuda_memory_under_system_caps, .for_each_element().unless(unless_testing_cuda())) {
  CudaUploader uploader;
  for (const Property& property : {tested().working, tested().idle})
    for (const char* name : {"NV12", "RGBA", "GRAY8", "I420_10LE"}) {
      const FormatSpec& format = format_named(name);
      const Picture picture = make_picture(format, 61, 37, Content::natural, 4);
      FilterHarness filter{property};
      filter.accept_caps(format, 61, 37, colorimetry(format, false));
      const Picture expected = property == tested().idle ? picture : result(picture);
      expect_output(filter, uploader.upload(picture).release(), expected, "with system caps");
    }
}

TEST(test_system_memory_under_cuda_caps, .for_each_element().unless(unless_testing_cuda())) {
  for (const char* name : {"NV12", "RGBA", "GRAY8"}) {
    const FormatSpec& format = format_named(name);
    const Picture picture = make_picture(format, 61, 37, Content::natural, 4);
    FilterHarness filter;
    fail_unless(filter.send_caps(cuda_caps_of(picture)));
    expect_output(filter, to_buffer(picture, odd_layout), result(picture),
                  "system memory with CUDA caps");
  }
}

// Without a GstVideoMeta, the element must take the pitch from the CUDA memory itself.
TEST(test_cuda_memory_without_video_meta, .for_each_element().unless(unless_testing_cuda())) {
  CudaUploader uploader;
  for (const char* name : {"NV12", "RGBA", "I420", "P010_10LE"}) {
    const FormatSpec& format = format_named(name);
    const Picture picture = make_picture(format, 61, 37, Content::natural, 4);
    const Owned<GstBuffer> with_meta = uploader.upload(picture);
    GstBuffer* bare = gst_buffer_new();
    gst_buffer_append_memory(bare, gst_buffer_get_memory(with_meta, 0));
    FilterHarness filter;
    fail_unless(filter.send_caps(cuda_caps_of(picture)));
    expect_output(filter, bare, result(picture), "no GstVideoMeta");
  }
}
