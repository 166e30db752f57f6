// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests the caps of cudaintegral: tensors, pictures, the choice between them, and refusals.

#include "tests/check/common/outputcaps.h"
#include "tests/check/common/pictures/tensors.h"
#include "tests/check/common/pipelines.h"

using namespace check;

namespace {

// Caps of NNStreamer's tensor_typedef.h, and of NNStreamer elements that accept any tensors.
constexpr char nnstreamer_static[] =
    "other/tensors, format = (string) static, num_tensors = (int) [ 1, 16 ], "
    "framerate = (fraction) [ 0, max ]";
constexpr char nnstreamer_any[] =
    "other/tensors, format = (string) { static, flexible, sparse }, "
    "framerate = (fraction) [ 0, max ]";

std::string expect_refusal(FilterHarness& filter, const FormatSpec& format, int width, int height) {
  filter.send_caps(caps_of(format, width, height));
  const GstFlowReturn flow = filter.push(gst_buffer_new_allocate(nullptr, 64, nullptr));
  fail_unless(flow == GST_FLOW_NOT_NEGOTIATED || flow == GST_FLOW_ERROR, "flow %s",
              gst_flow_get_name(flow));
  fail_unless(filter.pull() == nullptr);
  return filter.messages().text(GST_MESSAGE_ERROR);
}

template <class What>
void with_output_caps(const std::string& rest, What what) {
  run_pipeline(
      "videotestsrc num-buffers=2 ! video/x-raw,format=NV12,width=62,height=34,framerate=10/1 ! "
      "cudaintegral name=e " +
          rest,
      [&](GstElement* pipeline) {
        const Owned<GstCaps> caps = output_caps(pipeline, "e");
        const Owned<gchar> text(gst_caps_to_string(caps));
        what(gst_caps_get_structure(caps, 0), std::string(text));
      });
}

}  // namespace

TEST(test_nnstreamer_template) {
  const Owned<GstElement> element = new_element("cudaintegral");
  const Owned<GstCaps> ours(
      gst_pad_template_get_caps(gst_element_get_pad_template(element, "src")));
  for (const char* text : {nnstreamer_static, nnstreamer_any}) {
    const Owned<GstCaps> theirs = caps_from(text);
    fail_unless(gst_caps_can_intersect(ours, theirs), "%s", text);
    for (Output output : all_tables)
      for (ElementType type : all_element_types)
        for (bool same_size : {false, true}) {
          const Integral how{output, same_size, type};
          FilterHarness filter("cudaintegral", how.properties());
          filter.accept_downstream(text);
          const FormatSpec& format = format_named("RGB");
          filter.accept_caps(format, 20, 10);
          expect_tensor(filter, make_picture(format, 20, 10, Content::natural, 1), how);
          fail_unless(gst_caps_is_subset(current_caps(filter.sink_pad()).get(), theirs));
        }
  }
}

bool has_cuda_tensors(const GstCaps* caps) {
  return gst_caps_can_intersect(caps, caps_from("other/tensors(memory:CUDAMemory)").get());
}

TEST(test_cuda_memory_is_offered) {
  const Owned<GstElement> element = new_element("cudaintegral");
  const Owned<GstCaps> all(gst_pad_template_get_caps(gst_element_get_pad_template(element, "src")));
  fail_unless_equals_int(has_cuda_tensors(all), built_with_cuda());
  for (Output output : all_outputs) {
    FilterHarness filter("cudaintegral", Integral{output}.properties());
    const Owned<GstCaps> offered(gst_pad_peer_query_caps(filter.sink_pad(), nullptr));
    fail_unless_equals_int(has_cuda_tensors(offered), is_table(output) && testing_cuda());
  }
}

// Tensors are in CUDA memory only if downstream lists it for tensors and the element uses CUDA.
TEST(test_memory_of_tensors) {
  for (const auto& [sink_caps, named] :
       {std::pair{"other/tensors(memory:CUDAMemory); other/tensors", true},
        std::pair{"other/tensors; other/tensors(memory:CUDAMemory)", true},
        std::pair{"other/tensors(memory:CUDAMemory), types=(string)uint32; video/x-raw(ANY); "
                  "other/tensors",
                  true},
        std::pair{"other/tensors(ANY)", false}, std::pair{"ANY", false},
        std::pair{"video/x-raw(memory:CUDAMemory); other/tensors(ANY)", false}}) {
    FilterHarness filter("cudaintegral");
    filter.accept_downstream(sink_caps);
    filter.accept_caps(gray(), 20, 10);
    const Owned<GstCaps> caps = current_caps(filter.sink_pad());
    fail_unless(has_cuda_tensors(caps) == (named && testing_cuda()), "%" GST_PTR_FORMAT " for %s",
                caps.get(), sink_caps);
    expect_tensor(filter, make_picture(gray(), 20, 10, Content::natural, 1), Integral{Output::sum});
  }
}

