// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How NlMeans goes about its work: it allocates nothing once constructed, only enqueues, and
// neither disturbs its neighbours nor is disturbed by them.

#include <memory>
#include <thread>

#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/common/new_calls.h"
#include "tests/kernels/common/watched_device.h"
#include "tests/kernels/nlmeans/nlmeans_case.h"
#include "tests/kernels/nlmeans/nlmeans_frames.h"

namespace cudavision::test {
namespace {

using namespace nlmeans;

class NlMeansWork : public EitherDevice {};

INSTANTIATE_TEST_SUITE_P(Devices, NlMeansWork, both_devices(), device_name);

TEST_P(NlMeansWork, NothingIsAllocatedAfterConstruction) {
  on_device([](Device& inner) {
    WatchedDevice device(inner);
    for (const char* name : {"GRAY8", "YUY2", "P010", "RGBA"}) {
      SCOPED_TRACE(name);
      const DenoisedFrames frames(inner, layout_named(name, 40, 30), Content::natural);
      NlMeans denoising(device, frames.layout, {3, 3, 0.5});
      for (int i = 0; i < 10; ++i)  // until the threads of the pool are there
        denoising.run(frames.in(), frames.out());
      device.finish();
      const int allocations = device.allocations(), news_before = new_calls();
      for (int i = 0; i < (settings().small ? 10 : 30); ++i) {
        denoising.set_parameters(
            {i % 10 == 9 ? most_search(settings().max_pixels) : 2 * (i % 4) + 1, 2 * (i % 16) + 1,
             8.5 * i});
        denoising.run(frames.in(), frames.out());
      }
      device.finish();
      EXPECT_EQ(device.allocations(), allocations);
      EXPECT_EQ(new_calls(), news_before);
    }
  });
}

TEST_P(NlMeansWork, OperationsOfOneDeviceDoNotDisturbEachOther) {
  on_device([](Device& device) {
    const DenoisedFrames gray(device, gray_layout(133, 77), Content::natural);
    const DenoisedFrames deep(device, layout_named("P010", 97, 55), Content::random);
    constexpr nlmeans::Parameters one{7, 7, 10}, other{5, 3, 60};
    NlMeans first(device, gray.layout, one);
    NlMeans second(device, deep.layout, other);
    for (int i = 0; i < 3; ++i) {
      first.run(gray.in(), gray.out());
      second.run(deep.in(), deep.out());
    }
    device.finish();
    EXPECT_EQ(gray.out_block.values(), gray.expected(one));
    EXPECT_EQ(deep.out_block.values(), deep.expected(other));
  });
}

TEST(NlMeansThreads, TwoDevicesWorkAtTheSameTime) {
  const auto work = [](std::uint64_t seed, bool& equal) {
    const auto device = make_cpu_device();
    const NlMeansCase test =
        plain_nlmeans_case(layout_named("RGBx", 57, 55), {5, 5, 12}, Content::natural, seed);
    const auto input = input_block(test);
    const auto expected = defined_block(test, input, 0xcd);
    NlMeansRunner runner(*device, test);
    for (int i = 0; i < 10; ++i)
      equal = equal && difference(test, expected, runner.run(input, 0xcd)).empty();
  };
  bool first = true, second = true;
  std::thread thread(work, 1, std::ref(first));
  work(2, second);
  thread.join();
  EXPECT_TRUE(first);
  EXPECT_TRUE(second);
}

/// Layouts and parameters that between them take every way through the kernels.
struct Representative {
  const char* layout;
  nlmeans::Parameters parameters;
};

std::vector<Representative> representatives() {
  std::vector<Representative> all;
  for (const char* layout : {"GRAY8", "GRAY16", "NV12", "YUY2", "P010", "RGB", "RGBA"})
    for (const nlmeans::Parameters& parameters :
         {nlmeans::Parameters{9, 7, 10}, {7, 5, 200}, {5, 9, 5}})
      all.push_back({layout, parameters});
  return all;
}

TEST(NlMeansCuda, RunOnlyEnqueues) {
  CUDAVISION_NEEDS_CUDA();
  CudaTestDevice device;
  for (const Representative& one : representatives()) {
    SCOPED_TRACE(std::string(one.layout) + ", patch " + std::to_string(one.parameters.patch));
    const DenoisedFrames frames(*device, layout_named(one.layout, 101, 43), Content::natural);
    NlMeans denoising(*device, frames.layout, one.parameters);
    // What allocates or waits cannot be captured. Replayed, the work must not depend on anything
    // that the host did while it was enqueued.
    device.capture_and_replay([&] { denoising.run(frames.in(), frames.out()); }, 3);
    EXPECT_EQ(frames.out_block.values(), frames.expected(one.parameters));
  }
}

TEST(NlMeansCuda, SetParametersDoesNotReachEnqueuedFrames) {
  CUDAVISION_NEEDS_CUDA();
  CudaTestDevice device;
  const FrameLayout layout = layout_named("NV12", 120, 60);
  constexpr int count = 24;
  std::vector<std::unique_ptr<DenoisedFrames>> frames;
  for (int i = 0; i < count; ++i)
    frames.push_back(std::make_unique<DenoisedFrames>(*device, layout, Content::natural));
  const auto set = [](int i) { return nlmeans::Parameters{5, 3 + 2 * (i % 4), 1.0 + 10 * i}; };
  NlMeans denoising(*device, layout, set(7));
  device.spin(1, 50);  // holds the stream back until the parameters have changed
  for (int i = 0; i < count; ++i) {
    denoising.set_parameters(set(i));
    denoising.run(frames[static_cast<std::size_t>(i)]->in(),
                  frames[static_cast<std::size_t>(i)]->out());
  }
  denoising.set_parameters(set(3));
  device->finish();
  for (int i = 0; i < count; ++i) {
    const DenoisedFrames& frame = *frames[static_cast<std::size_t>(i)];
    EXPECT_EQ(frame.out_block.values(), frame.expected(set(i))) << "frame " << i;
  }
}

TEST(NlMeansCuda, EqualBesideABusyKernel) {
  CUDAVISION_NEEDS_CUDA();
  CUDAVISION_NEEDS_PIXELS(640 * 480);
  CudaTestDevice device, neighbour;
  for (const Representative& one : representatives()) {
    SCOPED_TRACE(std::string(one.layout) + ", patch " + std::to_string(one.parameters.patch));
    const NlMeansCase test =
        plain_nlmeans_case(layout_named(one.layout, 640, 480), one.parameters, Content::natural, 8);
    const auto input = input_block(test);
    const auto cpu = make_cpu_device();
    const auto expected = NlMeansRunner(*cpu, test).run(input, 0xcd);
    NlMeansRunner runner(*device, test);
    // From a few to most of the multiprocessors, for as long as the frames take.
    for (const int share : {16, 2}) {
      neighbour.spin(std::max(1, 2 * cuda_multiprocessors() / share), 50);
      for (int i = 0; i < 3; ++i)
        ASSERT_EQ(difference(test, expected, runner.run(input, 0xcd)), "");
      neighbour->finish();
    }
  }
}

}  // namespace
}  // namespace cudavision::test
