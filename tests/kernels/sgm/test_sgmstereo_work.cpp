// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How SgmStereo and DisparityPicture go about their work: they allocate nothing once constructed,
// only enqueue, and neither disturb their neighbours nor are disturbed by them.

#include <memory>
#include <thread>

#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/common/new_calls.h"
#include "tests/kernels/common/watched_device.h"
#include "tests/kernels/sgm/sgm_frames.h"

namespace cudavision::test {
namespace {

using namespace sgm;

using Census = sgm::Parameters::Census;
using Compatibility = sgm::Parameters::Compatibility;
using Kind = sgm::PictureParameters::Kind;

/// Parameters that between them take every way through the stages.
std::vector<sgm::Parameters> representatives() {
  sgm::Parameters usual = few_disparities();
  usual.speckle_size = 20;
  usual.fill_holes = true;
  sgm::Parameters libsgm = few_disparities();
  libsgm.compatibility = Compatibility::libsgm;
  libsgm.subpixel = false;
  sgm::Parameters wide = few_disparities();
  wide.census = Census::neighbours_9x7;
  wide.disparities = 96;
  wide.minimum = -5;
  sgm::Parameters small = few_disparities();
  small.census = Census::neighbours_5x5;
  small.paths = 4;
  small.median = false;
  small.lr_max_diff = -1;
  return {usual, libsgm, wide, small};
}

class SgmStereoWork : public EitherDevice {
 protected:
  /// work is called a few times until the threads of the pool are there, and then watched.
  template <class Work>
  static void expect_no_allocation(WatchedDevice& device, const Work& work) {
    for (int i = 0; i < 10; ++i)
      work(i);
    device.finish();
    const int allocations = device.allocations(), news_before = new_calls();
    for (int i = 0; i < (settings().small ? 10 : 30); ++i)
      work(i);
    device.finish();
    EXPECT_EQ(device.allocations(), allocations);
    EXPECT_EQ(new_calls(), news_before);
  }
};

INSTANTIATE_TEST_SUITE_P(Devices, SgmStereoWork, both_devices(), device_name);

TEST_P(SgmStereoWork, NothingIsAllocatedAfterConstruction) {
  on_device([](Device& inner) {
    WatchedDevice device(inner);
    for (const char* name : {"GRAY8", "YUY2", "P010", "RGBA"})
      for (const sgm::Parameters& parameters : representatives()) {
        SCOPED_TRACE(std::string(name) + ", " + describe(parameters));
        const StereoFrames frames(inner, layout_named(name, 80, 30), parameters, Content::natural);
        SgmStereo stereo(device, frames.layout(), frames.layout(), parameters);
        expect_no_allocation(device, [&](int i) {
          sgm::Parameters other = parameters;
          other.p1 = 2 + i;
          other.uniqueness = 1.0 - 0.01 * i;
          other.lr_max_diff = i % 3 - 1;
          other.subpixel = i % 2 == 0;
          other.median = i % 5 != 0;
          other.speckle_size = i % 4 * 10;
          other.fill_holes = i % 3 == 0;
          other.adaptive_p2 = i % 7 != 0;
          stereo.set_parameters(other);
          stereo.run(frames.left(), frames.right(), frames.disparity(),
                     i % 2 ? frames.confidence() : View<std::uint8_t>());
        });
      }
  });
}

TEST_P(SgmStereoWork, PicturesAllocateNothingAfterConstruction) {
  on_device([](Device& inner) {
    WatchedDevice device(inner);
    const sgm::Parameters parameters = few_disparities();
    const StereoFrames frames(inner, gray_layout(80, 30), parameters, Content::natural);
    for (const auto& [kind, name] :
         {std::pair{Kind::gray, "GRAY8"}, {Kind::color, "RGBA"}, {Kind::depth, "GRAY16"}}) {
      SCOPED_TRACE(name);
      const FrameLayout layout = layout_named(name, 80, 30);
      const Placement placement = dense_placement(layout);
      const DeviceBlock<std::uint8_t> block(inner, std::vector<std::uint8_t>(placement.bytes));
      DisparityPicture picture(device, layout, parameters, kind);
      expect_no_allocation(device, [&](int i) {
        sgm::PictureParameters look;
        look.kind = kind;
        look.focal_length = look.baseline = 100 + i;
        picture.set_parameters(parameters, look);
        ColorTable table{};
        table[7] = {1, 2, static_cast<std::uint8_t>(i)};
        picture.set_colors(table);
        picture.run(frames.disparity(), frame_in(layout, placement, block.data()));
      });
    }
  });
}

/// Nothing that a stage leaves in memory reaches what comes after it, nor what was there at first.
TEST_P(SgmStereoWork, MemoryIsNotReadBeforeItIsWritten) {
  on_device([](Device& inner) {
    for (const sgm::Parameters& parameters : representatives())
      for (const std::uint8_t filling : {0x00, 0x7f, 0xff}) {
        SCOPED_TRACE(describe(parameters));
        WatchedDevice device(inner);
        const StereoFrames frames(inner, gray_layout(133, 41), parameters, Content::natural);
        SgmStereo stereo(device, frames.layout(), frames.layout(), parameters);
        // The one buffer whose contents are nobody's but run()'s.
        const std::size_t pixels = 133 * 41, alignment = 256;
        const auto padded = [&](std::size_t bytes) {
          return (bytes + alignment - 1) / alignment * alignment;
        };
        const std::size_t feature_bytes = parameters.census == Census::neighbours_9x7 ? 8 : 4;
        const std::size_t bytes =
            padded(2 * pixels * static_cast<std::size_t>(parameters.disparities)) +
            2 * padded(feature_bytes * pixels) + 4 * padded(2 * pixels) + padded(pixels);
        void* const workspace = device.allocation(bytes);
        ASSERT_NE(workspace, nullptr) << "there is no workspace of " << bytes << " bytes";
        device.fill(bytes_of(workspace, bytes), filling);
        frames.run(stereo);
        device.finish();
        EXPECT_EQ(frames.difference_from(parameters), "");
      }
  });
}

TEST_P(SgmStereoWork, OperationsOfOneDeviceDoNotDisturbEachOther) {
  on_device([](Device& device) {
    const std::vector<sgm::Parameters> sets = representatives();
    const StereoFrames gray(device, gray_layout(133, 41), sets[0], Content::natural);
    const StereoFrames deep(device, layout_named("P010", 97, 35), sets[2], Content::random);
    SgmStereo first(device, gray.layout(), gray.layout(), sets[0]);
    SgmStereo second(device, deep.layout(), deep.layout(), sets[2]);
    for (int i = 0; i < 3; ++i) {
      gray.run(first);
      deep.run(second);
    }
    device.finish();
    EXPECT_EQ(gray.difference_from(sets[0]), "");
    EXPECT_EQ(deep.difference_from(sets[2]), "");
  });
}

TEST(SgmStereoThreads, TwoDevicesWorkAtTheSameTime) {
  const auto work = [](std::uint64_t seed, bool& equal) {
    const auto device = make_cpu_device();
    const SgmCase test =
        plain_sgm_case(layout_named("RGBx", 150, 55), few_disparities(), Content::natural, seed);
    const SgmInput input = input_blocks(test);
    const SgmOutput expected = defined_blocks(test, input, 0xcd);
    SgmRunner runner(*device, test);
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

TEST(SgmStereoCuda, RunOnlyEnqueues) {
  CUDAVISION_NEEDS_CUDA();
  CudaTestDevice device;
  for (const char* name : {"GRAY8", "P010", "RGBA"})
    for (const sgm::Parameters& parameters : representatives()) {
      SCOPED_TRACE(std::string(name) + ", " + describe(parameters));
      const StereoFrames frames(*device, layout_named(name, 101, 43), parameters, Content::natural);
      SgmStereo stereo(*device, frames.layout(), frames.layout(), parameters);
      // What allocates or waits cannot be captured. Replayed, the work must not depend on anything
      // that the host did while it was enqueued.
      device.capture_and_replay([&] { frames.run(stereo); }, 3);
      EXPECT_EQ(frames.difference_from(parameters), "");
    }
}

TEST(SgmStereoCuda, SetParametersDoesNotReachEnqueuedFrames) {
  CUDAVISION_NEEDS_CUDA();
  CudaTestDevice device;
  const auto set = [](int i) {
    sgm::Parameters parameters = few_disparities();
    parameters.p1 = 5 + i;
    parameters.p2 = 100 + 5 * i;
    parameters.fill_holes = i % 2 == 0;
    return parameters;
  };
  constexpr int count = 24;
  std::vector<std::unique_ptr<StereoFrames>> frames;
  for (int i = 0; i < count; ++i)
    frames.push_back(
        std::make_unique<StereoFrames>(*device, gray_layout(120, 60), set(i), Content::natural));
  SgmStereo stereo(*device, frames[0]->layout(), frames[0]->layout(), set(7));
  device.spin(1, 50);  // holds the stream back until the parameters have changed
  for (int i = 0; i < count; ++i) {
    stereo.set_parameters(set(i));
    frames[static_cast<std::size_t>(i)]->run(stereo);
  }
  stereo.set_parameters(set(3));
  device->finish();
  for (int i = 0; i < count; ++i)
    EXPECT_EQ(frames[static_cast<std::size_t>(i)]->difference_from(set(i)), "") << "frame " << i;
}

TEST(SgmStereoCuda, EqualBesideABusyKernel) {
  CUDAVISION_NEEDS_CUDA();
  CUDAVISION_NEEDS_PIXELS(640 * 480);
  CudaTestDevice device, neighbour;
  const auto cpu = make_cpu_device();
  for (const sgm::Parameters& parameters : representatives()) {
    SCOPED_TRACE(describe(parameters));
    const SgmCase test = plain_sgm_case(gray_layout(640, 480), parameters, Content::natural, 8);
    const SgmInput input = input_blocks(test);
    const SgmOutput expected = SgmRunner(*cpu, test).run(input, 0xcd);
    SgmRunner runner(*device, test);
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