TEST(test_tensor_caps) {
  for (const auto& [more, framerate] :
       {std::pair{"framerate=30000/1001", "30000/1001"},
        std::pair{"framerate=0/1, max-framerate=25/1", "0/1"},
        std::pair{"framerate=25/1, pixel-aspect-ratio=16/15, colorimetry=bt709, chroma-site=mpeg2, "
                  "multiview-mode=side-by-side, interlace-mode=interleaved",
                  "25/1"}}) {
    FilterHarness filter("cudaintegral");
    fail_unless(
        filter.send_caps(std::string("video/x-raw, format=NV12, width=98, height=54, ") + more));
    expect_output_caps(
        filter, std::string("other/tensors, format=(string)static, num_tensors=(int)1, "
                            "dimensions=(string)1:99:55:1, types=(string)uint32, framerate=") +
                    framerate);
  }
}

TEST(test_any_peer_gets_the_tensor) {
  for (const char* sink :
       {"fakesink", "filesink location=/dev/null", "appsink sync=false wait-on-eos=false",
        "tee name=t ! queue ! fakesink t. ! queue ! fakesink", "queue ! identity ! fakesink",
        "other/tensors ! fakesink"})
    with_output_caps(
        std::string("! ") + sink, [&](const GstStructure* structure, const std::string& text) {
          fail_unless(gst_structure_has_name(structure, "other/tensors") &&
                          text.find("memory:") == std::string::npos,
                      "%s for: %s", text.c_str(), sink);
          fail_unless_equals_string(gst_structure_get_string(structure, "dimensions"), "1:63:35:1");
        });
}

TEST(test_tensor_rather_than_picture) {
  for (const char* sink_caps : {"video/x-raw; other/tensors", "other/tensors; video/x-raw",
                                "video/x-raw(memory:CUDAMemory); video/x-raw; other/tensors"}) {
    FilterHarness filter("cudaintegral");
    filter.accept_downstream(sink_caps);
    filter.accept_caps(gray(), 20, 10);
    expect_tensor(filter, make_picture(gray(), 20, 10, Content::natural, 1), Integral{Output::sum});
  }
}

TEST(test_size_from_dimensions) {
  for (bool same_size : {false, true}) {
    FilterHarness filter("cudaintegral", Integral{Output::sum, same_size}.properties());
    const auto downstream = [&](const char* caps) { filter.accept_downstream(caps); };
    downstream("other/tensors, dimensions=(string)1:65:49:1");
    fail_unless(offers(filter, same_size ? "video/x-raw, width=65, height=49"
                                         : "video/x-raw, width=64, height=48"));
    fail_unless(!offers(filter, same_size ? "video/x-raw, width=64" : "video/x-raw, width=65"));
    downstream("other/tensors, dimensions=(string){ 1:65:49:1, 1:3:2:1 }");
    fail_unless(offers(
        filter, same_size ? "video/x-raw, width=3, height=2" : "video/x-raw, width=2, height=1"));
    fail_unless(!offers(filter, "video/x-raw, width=4"));
    downstream("other/tensors, dimensions=(string)1:1:1:1");
    fail_unless(offers(filter, "video/x-raw") == same_size);
    for (const char* none :
         {"other/tensors, dimensions=(string)3:65:49:1",
          "other/tensors, dimensions=(string)1:65:49",
          "other/tensors, dimensions=(string)1:65:49:2",
          "other/tensors, dimensions=(string)\"1:65:49:1,1:65:49:1\"",
          "other/tensors, dimensions=(string)65:49:1:1", "other/tensors, dimensions=(string)\"\"",
          "other/tensors, num_tensors=2", "other/tensors, format=(string)flexible",
          "other/tensors, types=(string)int32", "other/tensors(memory:GLMemory)", "other/tensor",
          "audio/x-raw"}) {
      downstream(none);
      fail_unless(!offers(filter, "video/x-raw"), "offered for %s", none);
    }
    downstream("other/tensors(memory:CUDAMemory)");
    fail_unless_equals_int(offers(filter, "video/x-raw"), testing_cuda());
    downstream("other/tensors, framerate=30/1");
    fail_unless(offers(filter, "video/x-raw, framerate=30/1"));
    fail_unless(!offers(filter, "video/x-raw, framerate=25/1"));
  }
}

