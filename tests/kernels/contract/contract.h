// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/kernels/common/allocations/no_allocations.h"
#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/contract/contract_traits.h"

/// The contract suite tests the promises that all operations share:
///
/// - An operation refuses wrong layouts, parameters and frames with an error that names the fault,
///   and keeps its state.
/// - It allocates nothing after construction.
/// - run() only enqueues work.
/// - Operations that run at the same time do not disturb each other.
/// - Each frame is processed with the parameters that were set when it was enqueued.
///
/// test_OPERATION_contract.cpp describes its operation in a class derived from ContractTraits and
/// instantiates the suite:
///
///   CUDAVISION_CONTRACT(NlMeans, NlMeansContract);
///
/// A program that uses the suite must link common/allocations/new_calls.cpp.
namespace cudavision::test {

template <class Operation>
bool identity_of(const Operation& operation) {
  if constexpr (requires { operation.identity(); })
    return operation.identity();
  else
    return false;
}

/// Expects that run(frames) refuses the invalid frames and writes nothing.
template <class Case, class Run>
void expect_refusals(Device& device, const Case& test,
                     const std::vector<FramesRefusal<Case>>& refusals, const Run& run) {
  for (const FramesRefusal<Case>& refusal : refusals) {
    SCOPED_TRACE("refusal " + std::to_string(&refusal - refusals.data()));
    typename Case::Frames frames(device, test);
    const auto untouched = frames.output();
    refusal.spoil(frames);
    CUDAVISION_EXPECT_ERROR(run(frames), invalid_argument, refusal.words);
    device.finish();
    EXPECT_EQ(difference(test, untouched, frames.output()), "") << "a refused run wrote";
  }
}

template <class AnyTraits, DeviceKind device_kind>
struct On {
  using Traits = AnyTraits;
  static constexpr DeviceKind kind = device_kind;
};

struct DeviceOfRow {
  template <class Row>
  static std::string GetName(int) {
    return Row::kind == DeviceKind::cpu ? "Cpu" : "Cuda";
  }
};

template <class Row>
class Contract : public testing::Test, protected DeviceUnderTest {
 protected:
  Contract() : DeviceUnderTest(Row::kind) {}
  void SetUp() override {
    if (Row::kind == DeviceKind::cuda)
      CUDAVISION_NEEDS_CUDA();
  }
};

TYPED_TEST_SUITE_P(Contract);

TYPED_TEST_P(Contract, RefusesLayoutsWithWords) {
  using Traits = typename TypeParam::Traits;
  Device& device = this->device;
  const std::vector<LayoutRefusal> refusals = Traits::layout_refusals();
  for (const LayoutRefusal& refusal : refusals) {
    SCOPED_TRACE("refusal " + std::to_string(&refusal - refusals.data()));
    FrameLayout layout = gray_layout(33, 9);
    refusal.spoil(layout);
    for (const auto& construct : Traits::constructors())
      CUDAVISION_EXPECT_ERROR(construct(device, layout), invalid_argument, refusal.words);
  }
}

TYPED_TEST_P(Contract, RefusesParametersWithWordsAndKeepsTheLastValidSet) {
  using Traits = typename TypeParam::Traits;
  using Case = typename Traits::Case;
  Device& device = this->device;
  const auto refusals = Traits::parameters_refusals();
  for (const ParametersRefusal<Case>& refusal : refusals) {
    const Case& test = refusal.valid;
    SCOPED_TRACE("refusal " + std::to_string(&refusal - refusals.data()) + ", " + refusal.words);
    SCOPED_TRACE(describe(test));
    CUDAVISION_EXPECT_ERROR(test.make(device, refusal.wrong), invalid_argument, refusal.words);
    if constexpr (Adjustable<Case>) {
      const typename Case::Frames frames(device, test);
      auto operation = test.make(device, test.other_parameters());
      operation.set_parameters(test.parameters);
      const bool identity = identity_of(operation);
      CUDAVISION_EXPECT_ERROR(operation.set_parameters(refusal.wrong), invalid_argument,
                              refusal.words);
      EXPECT_EQ(identity_of(operation), identity);
      frames.run(operation);
      device.finish();
      EXPECT_EQ(difference_from_definition(frames), "") << "the last valid set was lost";
    }
  }
}

TYPED_TEST_P(Contract, RefusesFramesOfAnotherShapeAndWritesNothing) {
  using Traits = typename TypeParam::Traits;
  using Case = typename Traits::Case;
  Device& device = this->device;
  const Case test = Traits::refused_case();
  auto operation = test.make(device, test.parameters);
  expect_refusals(device, test, Traits::frames_refusals(),
                  [&](const auto& frames) { frames.run(operation); });
}

TYPED_TEST_P(Contract, ParametersChangeFromOneFrameToTheNext) {
  using Traits = typename TypeParam::Traits;
  using Case = typename Traits::Case;
  if constexpr (Adjustable<Case>) {
    Device& device = this->device;
    for (const Case& test : Traits::changing()) {
      SCOPED_TRACE(describe(test));
      const auto sets = Traits::sets(test);
      std::vector<std::unique_ptr<typename Case::Frames>> frames;
      for (std::size_t i = 0; i < sets.size(); ++i) {
        Case one = test;
        one.parameters = sets[i];
        one.content_seed += i;
        frames.push_back(std::make_unique<typename Case::Frames>(device, one));
      }
      auto operation = test.make(device, test.other_parameters());
      // On a GPU, frames queue behind the busy kernel, so all parameters are set before one runs.
      if (this->cuda)
        this->cuda->spin(1, 50);
      for (const auto& frame : frames) {
        operation.set_parameters(frame->test.parameters);
        frame->run(operation);
      }
      operation.set_parameters(test.other_parameters());
      device.finish();
      for (const auto& frame : frames)
        EXPECT_EQ(difference_from_definition(*frame), "") << describe(frame->test);
    }
  }
}

TYPED_TEST_P(Contract, NothingIsAllocatedAfterConstruction) {
  using Traits = typename TypeParam::Traits;
  using Case = typename Traits::Case;
  WatchedDevice device(this->device);
  auto cases = Traits::changing();
  if (cases.empty())
    cases = Traits::representatives(160, 120);
  for (const Case& test : cases) {
    SCOPED_TRACE(describe(test));
    const auto sets = Traits::sets(test);
    Running<Case> running(device, this->device, test);
    const int runs = std::max(settings().small ? 10 : 40, static_cast<int>(sets.size()));
    expect_no_allocations(device, runs, [&](int i) {
      if constexpr (Adjustable<Case>)
        running.operation.set_parameters(sets[i % sets.size()]);
      running.run();
    });
  }
}

TYPED_TEST_P(Contract, OperationsOfOneDeviceDoNotDisturbEachOther) {
  using Traits = typename TypeParam::Traits;
  using Case = typename Traits::Case;
  Device& device = this->device;
  const auto [one, other] = two_cases<Traits>(Traits::neighbour);
  Running<Case> first(device, one), second(device, other);
  for (int i = 0; i < 3; ++i) {
    first.run();
    second.run();
  }
  device.finish();
  EXPECT_EQ(first.wrong(), "");
  EXPECT_EQ(second.wrong(), "");
}

REGISTER_TYPED_TEST_SUITE_P(Contract, RefusesLayoutsWithWords,
                            RefusesParametersWithWordsAndKeepsTheLastValidSet,
                            RefusesFramesOfAnotherShapeAndWritesNothing,
                            ParametersChangeFromOneFrameToTheNext,
                            NothingIsAllocatedAfterConstruction,
                            OperationsOfOneDeviceDoNotDisturbEachOther);

template <class Traits>
class HostContract : public testing::Test {};

TYPED_TEST_SUITE_P(HostContract);

TYPED_TEST_P(HostContract, TwoCpuDevicesWorkAtTheSameTime) {
  using Case = typename TypeParam::Case;
  const auto work = [](const Case& test, std::string& wrong) {
    const auto device = make_cpu_device();
    const auto input = input_block(test);
    const auto expected = defined_output(test, input, 0xcd);
    Runner<Case> runner(*device, test);
    for (int i = 0; i < 20; ++i)
      wrong += difference(test, expected, runner.run(input, 0xcd));
  };
  const auto [one, other] = two_cases<TypeParam>(TypeParam::neighbour);
  std::string first, second;
  std::thread thread(work, one, std::ref(first));
  work(other, second);
  thread.join();
  EXPECT_EQ(first, "");
  EXPECT_EQ(second, "");
}

REGISTER_TYPED_TEST_SUITE_P(HostContract, TwoCpuDevicesWorkAtTheSameTime);

template <class Traits>
class CudaContract : public testing::Test {};

TYPED_TEST_SUITE_P(CudaContract);

TYPED_TEST_P(CudaContract, RunOnlyEnqueues) {
  CUDAVISION_NEEDS_CUDA();
  using Case = typename TypeParam::Case;
  CudaTestDevice device;
  for (const Case& test :
       TypeParam::representatives(TypeParam::captured.width, TypeParam::captured.height)) {
    SCOPED_TRACE(describe(test));
    Running<Case> running(*device, test);
    // Capture fails if run() allocates or waits. Replays must not depend on earlier runs.
    device.capture_and_replay([&] { running.run(); }, TypeParam::replays);
    EXPECT_EQ(running.wrong(), "");
  }
}

TYPED_TEST_P(CudaContract, EqualBesideABusyKernel) {
  CUDAVISION_NEEDS_CUDA();
  CUDAVISION_NEEDS_PIXELS(TypeParam::busy.width * TypeParam::busy.height);
  using Case = typename TypeParam::Case;
  CudaTestDevice device, neighbour;
  for (const Case& test :
       TypeParam::representatives(TypeParam::busy.width, TypeParam::busy.height)) {
    SCOPED_TRACE(describe(test));
    const auto input = input_block(test);
    const auto cpu = make_cpu_device();
    const auto expected = Runner<Case>(*cpu, test).run(input, 0xcd);
    Runner<Case> runner(*device, test);
    // The neighbour's kernel occupies few multiprocessors in the first round, and all in the last.
    for (const int share : {16, 4, 2, 1}) {
      neighbour.spin(std::max(1, 2 * cuda_multiprocessors() / share), 50);
      for (int i = 0; i < 3; ++i)
        ASSERT_EQ(difference(test, expected, runner.run(input, 0xcd)), "");
      neighbour->finish();
    }
  }
}

TYPED_TEST_P(CudaContract, TwoStreamsAtTheSameTime) {
  CUDAVISION_NEEDS_CUDA();
  using Case = typename TypeParam::Case;
  const auto [one, other] = two_cases<TypeParam>(TypeParam::streamed);
  CUDAVISION_NEEDS_PIXELS(one.layout.width * one.layout.height);
  CudaTestDevice first, second;
  Running<Case> running_first(*first, one), running_second(*second, other);
  for (int i = 0; i < 200; ++i) {
    running_first.run();
    running_second.run();
  }
  first->finish();
  second->finish();
  EXPECT_EQ(running_first.wrong(), "");
  EXPECT_EQ(running_second.wrong(), "");
}

REGISTER_TYPED_TEST_SUITE_P(CudaContract, RunOnlyEnqueues, EqualBesideABusyKernel,
                            TwoStreamsAtTheSameTime);

template <class Traits>
using OnBothDevices = testing::Types<On<Traits, DeviceKind::cpu>, On<Traits, DeviceKind::cuda>>;

#define CUDAVISION_CONTRACT(name, Traits)                                             \
  INSTANTIATE_TYPED_TEST_SUITE_P(name, Contract, OnBothDevices<Traits>, DeviceOfRow); \
  INSTANTIATE_TYPED_TEST_SUITE_P(name, HostContract, testing::Types<Traits>);         \
  INSTANTIATE_TYPED_TEST_SUITE_P(name, CudaContract, testing::Types<Traits>)

}  // namespace cudavision::test
