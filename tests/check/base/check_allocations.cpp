// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests that each frame needs only a few small allocations. Frames in flight, and properties that
// change with every frame, must add none per frame.
#include <gst/video/video.h>

#include "tests/check/common/definitions/blurdefinition.h"
#include "tests/check/common/faults/allocationcount.h"
#include "tests/check/common/faults/faults.h"
#include "tests/check/common/pictures/cudaframes.h"
#include "tests/check/common/streams/receiver.h"

using namespace check;

namespace {

constexpr int frames = 200, warm_up = 20;

using Setting = std::function<guint(FilterHarness& filter, int number)>;

long allocations(FilterHarness& filter, GstBuffer* frame, const Setting& setting) {
  AllocationCount count;
  for (int i = 0; i < warm_up + frames; ++i) {
    GstBuffer* in = gst_buffer_copy(frame);
    GST_BUFFER_FLAG_SET(in, setting(filter, i));
    if (i >= warm_up)
      count.start();
    fail_unless_equals_int(filter.push(in), GST_FLOW_OK);
    if (i >= warm_up)
      count.stop();
    filter.pull();
  }
  return count.total();
}

void expect_no_more(const char* element, const Properties& properties, Size size,
                    const std::vector<Setting>& settings) {
  const FormatSpec& format = format_named("I420");
  const Owned<GstBuffer> frame(
      to_buffer(make_picture(format, size.width, size.height, Content::natural, 1)));
  FilterHarness filter(element, properties);
  filter.accept_caps(format, size.width, size.height,
                     colorimetry(format, false) + ", interlace-mode=mixed");
  const long constant = allocations(filter, frame, [](FilterHarness&, int) { return 0u; });
  fail_unless(constant >= frames, "allocations are not counted: %ld", constant);
  fail_unless(constant < frames * 40, "%s: %ld allocations for %d frames", element, constant,
              frames);
  for (std::size_t i = 0; i < settings.size(); ++i) {
    const long changing = allocations(filter, frame, settings[i]);
    fail_unless(changing < constant + frames / 4, "%s, setting %d: %ld allocations instead of %ld",
                element, static_cast<int>(i), changing, constant);
  }
}

template <class Set>
Setting setting(Set set) {
  return [set](FilterHarness& filter, int i) {
    set(filter, i);
    return 0u;
  };
}

guint fields_and_frames(FilterHarness&, int i) {
  return i % 2 == 0 ? guint{GST_VIDEO_BUFFER_FLAG_INTERLACED} : 0u;
}

struct Allocations {
  long blocks, bytes;  ///< allocations of host memory
  long by_cuda;        ///< calls that allocate device or page-locked memory, events, …
};

Allocations allocations_in_flight(int frames_in_flight, bool in_cuda) {
  const FormatSpec& format = format_named("I420");
  const Picture picture = make_picture(format, 320, 180, Content::natural, 1);
  const Owned<GstBuffer> frame(in_cuda ? CudaUploader().upload(picture).release()
                                       : to_buffer(picture));
  const auto copy = [&](guint64 number) {
    return at(number * frame_duration, gst_buffer_copy(frame));
  };
  FilterHarness filter{{"frames-in-flight", std::to_string(frames_in_flight)}};
  Receiver receiver(filter);
  receiver.keep_no_frames();
  if (in_cuda)
    filter.accept_downstream(cuda_feature);
  fail_unless(filter.send_caps(in_cuda ? cuda_caps_of(picture)
                                       : caps_of(format, 320, 180, colorimetry(format, false))));

  // Fills all slots once, so that no later frame allocates the buffers of its slot.
  AllocationCount of_first;
  of_first.start();
  const long made_before = resources_made(Calls::cuda);
  receiver.close();
  Feeder feeder(filter, 0, 10, copy);
  const bool overlap = frames_in_flight > 1 && !(in_cuda && pushes_in_stream_order);
  const guint64 accepted = overlap ? static_cast<guint64>(frames_in_flight) : 0;
  wait_until([&] { return receiver.holds_frame() && feeder.pushed() == accepted; }, "full queues");
  receiver.open();
  fail_unless_equals_int(feeder.finish(), GST_FLOW_OK);
  wait_until([&] { return receiver.frame_count() == 10u; }, "ten frames");
  of_first.stop();
  fail_unless(of_first.total() > 0, "allocations are not counted");
  fail_unless(!testing_cuda() || resources_made(Calls::cuda) > made_before,
              "CUDA allocations are not counted");

  std::vector<Owned<GstBuffer>> inputs;
  for (guint64 i = 10; i < 10 + frames; ++i)
    inputs.emplace_back(copy(i));
  AllocationCount count;
  const long made = resources_made(Calls::cuda);
  count.start();
  for (Owned<GstBuffer>& input : inputs)
    fail_unless_equals_int(filter.push(input.release()), GST_FLOW_OK);
  filter.send_eos();
  count.stop();
  fail_unless_equals_int(receiver.frame_count(), 10 + frames);
  return {count.total(), count.bytes(), resources_made(Calls::cuda) - made};
}

void expect_steady_stream(bool in_cuda) {
  const Allocations alone = allocations_in_flight(1, in_cuda);
  for (int number : {1, 3, 8}) {
    const Allocations some = number > 1 ? allocations_in_flight(number, in_cuda) : alone;
    fail_unless(some.blocks < alone.blocks + frames / 4,
                "%d in flight: %ld allocations instead of %ld", number, some.blocks, alone.blocks);
    // A frame has 86 400 bytes, so a copy of each frame would exceed this limit.
    fail_unless(some.bytes < frames * 4096, "%d in flight: %ld bytes for %d frames", number,
                some.bytes, frames);
    fail_unless(some.by_cuda == 0, "%d in flight: %ld CUDA allocations for %d frames", number,
                some.by_cuda, frames);
  }
}

}  // namespace