// Downstream may list element types. Caps whose table has another type are refused.
TEST(test_type_that_downstream_takes) {
  const FormatSpec& deep = format_named("GRAY16_LE");
  FilterHarness filter("cudaintegral");
  filter.accept_downstream("other/tensors, types=(string)uint32");
  filter.accept_caps(gray(), 400, 300);
  fail_unless(!filter.send_caps(caps_of(deep, 400, 300)));
  FilterHarness floats("cudaintegral", {{"element-type", "float32"}});
  floats.accept_downstream("other/tensors, types=(string)uint32");
  fail_unless(!floats.send_caps(caps_of(gray(), 400, 300)));
  floats.accept_downstream("other/tensors, types=(string){ int8, float32, uint32 }");
  floats.accept_caps(gray(), 400, 300);
}

TEST(test_launch_lines) {
  for (const char* output : {"sum", "squared-sum", "tilted-sum"})
    with_output_caps(std::string("output=") + output +
                         " ! other/tensors,types=(string)uint32 ! "
                         "fakesink",
                     [&](const GstStructure* structure, const std::string&) {
                       gint n = 0, d = 0;
                       fail_unless(gst_structure_get_fraction(structure, "framerate", &n, &d));
                       fail_unless(n == 10 && d == 1);
                     });
  // The source adopts the size that the tensor requires.
  run_pipeline(
      "videotestsrc num-buffers=2 ! cudaintegral name=e ! other/tensors,dimensions=(string)"
      "1:101:51:1 ! fakesink");
  run_pipeline(
      "videotestsrc num-buffers=2 ! cudaintegral name=e table-layout=same-size ! "
      "video/x-raw,width=101,height=51 ! fakesink");
}

TEST(test_picture_caps) {
  const Properties sum = Integral{Output::sum}.properties(),
                   same = Integral{Output::sum, true}.properties(),
                   mean = Integral{Output::mean}.properties(),
                   stddev = Integral{Output::stddev}.properties();
  const char* const all =
      "format=NV12, width=64, height=48, framerate=25/1, pixel-aspect-ratio=16/15, "
      "colorimetry=bt709, chroma-site=mpeg2, interlace-mode=interleaved, "
      "field-order=top-field-first, multiview-mode=side-by-side, multiview-flags=half-aspect, "
      "views=1";
  const char* const rest =
      "width=64, height=48, framerate=25/1, pixel-aspect-ratio=16/15, interlace-mode=interleaved, "
      "field-order=top-field-first, multiview-mode=side-by-side, multiview-flags=half-aspect, "
      "views=1";
  const std::string gray8 = std::string("format=GRAY8, ") + rest;
  const std::string limited = gray8 + ", colorimetry=bt709";
  for (const OutputCaps& expected : {
           OutputCaps{sum, all, "",
                      "format=GRAY8, width=65, height=49, framerate=25/1, "
                      "pixel-aspect-ratio=16/15, views=1"},
           OutputCaps{same, all, "",
                      "format=GRAY8, width=64, height=48, framerate=25/1, "
                      "pixel-aspect-ratio=16/15, views=1"},
           OutputCaps{mean, all, "", limited},
           OutputCaps{stddev, all, "", gray8},
           OutputCaps{sum, "format=RGB, width=7, height=3, framerate=0/1, max-framerate=9/1",
                      ", format=GRAY16_LE",
                      "format=GRAY16_LE, width=8, height=4, framerate=0/1, max-framerate=9/1"},
           OutputCaps{sum, "format=RGB, width=7, height=3, framerate=25/1",
                      ", format=(string){ GRAY16_LE, GRAY8 }",
                      "format=GRAY8, width=8, height=4, framerate=25/1"},
           // A mean has the range of the samples: limited for YUV without colorimetry.
           OutputCaps{mean, "format=P010_10LE, width=8, height=8, framerate=25/1", "",
                      "format=GRAY16_LE, width=8, height=8, framerate=25/1, colorimetry=bt601"},
           OutputCaps{mean, "format=I420, width=8, height=8, framerate=25/1, colorimetry=1:4:16:4",
                      "", "format=GRAY8, width=8, height=8, framerate=25/1"},
           OutputCaps{mean, "format=RGB, width=8, height=8, framerate=25/1, colorimetry=sRGB", "",
                      "format=GRAY8, width=8, height=8, framerate=25/1"},
           OutputCaps{mean, "format=GRAY8, width=8, height=8, framerate=25/1", "",
                      "format=GRAY8, width=8, height=8, framerate=25/1"},
           OutputCaps{stddev, "format=GRAY16_LE, width=8, height=8, framerate=25/1", "",
                      "format=GRAY16_LE, width=8, height=8, framerate=25/1"},
       })
    expect_output_caps("cudaintegral", expected);
}

