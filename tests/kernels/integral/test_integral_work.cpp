// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How the operations on the luminance go about their work: they allocate nothing once constructed,
// only enqueue, and neither disturb their neighbours nor are disturbed by them.

#include <algorithm>
#include <memory>
#include <thread>

#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/common/new_calls.h"
#include "tests/kernels/common/watched_device.h"
#include "tests/kernels/integral/integral_frames.h"
#include "tests/kernels/localstatistics/localstatistics_case.h"
#include "tests/kernels/localstatistics/localstatistics_frames.h"

namespace cudavision::test {
namespace {

using namespace integral;

using Output = localstatistics::Parameters::Output;

constexpr TableKind kinds[] = {TableKind::sum, TableKind::squared_sum, TableKind::tilted_sum};
constexpr TableElement elements[] = {TableElement::uint32, TableElement::uint64,
                                     TableElement::float32, TableElement::float64};
const char* const layouts[] = {"GRAY8", "GRAY16", "YUY2", "P010", "RGB", "RGBx"};

/// The frame's table as a picture, in the memory of a device.
struct PictureFrames : IntegralFrames {
  PictureFrames(Device& device, const FrameLayout& frame_layout, TableKind kind, Content content)
      : IntegralFrames(device, frame_layout, {kind, TableElement::uint64, false}, content),
        picture_layout(gray_layout(layout.width + 1, layout.height + 1)),
        picture_placement(dense_placement(picture_layout)),
        picture_block(device, std::vector<std::uint8_t>(picture_placement.bytes, out_poison)) {}

  View<std::uint8_t> picture() const {
    return frame_in(picture_layout, picture_placement, picture_block.data()).planes[0];
  }

  std::vector<std::uint8_t> expected_picture() const {
    std::vector<std::uint8_t> block(picture_placement.bytes, out_poison);
    defined_integral_picture(layout, parameters.kind, false, 8,
                             frame_in(layout, placement, host.data()),
                             frame_in(picture_layout, picture_placement, block.data()).planes[0]);
    return block;
  }