TEST(test_settings, .for_each_element().unless(unless_allocations_count())) {
  expect_no_more(tested().element, tested().always, {32, 24},
                 {setting([](FilterHarness& filter, int i) {
                   filter.set(i % 2 == 0 ? tested().working : tested().halfway);
                 })});
}

TEST(test_clahe, .unless(unless_allocations_count())) {
  expect_no_more(
      "cudahistequalize", {{"method", "clahe"}}, {320, 180},
      {setting([](FilterHarness& filter, int i) { filter.set("clip-limit", text_of(0.1 * i)); }),
       setting([](FilterHarness& filter, int i) {
         filter.set("strength", text_of(0.01 * (i % 100)));
         filter.set("method", i % 2 == 0 ? "clahe" : "equalize");
       })});
}

TEST(test_gaussblur, .unless(unless_allocations_count())) {
  expect_no_more(
      "cudagaussblur", {{"sigma", "5"}}, {320, 180},
      {setting([](FilterHarness& filter, int i) { filter.set("sigma", text_of(0.5 * (i % 120))); }),
       setting([](FilterHarness& filter, int i) { filter.set("sigma", text_of(i % 5 - 2)); }),
       setting([](FilterHarness& filter, int i) {
         filter.set("kernel-size", std::to_string(1 + i * 22 % 1023 / 2 * 2));
         filter.set("kernel-size-y", std::to_string(1 + i * 46 % 1023 / 2 * 2));
       }),
       setting([](FilterHarness& filter, int i) {
         filter.set("border", nick_of(all_edges[i % 5]));
         filter.set("border-color", std::to_string(0xff000000u + static_cast<unsigned>(i) * 991));
       }),
       setting(
           [](FilterHarness& filter, int i) { filter.set("fine", i % 2 == 0 ? "true" : "false"); }),
       fields_and_frames});
}

TEST(test_pixelate, .unless(unless_allocations_count())) {
  expect_no_more("cudapixelate", {}, {320, 180},
                 {setting([](FilterHarness& filter, int i) {
                    filter.set("method", i % 2 == 0 ? "mosaic" : "solid");
                    filter.set("block-size", std::to_string(2 + i * 5 % 255));
                    filter.set("color", std::to_string(static_cast<unsigned>(i) * 991));
                  }),
                  fields_and_frames});
}

TEST(test_histequalize, .unless(unless_allocations_count())) {
  expect_no_more("cudahistequalize", {{"smoothing-time", "1000000000"}}, {320, 180},
                 {setting([](FilterHarness& filter, int i) {
                    filter.set("smoothing-time", std::to_string(i % 5 * 100000000));
                  }),
                  setting([](FilterHarness& filter, int i) {
                    filter.set("scene-cut-threshold", text_of(0.01 * (i % 100)));
                    filter.set("strength", text_of(0.01 * (i % 90)));
                  })});
}

