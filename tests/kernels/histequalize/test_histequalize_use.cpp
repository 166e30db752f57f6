// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What a user of Histogram and HistogramEqualize relies on beside the pixels: refusals with words,
// parameters that change between frames, work that only enqueues, and neighbours on the device.

#include <algorithm>
#include <functional>
#include <limits>
#include <thread>

#include "tests/kernels/common/device_frames.h"
#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/common/layout_refusals.h"
#include "tests/kernels/histequalize/histequalize_case.h"
#include "tests/kernels/histequalize/histequalize_definition.h"

namespace cudavision::test {
namespace {

using namespace histequalize;

using Channels = histequalize::Parameters::Channels;

/// Frames, the histogram's place beside them, and what an equalisation must make of them.
struct HistEqualizeFrames : DeviceFrames {
  HistEqualizeFrames(Device& device, const FrameLayout& frame_layout, Content content,
                     std::uint64_t seed = 5)
      : DeviceFrames(device, frame_layout, content, seed),
        bins_block(device, std::vector<std::uint32_t>(std::size_t{1} << layout.bits, 0xcdcdcdcd)) {}

  View<std::uint32_t> bins() const {
    const int count = 1 << layout.bits;
    return {bins_block.data(), count, 1, count * std::ptrdiff_t{4}};
  }

  /// The whole output block as the definition wants it after an equalisation with parameters.
  std::vector<std::uint8_t> expected(const histequalize::Parameters& parameters) const {
    std::vector<std::uint8_t> block(placement.bytes, out_poison);
    defined_equalization(layout, parameters, frame_in(layout, placement, host.data()),
                         frame_in(layout, placement, block.data()));
    return block;
  }

