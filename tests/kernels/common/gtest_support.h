// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include "tests/kernels/common/cuda_testing.h"
#include "tests/kernels/common/settings.h"

namespace cudavision {

inline void PrintTo(DeviceKind backend, std::ostream* stream) {
  *stream << (backend == DeviceKind::cpu ? "cpu" : "cuda");
}

}  // namespace cudavision

/// Without usable CUDA, skips, or fails with CUDAVISION_TEST_BACKEND=cuda. With =cpu, always skips.
#define CUDAVISION_NEEDS_CUDA()                                           \
  do {                                                                    \
    using cudavision::test::Settings;                                     \
    const Settings::Backend asked = cudavision::test::settings().backend; \
    if (asked == Settings::Backend::cpu)                                  \
      GTEST_SKIP() << "CUDA half not run: CUDAVISION_TEST_BACKEND=cpu";   \
    const std::string& unusable = cudavision::test::cuda_unusable();      \
    if (!unusable.empty() && asked == Settings::Backend::cuda)            \
      FAIL() << "CUDAVISION_TEST_BACKEND=cuda, but " << unusable;         \
    if (!unusable.empty())                                                \
      GTEST_SKIP() << "CUDA half not run: " << unusable;                  \
  } while (false)

/// Skips the test if its frames are larger than CUDAVISION_TEST_MAX_PIXELS allows.
#define CUDAVISION_NEEDS_PIXELS(pixels)                                                    \
  do {                                                                                     \
    const auto& asked = cudavision::test::settings();                                      \
    if (asked.small && (pixels) > asked.max_pixels)                                        \
      GTEST_SKIP() << "frame larger than CUDAVISION_TEST_MAX_PIXELS=" << asked.max_pixels; \
  } while (false)

/// Expects an Error of this kind whose text contains `words`.
#define CUDAVISION_EXPECT_ERROR(statement, expected_kind, words)                       \
  do {                                                                                 \
    try {                                                                              \
      statement;                                                                       \
      ADD_FAILURE() << "nothing was thrown by " #statement;                            \
    } catch (const cudavision::Error& error) {                                         \
      EXPECT_EQ(error.kind(), cudavision::Error::Kind::expected_kind) << error.what(); \
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos)              \
          << "\"" << error.what() << "\" does not contain \"" << (words) << "\"";      \
    }                                                                                  \
  } while (false)

/// Skips the test if CUDAVISION_TEST_MAX_PIXELS is set, as it is for tools that change the timing.
#define CUDAVISION_NEEDS_TRUE_TIMING()                                                \
  do {                                                                                \
    if (cudavision::test::settings().small)                                           \
      GTEST_SKIP() << "timing is not tested while CUDAVISION_TEST_MAX_PIXELS is set"; \
  } while (false)

namespace cudavision::test {

/// Describes how to repeat a random case, for failure messages.
inline std::string repeat_with(int number) {
  return "repeat with CUDAVISION_TEST_CASE=" + std::to_string(number) +
         " CUDAVISION_TEST_SEED=" + std::to_string(settings().seed) +
         (settings().small ? " CUDAVISION_TEST_MAX_PIXELS=" + std::to_string(settings().max_pixels)
                           : std::string());
}

/// Calls check(number) for the selected cases with number % shares == share, until one fails.
template <class Check>
void for_each_case_number(const Check& check, int share = 0, int shares = 1) {
  const int only = settings().only_case;
  const int end = only < 0 ? settings().cases : only + 1;
  for (int number = std::max(only, 0); number < end && !testing::Test::HasFailure(); ++number) {
    if (number % shares != share)
      continue;
    SCOPED_TRACE(repeat_with(number));
    check(number);
  }
}

/// Splits slow random cases into shares, which several processes can run.
class CaseShares : public testing::TestWithParam<int> {
 protected:
  template <class Make, class Check>
  static void for_each_case(const Make& make, const Check& check) {
    for_each_case_number(
        [&](int number) { check(make(settings().seed, number, settings().max_pixels)); },
        GetParam(), count);
  }

 private:
  static constexpr int count = 8;

 public:
  static auto all() { return testing::Range(0, count); }
};

/// Makes a CUDA device if `kind` requests it, CUDA is usable and the tests' backend is not cpu;
/// otherwise a CPU device. CUDA tests must call CUDAVISION_NEEDS_CUDA() before they use the device.
class DeviceUnderTest {
 protected:
  explicit DeviceUnderTest(DeviceKind kind) : cuda(cuda_device(kind)) {}

 private:
  static std::unique_ptr<CudaTestDevice> cuda_device(DeviceKind kind) {
    const bool usable = settings().backend != Settings::Backend::cpu && cuda_unusable().empty();
    return kind == DeviceKind::cuda && usable ? std::make_unique<CudaTestDevice>() : nullptr;
  }

  const std::unique_ptr<Device> cpu_ = make_cpu_device();

 protected:
  const std::unique_ptr<CudaTestDevice> cuda;  ///< nullptr on the CPU
  Device& device = cuda ? **cuda : *cpu_;
};

/// A test that runs on the CPU device and, if CUDA is usable, on a CUDA device.
class EitherDevice : public testing::TestWithParam<DeviceKind>, protected DeviceUnderTest {
 protected:
  EitherDevice() : DeviceUnderTest(GetParam()) {}
  void SetUp() override {
    if (GetParam() == DeviceKind::cuda)
      CUDAVISION_NEEDS_CUDA();
  }
};

inline auto both_devices() {
  return testing::Values(DeviceKind::cpu, DeviceKind::cuda);
}

inline std::string device_name(const testing::TestParamInfo<DeviceKind>& info) {
  return info.param == DeviceKind::cpu ? "Cpu" : "Cuda";
}

/// Defines a suite whose tests run on both devices.
#define CUDAVISION_ON_BOTH_DEVICES(Suite) \
  class Suite : public EitherDevice {};   \
  INSTANTIATE_TEST_SUITE_P(Devices, Suite, both_devices(), device_name)

}  // namespace cudavision::test
