// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <concepts>
#include <ostream>
#include <string>
#include <vector>

#include "tests/kernels/common/frame_case.h"
#include "tests/kernels/common/layout_cases.h"

/// Suites that compare every byte of an operation's output: on the CPU device with the definition,
/// and on the CUDA device with the CPU device. frame_case.h lists the requirements of a Case.
namespace cudavision::test {

/// Two fillings that differ in every bit, so that an unwritten byte fails in one of two runs.
constexpr std::uint8_t poison = 0xcd, other_poison = 0x32;

/// Runs the case on the device before and after another frame. Both outputs must be as expected.
template <class Case>
void expect_output(Device& device, const Case& test, const typename Runner<Case>::Input& input,
                   const typename Runner<Case>::Output& expected) {
  Runner<Case> runner(device, test);
  const auto output = runner.run(input, poison);
  ASSERT_EQ(difference(test, expected, output), "");

  Case another = test;
  another.content = Content::random;
  another.content_seed += 1;
  runner.run(input_block(another), poison);
  const auto again = runner.run(input, other_poison);
  ASSERT_EQ(hash(test, again), hash(test, output)) << "a second run gave a different result";
}

template <class Case>
void expect_definition(const Case& test) {
  SCOPED_TRACE(describe(test));
  const auto device = make_cpu_device();
  const auto input = input_block(test);
  expect_output(*device, test, input, defined_output(test, input, poison));
}

template <class Case>
void expect_equal_devices(Device& cuda, const Case& test) {
  SCOPED_TRACE(describe(test));
  const auto cpu = make_cpu_device();
  const auto input = input_block(test);
  expect_output(cuda, test, input, Runner<Case>(*cpu, test).run(input, poison));
}

/// A sequence of frames, which one operation processes in turn.
template <class Any>
concept Sequence = requires(const Any& sequence) {
  sequence.steps;
};

template <Sequence Frames>
void expect_definition(const Frames& sequence) {
  SCOPED_TRACE(describe(sequence));
  const auto device = make_cpu_device();
  const auto outputs = run_sequence(*device, sequence, poison);
  ASSERT_EQ(difference(sequence, defined_outputs(sequence, poison), outputs), "");
  ASSERT_EQ(hash(sequence, run_sequence(*device, sequence, other_poison)), hash(sequence, outputs));
}

template <Sequence Frames>
void expect_equal_devices(Device& cuda, const Frames& sequence) {
  SCOPED_TRACE(describe(sequence));
  const auto expected = run_sequence(*make_cpu_device(), sequence, poison);
  ASSERT_EQ(difference(sequence, expected, run_sequence(cuda, sequence, poison)), "");
  ASSERT_EQ(hash(sequence, run_sequence(cuda, sequence, other_poison)), hash(sequence, expected));
}

#define CUDAVISION_CASES_OF(Base, Suite, make_case)                                           \
  class Suite : public Base {};                                                               \
  TEST_P(Suite, CpuEqualsDefinition) {                                                        \
    for_each_case(make_case, [](const auto& test) { expect_definition(test); });              \
  }                                                                                           \
  TEST_P(Suite, CudaEqualsCpu) {                                                              \
    CUDAVISION_NEEDS_CUDA();                                                                  \
    CudaTestDevice device;                                                                    \
    for_each_case(make_case, [&](const auto& test) { expect_equal_devices(*device, test); }); \
  }

/// Defines a suite of random cases of every layout, made by `make_case(seed, number, max_pixels)`.
#define CUDAVISION_RANDOM_CASES(Suite, make_case)    \
  CUDAVISION_CASES_OF(LayoutCases, Suite, make_case) \
  INSTANTIATE_TEST_SUITE_P(Layouts, Suite, every_layout(), layout_name)

#define CUDAVISION_NUMBERED_CASES(Suite, make_case) \
  CUDAVISION_CASES_OF(CaseShares, Suite, make_case) \
  INSTANTIATE_TEST_SUITE_P(Shares, Suite, CaseShares::all())

#define CUDAVISION_LISTED_CASES(Suite, cases) \
  TEST(Suite, CpuEqualsDefinition) {          \
    for (const auto& test : cases)            \
      expect_definition(test);                \
  }                                           \
  TEST(Suite, CudaEqualsCpu) {                \
    CUDAVISION_NEEDS_CUDA();                  \
    CudaTestDevice device;                    \
    for (const auto& test : cases)            \
      expect_equal_devices(*device, test);    \
  }

/// A named entry of a table. The tests of the entry have the same name.
struct Named {
  const char* name;
};

template <std::derived_from<Named> Entry>
void PrintTo(const Entry& entry, std::ostream* stream) {
  *stream << entry.name;
}

/// An entry of a table of extreme cases.
template <class Parameters>
struct Extreme : Named {
  const char* layout;
  int width, height;
  Content content;
  Parameters parameters;
};

template <class Case>
std::vector<Case> dense(const Extreme<typename Case::Parameters>& extreme) {
  return {plain_case<Case>(layout_named(extreme.layout, extreme.width, extreme.height),
                           extreme.parameters, extreme.content, 77)};
}

/// Returns the dense case, and a copy with random addresses, pitches and unused bits.
template <class Case>
std::vector<Case> with_ragged(const Case& test) {
  std::vector<Case> cases(2, test);
  Random random(78);
  cases[1].title = "ragged case";
  draw_placements(cases[1], random);
  cases[1].dirty = true;
  return cases;
}

template <class Case>
std::vector<Case> dense_and_ragged(const Extreme<typename Case::Parameters>& extreme) {
  return with_ragged(dense<Case>(extreme)[0]);
}

/// The cost of a case in pixels, limited by CUDAVISION_TEST_MAX_PIXELS. Overloaded by operations.
template <class Case>
int work_in_pixels(const Case& test) {
  return test.layout.width * test.layout.height;
}

/// Compares CUDA with the CPU, but not with the definition. make_cases(entry) returns cases.
#define CUDAVISION_CUDA_TABLE_CASES(Suite, table, make_cases)                         \
  class Suite : public testing::TestWithParam<std::decay_t<decltype((table)[0])>> {}; \
  TEST_P(Suite, CudaEqualsCpu) {                                                      \
    CUDAVISION_NEEDS_CUDA();                                                          \
    CudaTestDevice device;                                                            \
    for (const auto& test : make_cases(GetParam())) {                                 \
      CUDAVISION_NEEDS_PIXELS(work_in_pixels(test));                                  \
      expect_equal_devices(*device, test);                                            \
    }                                                                                 \
  }                                                                                   \
  INSTANTIATE_TEST_SUITE_P(Table, Suite, testing::ValuesIn(table),                    \
                           [](const auto& info) { return std::string(info.param.name); })

/// Compares CUDA with the CPU, and the CPU with the definition.
#define CUDAVISION_TABLE_CASES(Suite, table, make_cases) \
  CUDAVISION_CUDA_TABLE_CASES(Suite, table, make_cases); \
  TEST_P(Suite, CpuEqualsDefinition) {                   \
    for (const auto& test : make_cases(GetParam())) {    \
      CUDAVISION_NEEDS_PIXELS(work_in_pixels(test));     \
      expect_definition(test);                           \
    }                                                    \
  }

}  // namespace cudavision::test