  DeviceBlock<std::uint32_t> bins_block;
};

histequalize::Parameters with_blend(int blend) {
  histequalize::Parameters parameters;
  parameters.blend = blend;
  return parameters;
}

class HistEqualizeUse : public EitherDevice {};

INSTANTIATE_TEST_SUITE_P(Devices, HistEqualizeUse, both_devices(), device_name);

TEST_P(HistEqualizeUse, RefusesLayoutsWithWords) {
  const std::vector<LayoutRefusal> refusals = luminance_layout_refusals();
  on_device([&](Device& device) {
    for (const LayoutRefusal& refusal : refusals) {
      SCOPED_TRACE("refusal " + std::to_string(&refusal - refusals.data()));
      FrameLayout layout = gray_layout(33, 9);
      refusal.spoil(layout);
      CUDAVISION_EXPECT_ERROR(Histogram(device, layout), invalid_argument, refusal.words);
      histequalize::Parameters parameters;
      CUDAVISION_EXPECT_ERROR(HistogramEqualize(device, layout, parameters), invalid_argument,
                              refusal.words);
    }
  });
}

TEST_P(HistEqualizeUse, RefusesParametersWithWordsAndKeepsTheLastValidSet) {
  on_device([](Device& device) {
    const HistEqualizeFrames gray(device, gray_layout(67, 31), Content::natural);
    const HistEqualizeFrames rgb(device, layout_named("RGB", 67, 31), Content::natural);
    const auto parameters = [](int low, int high, int blend, Channels channels) {
      return histequalize::Parameters{channels, low, high, blend};
    };
    const auto expect_refusal = [&](const HistEqualizeFrames& frames,
                                    const histequalize::Parameters& wrong, const char* words) {
      CUDAVISION_EXPECT_ERROR(HistogramEqualize(device, frames.layout, wrong), invalid_argument,
                              words);
      const histequalize::Parameters valid = with_blend(200);
      HistogramEqualize equalize(device, frames.layout, valid);
      CUDAVISION_EXPECT_ERROR(equalize.set_parameters(wrong), invalid_argument, words);
      equalize.run(frames.in(), frames.out());
      device.finish();
      EXPECT_EQ(frames.out_block.values(), frames.expected(valid)) << "the last valid set is lost";
    };
    expect_refusal(gray, parameters(-1, 255, 256, Channels::luminance), "range");
    expect_refusal(gray, parameters(0, 256, 256, Channels::luminance), "range");
    expect_refusal(gray, parameters(9, 9, 256, Channels::luminance), "range");
    expect_refusal(gray, parameters(10, 9, 256, Channels::luminance), "range");
    expect_refusal(gray, parameters(0, 255, -1, Channels::luminance), "blend");
    expect_refusal(gray, parameters(0, 255, 257, Channels::luminance), "blend");
    expect_refusal(gray, parameters(0, 255, 256, Channels::each), "luma");
    expect_refusal(rgb, parameters(16, 235, 256, Channels::luminance), "range");
    expect_refusal(rgb, parameters(0, 254, 256, Channels::each), "range");
    expect_refusal(rgb, parameters(0, 255, 300, Channels::each), "blend");
  });
}

TEST_P(HistEqualizeUse, RefusesFramesAndHistogramsOfAnotherShape) {
  on_device([](Device& device) {
    const HistEqualizeFrames frames(device, layout_named("NV12", 34, 10), Content::natural);
    HistogramEqualize equalize(device, frames.layout, {});
    Histogram count(device, frames.layout);
    const auto expect_refusal = [&](const std::function<void(Frame&)>& spoil) {
      Frame wrong = frames.out();
      spoil(wrong);
      CUDAVISION_EXPECT_ERROR(equalize.run(frames.in(), wrong), invalid_argument, "plane");
      CUDAVISION_EXPECT_ERROR(equalize.run(wrong, frames.out()), invalid_argument, "plane");
      CUDAVISION_EXPECT_ERROR(count.run(wrong, frames.bins()), invalid_argument, "plane");
    };
    expect_refusal([](Frame& frame) { frame.planes[0].data = nullptr; });
    expect_refusal([](Frame& frame) { frame.planes[1].data = nullptr; });
    expect_refusal([](Frame& frame) { frame.planes[0].width += 1; });
    expect_refusal([](Frame& frame) { frame.planes[1].height -= 1; });

    const auto expect_no_histogram = [&](const std::function<void(View<std::uint32_t>&)>& spoil) {
      View<std::uint32_t> wrong = frames.bins();
      spoil(wrong);
      CUDAVISION_EXPECT_ERROR(equalize.run(frames.in(), frames.out(), wrong), invalid_argument,
                              "histogram");
      CUDAVISION_EXPECT_ERROR(count.run(frames.in(), wrong), invalid_argument, "histogram");
    };
    expect_no_histogram([](View<std::uint32_t>& bins) { bins.width = 255; });
    expect_no_histogram([](View<std::uint32_t>& bins) { bins.width = 1024; });
    expect_no_histogram([](View<std::uint32_t>& bins) { bins.height = 2; });
    CUDAVISION_EXPECT_ERROR(count.run(frames.in(), {}), invalid_argument, "histogram");

    device.finish();
    EXPECT_EQ(frames.out_block.values(), std::vector<std::uint8_t>(frames.placement.bytes, 0xcd))
        << "a refused run wrote something";
  });
}

TEST_P(HistEqualizeUse, ParametersChangeFromOneFrameToTheNext) {
  on_device([](Device& device) {
    const HistEqualizeFrames first(device, gray_layout(640, 48), Content::natural);
    const HistEqualizeFrames second(device, gray_layout(640, 48), Content::natural, 6);
    HistogramEqualize equalize(device, first.layout, with_blend(256));
    // Not finished in between: each frame keeps the parameters that held when it was enqueued.
    equalize.run(first.in(), first.out());
    equalize.set_parameters({Channels::luminance, 16, 235, 100});
    equalize.run(second.in(), second.out());
    equalize.set_parameters(with_blend(0));
    device.finish();
    EXPECT_EQ(first.out_block.values(), first.expected(with_blend(256)));
    EXPECT_EQ(second.out_block.values(), second.expected({Channels::luminance, 16, 235, 100}));
  });
}

TEST_P(HistEqualizeUse, ChannelsChangeFromOneFrameToTheNext) {
  on_device([](Device& device) {
    const HistEqualizeFrames first(device, layout_named("RGBA", 321, 45), Content::natural);
    const HistEqualizeFrames second(device, layout_named("RGBA", 321, 45), Content::natural);
    const histequalize::Parameters luminance{}, each{Channels::each, 0, 255, 256};
    HistogramEqualize equalize(device, first.layout, luminance);
    equalize.run(first.in(), first.out(), first.bins());
    equalize.set_parameters(each);
    equalize.run(second.in(), second.out(), second.bins());
    device.finish();
    EXPECT_EQ(first.out_block.values(), first.expected(luminance));
    EXPECT_EQ(second.out_block.values(), second.expected(each));
    EXPECT_EQ(first.bins_block.values(), second.bins_block.values());
  });
}

TEST_P(HistEqualizeUse, OperationsOfOneDeviceDoNotDisturbEachOther) {
  on_device([](Device& device) {
    const HistEqualizeFrames gray(device, gray_layout(333, 77), Content::natural);
    const HistEqualizeFrames deep(device, layout_named("P010", 97, 55), Content::random);
    HistogramEqualize first(device, gray.layout, {});
    HistogramEqualize second(device, deep.layout, {Channels::luminance, 64, 940, 256});
    for (int i = 0; i < 3; ++i) {
      first.run(gray.in(), gray.out());
      second.run(deep.in(), deep.out());
    }
    device.finish();
    EXPECT_EQ(gray.out_block.values(), gray.expected({}));
    EXPECT_EQ(deep.out_block.values(), deep.expected({Channels::luminance, 64, 940, 256}));
  });
}

TEST_P(HistEqualizeUse, CountsTheLargestPictureThere) {
  // 65535×65535 pixels: more than 2^31, and a single byte of memory per row number, since all rows
  // are one row.
  constexpr int side = 65535;
  CUDAVISION_NEEDS_PIXELS(std::numeric_limits<int>::max());
  on_device([](Device& device) {
    FrameLayout layout = gray_layout(side, side);
    std::vector<std::uint8_t> row(side, 200);
    row[7] = 3;
    const DeviceBlock<std::uint8_t> block(device, row);
    const DeviceBlock<std::uint32_t> bins(device, std::vector<std::uint32_t>(256, 1));
    ConstFrame frame;
    frame.planes[0] = {block.data(), side, side, 0};
    Histogram(device, layout).run(frame, {bins.data(), 256, 1, 1024});
    device.finish();
    std::vector<std::uint32_t> expected(256, 0);
    expected[3] = side;
    expected[200] = static_cast<std::uint32_t>(side) * (side - 1);
    EXPECT_EQ(bins.values(), expected);
  });
}

TEST_P(HistEqualizeUse, LeftoverRowsOfAPlaneAreCopiedBesideTheOthers) {
  // More rows than the picture has: whoever copies them must leave the picture's to the others.
  on_device([](Device& device) {
    const HistEqualizeFrames frames(device, layout_named("GRAY8Roomy", 640, 512), Content::natural);
    HistogramEqualize equalize(device, frames.layout, {});
    const auto expected = frames.expected({});
    for (int i = 0; i < (settings().small ? 50 : 1000); ++i) {
      equalize.run(frames.in(), frames.out());
      device.finish();
      ASSERT_EQ(frames.out_block.values(), expected) << "run " << i;
    }
  });
}

TEST(HistEqualizeThreads, TwoDevicesWorkAtTheSameTime) {
  const auto work = [](std::uint64_t seed, bool& equal) {
    const auto device = make_cpu_device();
    const HistEqualizeCase test =
        plain_histequalize_case(layout_named("RGBx", 257, 255), Content::natural, seed);
    const auto input = input_block(test);
    const HistEqualizeBlocks expected = defined_blocks(test, input, 0xcd);
    HistEqualizeRunner runner(*device, test);
    for (int i = 0; i < 20; ++i)
      equal = equal && difference(test, expected, runner.run(input, 0xcd)).empty();
  };
  bool first = true, second = true;
  std::thread thread(work, 1, std::ref(first));
  work(2, second);
  thread.join();
  EXPECT_TRUE(first);
  EXPECT_TRUE(second);
}

/// Layouts that between them take every way through the kernels.
const char* const representatives[] = {"GRAY8", "GRAY16", "NV12", "YUY2", "P010", "RGB", "RGBx"};

TEST(HistEqualizeCuda, RunOnlyEnqueues) {
  CUDAVISION_NEEDS_CUDA();
  CudaTestDevice device;
  for (const char* layout : representatives) {
    SCOPED_TRACE(layout);
    const HistEqualizeFrames frames(*device, layout_named(layout, 301, 203), Content::natural);
    histequalize::Parameters parameters;
    parameters.high = (1 << frames.layout.bits) - 1;
    HistogramEqualize equalize(*device, frames.layout, parameters);
    Histogram count(*device, frames.layout);
    // What allocates or waits cannot be captured. Replayed, the work must not depend on anything
    // that the host did while it was enqueued.
    device.capture_and_replay(
        [&] {
          equalize.run(frames.in(), frames.out());
          count.run(frames.in(), frames.bins());
        },
        3);
    EXPECT_EQ(frames.out_block.values(), frames.expected(parameters));
    EXPECT_EQ(frames.bins_block.values(),
              defined_histogram(frames.layout,
                                frame_in(frames.layout, frames.placement, frames.host.data())));
  }
}

TEST(HistEqualizeCuda, SetParametersDoesNotReachEnqueuedFrames) {
  CUDAVISION_NEEDS_CUDA();
  CudaTestDevice device;
  const HistEqualizeFrames frames(*device, layout_named("RGBx", 640, 360), Content::natural);
  HistogramEqualize equalize(*device, frames.layout, {});
  device.spin(1, 50);  // holds the stream back until the parameters have changed
  equalize.run(frames.in(), frames.out());
  equalize.set_parameters({Channels::each, 0, 255, 3});
  device->finish();
  EXPECT_EQ(frames.out_block.values(), frames.expected({}));
}

TEST(HistEqualizeCuda, EqualBesideABusyKernel) {
  CUDAVISION_NEEDS_CUDA();
  CUDAVISION_NEEDS_PIXELS(1920 * 1080);
  CudaTestDevice device, neighbour;
  for (const char* layout : representatives) {
    SCOPED_TRACE(layout);
    const HistEqualizeCase test =
        plain_histequalize_case(layout_named(layout, 1920, 1080), Content::natural, 8);
    const auto input = input_block(test);
    const auto cpu = make_cpu_device();
    const HistEqualizeBlocks expected = HistEqualizeRunner(*cpu, test).run(input, 0xcd);
    HistEqualizeRunner runner(*device, test);
    // From a few to most of the multiprocessors, for as long as the frames take.
    for (const int share : {16, 4, 2}) {
      neighbour.spin(std::max(1, 2 * cuda_multiprocessors() / share), 100);
      for (int i = 0; i < 4; ++i)
        ASSERT_EQ(difference(test, expected, runner.run(input, 0xcd)), "");
      neighbour->finish();
    }
  }
}

TEST(HistEqualizeCuda, TwoStreamsAtTheSameTime) {
  CUDAVISION_NEEDS_CUDA();
  CUDAVISION_NEEDS_PIXELS(1920 * 1080);
  CudaTestDevice first, second;
  const HistEqualizeFrames one(*first, gray_layout(1920, 1080), Content::natural);
  const HistEqualizeFrames two(*second, gray_layout(1920, 1080), Content::two_valued);
  HistogramEqualize equalize_one(*first, one.layout, {});
  HistogramEqualize equalize_two(*second, two.layout, {});
  for (int i = 0; i < 200; ++i) {
    equalize_one.run(one.in(), one.out());
    equalize_two.run(two.in(), two.out());
  }
  first->finish();
  second->finish();
  EXPECT_EQ(one.out_block.values(), one.expected({}));
  EXPECT_EQ(two.out_block.values(), two.expected({}));
}

}  // namespace
}  // namespace cudavision::test
