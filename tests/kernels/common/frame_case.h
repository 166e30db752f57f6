// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/kernels/common/contents.h"
#include "tests/kernels/common/device_block.h"
#include "tests/kernels/common/layouts.h"
#include "tests/kernels/common/placement.h"

/// A case is one run of an operation with everything that it depends on. Equal seeds, numbers and
/// max_pixels make equal cases on every machine. The shared tests (case_suites.h and
/// contract/contract.h) require these members and functions of a Case:
///
///   Case::Parameters, Case::Operation
///   Case::Frames       the case's device memory: CaseFrames, or a class with the same members
///   Parameters parameters              the parameters of the run
///   bool parameters_later              construct with other parameters first, then set these
///   Operation make(Device&, const Parameters&) const
///   Parameters other_parameters() const     valid; most values differ from `parameters`
///   describe(test)                     describes the case in a failure message
///   input_block(test)                  the input on the host, surrounded by poison
///   defined_output(test, input, poison)     the defined output, surrounded by poison
///   difference(test, expected, actual)      the first difference, or an empty string
///   hash(test, output)                 the hash of the output without the surrounding bytes
///
/// FrameCase and CaseFrames provide most of these for operations with one input and one output.
namespace cudavision::test {

/// The part of a case that does not depend on the operation: the input frame and the output frame.
struct FrameCase {
  std::string title;
  FrameLayout layout, out_layout;
  Placement in, out;
  Content content = Content::random;
  std::uint64_t content_seed = 0;
  bool every_channel = false;  ///< chroma and alpha also show the content, instead of noise
  bool dirty = false;          ///< see paint()
  bool parameters_later = false;
};

void make_dense(FrameCase& test, const FrameLayout& layout, const FrameLayout& out_layout,
                Content content, std::uint64_t seed);

void draw_placements(FrameCase& test, Random& random);

void draw_content(FrameCase& test, Random& random);

/// Draws the frame of random case `number`: at most max_pixels pixels, sides up to largest_side.
template <class Case>
Case random_frame_case(int number, int max_pixels, Random& random, int largest_side = 65535) {
  const LayoutKind& kind = layout_kind_of_case(number);
  const auto [width, height] = random_picture_size(random, max_pixels);
  Case test;
  test.title = kind.name + ", case " + std::to_string(number);
  test.layout = kind.make(std::min(width, largest_side), std::min(height, largest_side));
  test.out_layout = test.layout;
  return test;
}

template <class Case>
Case drawn(Case test, Random& random) {
  draw_placements(test, random);
  draw_content(test, random);
  test.parameters_later = random.one_in(3);
  return test;
}

std::string describe(const FrameCase& test, const std::string& parameters);

std::vector<std::uint8_t> input_block(const FrameCase& test);

/// Describes the first differing byte, or returns an empty string.
std::string difference(const FrameCase& test, const std::vector<std::uint8_t>& expected,
                       const std::vector<std::uint8_t>& actual);

std::string hash(const FrameCase& test, const std::vector<std::uint8_t>& block);

/// Returns the defined output. Case must be a FrameCase with define(in, out).
template <std::derived_from<FrameCase> Case>
std::vector<std::uint8_t> defined_output(const Case& test, const std::vector<std::uint8_t>& input,
                                         std::uint8_t poison) {
  std::vector<std::uint8_t> block(test.out.bytes, poison);
  test.define(frame_in(test.layout, test.in, input.data()),
              frame_in(test.out_layout, test.out, block.data()));
  return block;
}

/// A case's frames on a device. Case must be a FrameCase with enqueue(operation, in, out).
template <class Case>
class CaseFrames {
 public:
  static constexpr std::uint8_t out_poison = 0xcd;

  CaseFrames(Device& device, const Case& one, const std::vector<std::uint8_t>& input,
             std::uint8_t poison = out_poison)
      : test(one),
        in_block_(device, input),
        out_block_(device, std::vector<std::uint8_t>(one.out.bytes, poison)),
        in(frame_in(one.layout, one.in, in_block_.data())),
        out(frame_in(one.out_layout, one.out, out_block_.data())) {}

  CaseFrames(Device& device, const Case& one) : CaseFrames(device, one, input_block(one)) {}

  template <class Operation>
  void run(Operation& operation) const {
    test.enqueue(operation, in, out);
  }

  /// Return the whole blocks, including the bytes around the frames.
  std::vector<std::uint8_t> input() const { return in_block_.values(); }
  std::vector<std::uint8_t> output() const { return out_block_.values(); }

  const Case test;

 private:
  DeviceBlock<std::uint8_t> in_block_, out_block_;

 public:
  // The frames that run() passes to the operation. Tests may make them invalid.
  ConstFrame in;
  Frame out;
};

/// A case whose output has the input's layout. Case adds define() and other_parameters().
template <class Case, class AnyOperation, class AnyParameters>
struct FilterCase : FrameCase {
  using Operation = AnyOperation;
  using Parameters = AnyParameters;
  using Frames = CaseFrames<Case>;

  FilterCase() { every_channel = true; }

  Operation make(Device& device, const Parameters& set) const { return {device, layout, set}; }
  static void enqueue(Operation& operation, const ConstFrame& from, const Frame& to) {
    operation.run(from, to);
  }

  Parameters parameters;
};

/// Makes a case of dense frames. Case must be a FilterCase.
template <class Case>
Case plain_case(const FrameLayout& layout, const typename Case::Parameters& parameters,
                Content content, std::uint64_t seed) {
  Case test;
  make_dense(test, layout, layout, content, seed);
  test.parameters = parameters;
  return test;
}

template <class Frames>
std::string difference_from_definition(const Frames& frames) {
  return difference(frames.test, defined_output(frames.test, frames.input(), Frames::out_poison),
                    frames.output());
}

/// Runs an operation on a case's frames, and describes how the output differs from the definition.
template <class Case, class Operation>
std::string difference_after_run(Device& device, const Case& test, Operation& operation) {
  const typename Case::Frames frames(device, test);
  frames.run(operation);
  device.finish();
  return difference_from_definition(frames);
}

/// True if the operation's parameters can change between frames.
template <class Case>
concept Adjustable = requires(typename Case::Operation& operation, const Case& test) {
  operation.set_parameters(test.parameters);
};

template <class Case>
class Runner {
 public:
  using Input = decltype(input_block(std::declval<const Case&>()));
  using Output = decltype(std::declval<const typename Case::Frames&>().output());

  Runner(Device& device, const Case& test)
      : device_(device),
        test_(test),
        operation_(
            test.make(device, test.parameters_later ? test.other_parameters() : test.parameters)) {
    if constexpr (Adjustable<Case>)
      if (test.parameters_later)
        operation_.set_parameters(test.parameters);
  }

  /// Returns the output block, with the bytes around the frame. Throws if the input has changed.
  Output run(const Input& input, std::uint8_t poison) {
    const typename Case::Frames frames(device_, test_, input, poison);
    frames.run(operation_);
    device_.finish();
    if (!(frames.input() == input))
      throw std::runtime_error("the operation wrote to its input");
    return frames.output();
  }

 private:
  Device& device_;
  Case test_;
  typename Case::Operation operation_;
};

}  // namespace cudavision::test