  FrameLayout picture_layout;
  Placement picture_placement;
  DeviceBlock<std::uint8_t> picture_block;
};

class IntegralWork : public EitherDevice {
 protected:
  /// work is called a few times until the threads of the pool are there, and then watched.
  template <class Work>
  static void expect_no_allocation(WatchedDevice& device, const Work& work) {
    for (int i = 0; i < 10; ++i)
      work(i);
    device.finish();
    const int allocations = device.allocations(), news_before = new_calls();
    for (int i = 0; i < 50; ++i)
      work(i);
    device.finish();
    EXPECT_EQ(device.allocations(), allocations);
    EXPECT_EQ(new_calls(), news_before);
  }
};

INSTANTIATE_TEST_SUITE_P(Devices, IntegralWork, both_devices(), device_name);

TEST_P(IntegralWork, NothingIsAllocatedAfterConstruction) {
  on_device([](Device& inner) {
    WatchedDevice device(inner);
    for (const char* name : layouts)
      for (const TableKind kind : kinds) {
        SCOPED_TRACE(std::string(name) + ", " + describe(integral::Parameters{kind}));
        const PictureFrames frames(inner, layout_named(name, 160, 120), kind, Content::natural);
        Integral integral(device, frames.layout, frames.parameters);
        IntegralPicture picture(device, frames.layout, kind, false, 8);
        expect_no_allocation(device, [&](int) {
          integral.run(frames.in(), frames.table());
          picture.run(frames.in(), frames.picture());
        });
      }
  });
}

TEST_P(IntegralWork, OperationsOfOneDeviceDoNotDisturbEachOther) {
  on_device([](Device& device) {
    const PictureFrames gray(device, gray_layout(333, 177), TableKind::sum, Content::natural);
    const PictureFrames colour(device, layout_named("RGB", 97, 155), TableKind::tilted_sum,
                               Content::random);
    const StatisticsFrames deep(device, layout_named("P010", 333, 177), 16, Content::random);
    Integral first(device, gray.layout, gray.parameters);
    IntegralPicture second(device, colour.layout, TableKind::tilted_sum, false, 8);
    localstatistics::LocalStatistics third(device, deep.layout, 16, statistics(Output::stddev, 12));
    for (int i = 0; i < 3; ++i) {
      first.run(gray.in(), gray.table());
      second.run(colour.in(), colour.picture());
      third.run(deep.in(), deep.plane());
    }
    device.finish();
    EXPECT_TRUE(gray.table_block.values() == gray.expected());
    EXPECT_TRUE(colour.picture_block.values() == colour.expected_picture());
    EXPECT_TRUE(deep.plane_block.values() == deep.expected(statistics(Output::stddev, 12)));
  });
}

TEST(IntegralThreads, TwoDevicesWorkAtTheSameTime) {
  const auto work = [](std::uint64_t seed, bool& equal) {
    const auto device = make_cpu_device();
    const IntegralFrames frames(*device, layout_named("RGBx", 257, 255),
                                {TableKind::squared_sum, TableElement::float64, false},
                                Content::natural, seed);
    const StatisticsFrames others(*device, gray_layout(255, 257), 8, Content::natural, seed);
    Integral integral(*device, frames.layout, frames.parameters);
    localstatistics::LocalStatistics operation(*device, others.layout, 8,
                                               statistics(Output::mean, 20));
    for (int i = 0; i < 20; ++i) {
      integral.run(frames.in(), frames.table());
      operation.run(others.in(), others.plane());
      equal = equal && frames.table_block.values() == frames.expected() &&
              others.plane_block.values() == others.expected(statistics(Output::mean, 20));
    }
  };
  bool first = true, second = true;
  std::thread thread(work, 1, std::ref(first));
  work(2, second);
  thread.join();
  EXPECT_TRUE(first);
  EXPECT_TRUE(second);
}

/// What allocates or waits cannot be captured. Replayed, the work must not depend on anything that
/// the host did while it was enqueued, nor on what an earlier replay left behind.
TEST(IntegralCuda, RunOnlyEnqueues) {
  CUDAVISION_NEEDS_CUDA();
  CudaTestDevice device;
  for (const char* name : layouts)
    for (const TableKind kind : kinds) {
      SCOPED_TRACE(std::string(name) + ", " + describe(integral::Parameters{kind}));
      const PictureFrames frames(*device, layout_named(name, 901, 403), kind, Content::natural);
      Integral integral(*device, frames.layout, frames.parameters);
      IntegralPicture picture(*device, frames.layout, kind, false, 8);
      device.capture_and_replay(
          [&] {
            integral.run(frames.in(), frames.table());
            picture.run(frames.in(), frames.picture());
          },
          5);
      EXPECT_TRUE(frames.table_block.values() == frames.expected());
      EXPECT_TRUE(frames.picture_block.values() == frames.expected_picture());
    }
}

/// Frames that differ, each replayed by the same graph: whatever one replay keeps for the next, in
/// words that say how far it has come, must not let the next take a neighbour's sums too early.
TEST(IntegralCuda, ReplaysOfChangingFramesAreTheirOwn) {
  CUDAVISION_NEEDS_CUDA();
  CUDAVISION_NEEDS_PIXELS(1920 * 1080);
  CudaTestDevice device;
  for (const char* name : {"GRAY8", "GRAY16", "RGBx"})
    for (const TableKind kind : kinds) {
      SCOPED_TRACE(std::string(name) + ", " + describe(integral::Parameters{kind}));
      const FrameLayout layout = layout_named(name, 1920, 1080);
      const integral::Parameters parameters{kind, exact_element(layout, kind), false};
      constexpr int count = 3;
      std::vector<std::unique_ptr<IntegralFrames>> frames;
      for (int i = 0; i < count; ++i)
        frames.push_back(std::make_unique<IntegralFrames>(
            *device, layout, parameters, i == 1 ? Content::maximum : Content::random,
            static_cast<std::uint64_t>(i)));
      const IntegralFrames shared(*device, layout, parameters, Content::zeros);
      Integral integral(*device, layout, parameters);
      const int bytes = static_cast<int>(shared.host.size());
      const auto whole = [&](const auto& block, int size) {
        return View<std::uint8_t>{block.data(), size, 1, size};
      };
      const int table_bytes = static_cast<int>(shared.table_placement.bytes);
      device.capture_and_replay(
          [&] {
            for (const auto& frame : frames) {
              device->copy(whole(frame->in_block, bytes), whole(shared.in_block, bytes));
              integral.run(shared.in(), shared.table());
              device->copy(whole(shared.table_block, table_bytes),
                           whole(frame->table_block, table_bytes));
            }
          },
          20);
      const auto cpu = make_cpu_device();
      for (const auto& frame : frames) {
        const IntegralFrames reference(*cpu, layout, parameters, Content::zeros);
        Integral(*cpu, layout, parameters)
            .run(frame_in(layout, frame->placement,
                          static_cast<const std::uint8_t*>(frame->host.data())),
                 reference.table());
        EXPECT_TRUE(frame->table_block.values() == reference.table_block.values());
      }
    }
}

/// From a few to most of the multiprocessors are taken, for as long as the frames need.
template <class Check>
void beside_a_busy_kernel(const Check& check) {
  CudaTestDevice neighbour;
  for (const int share : {16, 4, 2, 1}) {
    neighbour.spin(std::max(1, 2 * cuda_multiprocessors() / share), 50);
    for (int i = 0; i < 3; ++i)
      check();
    neighbour->finish();
  }
}

TEST(IntegralCuda, EqualBesideABusyKernel) {
  CUDAVISION_NEEDS_CUDA();
  CUDAVISION_NEEDS_PIXELS(1920 * 1080);
  CudaTestDevice device;
  for (const char* name : {"GRAY8", "GRAY16", "RGBx"})
    for (const TableKind kind : kinds)
      for (const TableElement element : elements) {
        const IntegralCase test = plain_integral_case(layout_named(name, 1920, 1080),
                                                      {kind, element, false}, Content::random, 8);
        SCOPED_TRACE(describe(test));
        const auto input = input_block(test);
        const auto cpu = make_cpu_device();
        const IntegralBlocks expected = IntegralRunner(*cpu, test).run(input, 0xcd);
        IntegralRunner runner(*device, test);
        beside_a_busy_kernel(
            [&] { ASSERT_EQ(difference(test, expected, runner.run(input, 0xcd)), ""); });
      }
}

TEST(IntegralCuda, TwoStreamsAtTheSameTime) {
  CUDAVISION_NEEDS_CUDA();
  CUDAVISION_NEEDS_PIXELS(1280 * 720);
  CudaTestDevice first, second;
  const IntegralFrames one(*first, gray_layout(1280, 720), {}, Content::natural);
  const StatisticsFrames two(*second, gray_layout(1280, 720), 8, Content::natural);
  Integral integral(*first, one.layout, one.parameters);
  localstatistics::LocalStatistics operation(*second, two.layout, 8,
                                             statistics(Output::stddev, 15));
  for (int i = 0; i < 200; ++i) {
    integral.run(one.in(), one.table());
    operation.run(two.in(), two.plane());
  }
  first->finish();
  second->finish();
  EXPECT_TRUE(one.table_block.values() == one.expected());
  EXPECT_TRUE(two.plane_block.values() == two.expected(statistics(Output::stddev, 15)));
}

}  // namespace
}  // namespace cudavision::test