TEST(test_pictures_that_downstream_takes) {
  const auto expect = [](const Integral& how, const char* downstream,
                         const std::vector<const char*>& possible,
                         const std::vector<const char*>& impossible) {
    expect_offers("cudaintegral", how.properties(), downstream, possible, impossible);
  };
  for (Output output : {Output::mean, Output::stddev}) {
    expect(Integral{output}, "video/x-raw, format=GRAY8",
           {"video/x-raw, format=(string){ NV12, RGB }"},
           {"video/x-raw, format=(string){ P010_10LE, GRAY16_LE, I420_10LE }"});
    expect(Integral{output}, "video/x-raw, format=GRAY16_LE",
           {"video/x-raw, format=P010_10LE", "video/x-raw, format=GRAY16_LE"},
           {"video/x-raw, format=NV12", "video/x-raw, format=GRAY8"});
    expect(Integral{output}, "video/x-raw, format=NV12", {}, {"video/x-raw"});
    expect(Integral{output}, "other/tensors", {}, {"video/x-raw"});
    expect(Integral{output}, "video/x-raw, width=9", {"video/x-raw, width=9"},
           {"video/x-raw, width=8"});
  }
  for (const char* downstream : {"video/x-raw, format=GRAY8", "video/x-raw, format=GRAY16_LE"})
    expect(Integral{Output::sum}, downstream,
           {"video/x-raw, format=NV12", "video/x-raw, format=P010_10LE"}, {});
  expect(Integral{Output::sum}, "video/x-raw, width=[ 10, 20 ], height=(int){ 1, 9, [ 30, 40 ] }",
         {"video/x-raw, width=9", "video/x-raw, width=19", "video/x-raw, height=8",
          "video/x-raw, height=29", "video/x-raw, height=39"},
         {"video/x-raw, width=8", "video/x-raw, width=20", "video/x-raw, height=1",
          "video/x-raw, height=9", "video/x-raw, height=28", "video/x-raw, height=40"});
  expect(Integral{Output::sum}, "video/x-raw, width=1", {}, {"video/x-raw"});
  expect(Integral{Output::sum, true}, "video/x-raw, width=1", {"video/x-raw, width=1"},
         {"video/x-raw, width=2"});
}

TEST(test_system_memory_unless_named) {
  for (const char* output : {"sum", "mean"})
    for (const char* sink :
         {"video/x-raw(ANY) ! fakesink", "video/x-raw ! fakesink", "videoconvert ! fakesink"})
      with_output_caps(std::string("output=") + output + " ! " + sink,
                       [&](const GstStructure* structure, const std::string& text) {
                         fail_unless(gst_structure_has_name(structure, "video/x-raw") &&
                                         text.find("memory:CUDAMemory") == std::string::npos,
                                     "%s for: %s", text.c_str(), sink);
                       });
}

TEST(test_too_large_for_a_picture) {
  for (const auto& [width, height] : {std::pair{65535, 2}, std::pair{2, 65535}}) {
    FilterHarness filter("cudaintegral");
    filter.accept_downstream("video/x-raw");
    expect_words(expect_refusal(filter, gray(), width, height),
                 {"65536", "table-layout=same-size", "other/tensors"});
    filter.accept_caps(gray(), 65534, 2);

    FilterHarness same("cudaintegral", {{"table-layout", "same-size"}});
    same.accept_downstream("video/x-raw");
    same.accept_caps(gray(), width, height);
  }
}

// A table in CUDA memory is one row, whose size in bytes libgstcuda stores as an int.
TEST(test_too_large_for_cuda_memory, .unless(unless_testing_cuda())) {
  FilterHarness filter("cudaintegral");
  filter.accept_downstream("other/tensors(memory:CUDAMemory)");
  expect_words(expect_refusal(filter, gray(), 30000, 20000),
               {"30001", "CUDA memory", "2147483136"});
  filter.accept_caps(gray(), 16, 16);
  expect_tensor(filter, make_picture(gray(), 16, 16, Content::natural, 1), Integral{Output::sum});
}

TEST(test_too_large_for_a_buffer) {
  FilterHarness filter("cudaintegral", {{"element-type", "uint64"}});
  expect_words(expect_refusal(filter, gray(), 30000, 30000), {"30001", "element-type=uint32"});
  filter.accept_caps(gray(), 16, 16);
  expect_tensor(filter, make_picture(gray(), 16, 16, Content::natural, 1),
                {Output::sum, false, ElementType::uint64});
}
