// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How GaussBlur goes about its work: it allocates nothing once constructed, only enqueues, and
// neither disturbs its neighbours nor is disturbed by them.

#include <algorithm>
#include <memory>
#include <thread>

#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/common/new_calls.h"
#include "tests/kernels/common/watched_device.h"
#include "tests/kernels/gaussblur/gaussblur_case.h"
#include "tests/kernels/gaussblur/gaussblur_frames.h"

namespace cudavision::test {
namespace {

using namespace gaussblur;

class GaussBlurWork : public EitherDevice {};

INSTANTIATE_TEST_SUITE_P(Devices, GaussBlurWork, both_devices(), device_name);

TEST_P(GaussBlurWork, NothingIsAllocatedAfterConstruction) {
  on_device([](Device& inner) {
    WatchedDevice device(inner);
    for (const char* name : {"GRAY8", "YUY2", "P010", "RGBA"}) {
      SCOPED_TRACE(name);
      const BlurFrames frames(inner, layout_named(name, 160, 120), Content::natural);
      GaussBlur blur(device, frames.layout, with_sigma(0));
      for (int i = 0; i < 10; ++i)  // until the threads of the pool are there
        blur.run(frames.in(), frames.out());
      device.finish();
      const int allocations = device.allocations(), news_before = new_calls();
      for (int i = 0; i < 50; ++i) {
        gaussblur::Parameters parameters = with_sigma(i * 127 / 49.0);
        parameters.fields = i % 2;
        parameters.fine = i % 3 == 0;
        parameters.sharpen = i % 5 == 0;
        parameters.border = static_cast<Border>(i % 5);
        blur.set_parameters(parameters);
        blur.run(frames.in(), frames.out());
      }
      device.finish();
      EXPECT_EQ(device.allocations(), allocations);
      EXPECT_EQ(new_calls(), news_before);
    }
  });
}

TEST_P(GaussBlurWork, OperationsOfOneDeviceDoNotDisturbEachOther) {
  on_device([](Device& device) {
    const BlurFrames gray(device, gray_layout(333, 77), Content::natural);
    const BlurFrames deep(device, layout_named("P010", 97, 55), Content::random);
    GaussBlur first(device, gray.layout, with_sigma(7));
    GaussBlur second(device, deep.layout, with_sigma(3));
    for (int i = 0; i < 3; ++i) {
      first.run(gray.in(), gray.out());
      second.run(deep.in(), deep.out());
    }
    device.finish();
    EXPECT_EQ(gray.out_block.values(), gray.expected(with_sigma(7)));
    EXPECT_EQ(deep.out_block.values(), deep.expected(with_sigma(3)));
  });
}

TEST_P(GaussBlurWork, LeftoverRowsOfAPlaneAreCopiedBesideTheOthers) {
  // More rows than the picture has: whoever copies them must leave the picture's to the others.
  on_device([](Device& device) {
    const BlurFrames frames(device, layout_named("GRAY8Roomy", 640, 512), Content::natural);
    GaussBlur blur(device, frames.layout, with_sigma(2));
    const auto expected = frames.expected(with_sigma(2));
    for (int i = 0; i < (settings().small ? 20 : 200); ++i) {
      blur.run(frames.in(), frames.out());
      device.finish();
      ASSERT_EQ(frames.out_block.values(), expected) << "run " << i;
    }
  });
}

TEST(GaussBlurThreads, TwoDevicesWorkAtTheSameTime) {
  const auto work = [](std::uint64_t seed, bool& equal) {
    const auto device = make_cpu_device();
    const GaussBlurCase test = plain_gaussblur_case(layout_named("RGBx", 257, 255),
                                                    with_sigma(2.0 + seed), Content::natural, seed);
    const auto input = input_block(test);
    const auto expected = defined_block(test, input, 0xcd);
    GaussBlurRunner runner(*device, test);
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

/// Layouts and kernels that between them take every way through the kernels.
struct Representative {
  const char* layout;
  gaussblur::Parameters parameters;
};

std::vector<Representative> representatives() {
  std::vector<Representative> all;
  for (const char* layout : {"GRAY8", "GRAY16", "NV12", "YUY2", "P010", "RGB", "RGBx", "RGBA"})
    for (const double sigma : {0.8, 3.0, 30.0})
      all.push_back({layout, with_sigma(sigma)});
  all.push_back({"GRAY8", changed([](gaussblur::Parameters& p) { p.fine = true; })});
  all.push_back({"NV12", changed([](gaussblur::Parameters& p) { p.sharpen = true; })});
  all.push_back({"RGBA", changed([](gaussblur::Parameters& p) { p.fields = true; })});
  return all;
}

TEST(GaussBlurCuda, RunOnlyEnqueues) {
  CUDAVISION_NEEDS_CUDA();
  CudaTestDevice device;
  for (const Representative& one : representatives()) {
    SCOPED_TRACE(std::string(one.layout) + ", sigma " + std::to_string(one.parameters.sigma_x));
    const BlurFrames frames(*device, layout_named(one.layout, 301, 203), Content::natural);
    GaussBlur blur(*device, frames.layout, one.parameters);
    // What allocates or waits cannot be captured. Replayed, the work must not depend on anything
    // that the host did while it was enqueued.
    device.capture_and_replay([&] { blur.run(frames.in(), frames.out()); }, 3);
    EXPECT_EQ(frames.out_block.values(), frames.expected(one.parameters));
  }
}

TEST(GaussBlurCuda, SetParametersDoesNotReachEnqueuedFrames) {
  CUDAVISION_NEEDS_CUDA();
  CudaTestDevice device;
  const FrameLayout layout = layout_named("NV12", 640, 360);
  constexpr int count = 24;
  std::vector<std::unique_ptr<BlurFrames>> frames;
  for (int i = 0; i < count; ++i)
    frames.push_back(std::make_unique<BlurFrames>(*device, layout, Content::natural));
  GaussBlur blur(*device, layout, with_sigma(99));
  device.spin(1, 50);  // holds the stream back until the parameters have changed
  for (int i = 0; i < count; ++i) {
    blur.set_parameters(with_sigma(0.5 + i));
    blur.run(frames[static_cast<std::size_t>(i)]->in(), frames[static_cast<std::size_t>(i)]->out());
  }
  blur.set_parameters(with_sigma(3));
  device->finish();
  for (int i = 0; i < count; ++i) {
    const BlurFrames& frame = *frames[static_cast<std::size_t>(i)];
    EXPECT_EQ(frame.out_block.values(), frame.expected(with_sigma(0.5 + i))) << "frame " << i;
  }
}

TEST(GaussBlurCuda, EqualBesideABusyKernel) {
  CUDAVISION_NEEDS_CUDA();
  CUDAVISION_NEEDS_PIXELS(1920 * 1080);
  CudaTestDevice device, neighbour;
  for (const Representative& one : representatives()) {
    SCOPED_TRACE(std::string(one.layout) + ", sigma " + std::to_string(one.parameters.sigma_x));
    const GaussBlurCase test = plain_gaussblur_case(layout_named(one.layout, 1920, 1080),
                                                    one.parameters, Content::natural, 8);
    const auto input = input_block(test);
    const auto cpu = make_cpu_device();
    const auto expected = GaussBlurRunner(*cpu, test).run(input, 0xcd);
    GaussBlurRunner runner(*device, test);
    // From a few to most of the multiprocessors, for as long as the frames take.
    for (const int share : {16, 2}) {
      neighbour.spin(std::max(1, 2 * cuda_multiprocessors() / share), 50);
      for (int i = 0; i < 3; ++i)
        ASSERT_EQ(difference(test, expected, runner.run(input, 0xcd)), "");
      neighbour->finish();
    }
  }
}

TEST(GaussBlurCuda, TwoStreamsAtTheSameTime) {
  CUDAVISION_NEEDS_CUDA();
  CUDAVISION_NEEDS_PIXELS(1280 * 720);
  CudaTestDevice first, second;
  const BlurFrames one(*first, gray_layout(1280, 720), Content::natural);
  const BlurFrames two(*second, layout_named("RGBA", 640, 360), Content::natural);
  GaussBlur blur_one(*first, one.layout, with_sigma(5));
  GaussBlur blur_two(*second, two.layout, with_sigma(2));
  for (int i = 0; i < 200; ++i) {
    blur_one.run(one.in(), one.out());
    blur_two.run(two.in(), two.out());
  }
  first->finish();
  second->finish();
  EXPECT_EQ(one.out_block.values(), one.expected(with_sigma(5)));
  EXPECT_EQ(two.out_block.values(), two.expected(with_sigma(2)));
}

}  // namespace
}  // namespace cudavision::test