TEST(test_regions, .unless(unless_allocations_count())) {
  expect_no_more("cudagaussblur", {{"sigma", "5"}, {"regions", "20,20,60,60;0.4,0.4,0.3,0.5"}},
                 {320, 180}, {setting([](FilterHarness& filter, int i) {
                   filter.set("region-shape", i % 2 == 0 ? "ellipse" : "rectangle");
                   filter.set("region-margin", std::to_string(i % 40));
                   filter.set("region-feather", std::to_string(i * 7 % 50));
                   filter.set("region-invert", i % 5 == 0 ? "true" : "false");
                 })});
}

TEST(test_region_strength, .unless(unless_allocations_count())) {
  for (const char* element : {"cudagaussblur", "cudapixelate"})
    expect_no_more(element, {{"regions", "2,2,9,9"}, {"region-strength", "0.25"}}, {300, 200},
                   {setting([](FilterHarness& filter, int i) {
                     const std::string side = std::to_string(9 + i % 150);
                     filter.set("regions", "2,2," + side + "," + side);
                   })});
}

TEST(test_statistics_of_regions, .unless(unless_allocations_count())) {
  expect_no_more("cudahistequalize",
                 {{"statistics-region", "regions"}, {"regions", "20,20,60,60;0.4,0.4,0.3,0.5"}},
                 {320, 180}, {setting([](FilterHarness& filter, int i) {
                   filter.set("region-shape", i % 2 == 0 ? "ellipse" : "rectangle");
                   filter.set("region-feather", std::to_string(i * 7 % 50));
                   filter.set("region-invert", i % 5 == 0 ? "true" : "false");
                 })});
}

TEST(test_integral, .unless(unless_allocations_count())) {
  expect_no_more("cudaintegral", {}, {64, 48}, {});
  for (const char* output : {"mean", "stddev"})
    expect_no_more("cudaintegral", {{"output", output}}, {64, 48},
                   {setting([](FilterHarness& filter, int i) {
                     filter.set("radius", std::to_string(i * 37 % 500));
                   })});
}

TEST(test_threshold, .unless(unless_allocations_count())) {
  expect_no_more("cudathreshold", {}, {64, 48}, {setting([](FilterHarness& filter, int i) {
                   filter.set("radius", std::to_string(i % 50));
                   filter.set("method", i % 2 == 0 ? "sauvola" : "bradley");
                   filter.set("ratio", text_of(0.01 * (i % 100)));
                   filter.set("k", text_of(0.01 * (i % 90)));
                   filter.set("range", std::to_string(i));
                 })});
}

TEST(test_denoise, .unless(unless_allocations_count())) {
  expect_no_more("cudadenoise", {{"search-size", "5"}, {"patch-size", "3"}}, {64, 48},
                 {setting([](FilterHarness& filter, int i) {
                   filter.set("search-size", std::to_string(1 + i % 4 * 2));
                   filter.set("patch-size", std::to_string(1 + i % 3 * 2));
                   filter.set("strength", std::to_string(1 + i % 100));
                 })});
}

TEST(test_guidedfilter, .unless(unless_allocations_count())) {
  expect_no_more("cudaguidedfilter", {}, {64, 48}, {setting([](FilterHarness& filter, int i) {
                   filter.set("radius", std::to_string(1 + i * 37 % 500));
                   filter.set("epsilon", std::to_string(1 + i));
                 })});
}

TEST(test_unpacking, .for_each_element().unless(unless_allocations_count())) {
  const auto count = [](const char* name) {
    const FormatSpec& format = format_named(name);
    const Owned<GstBuffer> frame(to_buffer(make_picture(format, 320, 180, Content::natural, 1)));
    FilterHarness filter;
    filter.accept_caps(format, 320, 180, colorimetry(format, false));
    return allocations(filter, frame, [](FilterHarness&, int) { return 0u; });
  };
  const long gray = count("GRAY16_LE"), swapped = count("GRAY16_BE"), words = count("RGB10A2_LE");
  fail_unless(swapped < gray + frames / 4, "%ld allocations instead of %ld", swapped, gray);
  fail_unless(words < gray + frames / 4, "%ld allocations instead of %ld", words, gray);
}

TEST(test_frames_in_flight, .for_each_element().unless(unless_allocations_count())) {
  expect_steady_stream(false);
}

TEST(test_frames_in_flight_in_cuda_memory,
     .for_each_element().unless(unless_allocations_count()).unless(unless_testing_cuda())) {
  expect_steady_stream(true);
}
