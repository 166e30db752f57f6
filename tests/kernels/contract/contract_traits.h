// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/kernels/common/frame_case.h"
#include "tests/kernels/common/layout_refusals.h"

/// The description of an operation for the contract suite.
namespace cudavision::test {

template <class Case>
struct ParametersRefusal {
  const char* words;
  Case valid;  ///< a small dense case
  typename Case::Parameters wrong;
};

/// A fault in the frames given to run(), and words that the error must contain.
template <class Case>
struct FramesRefusal {
  const char* words;
  std::function<void(typename Case::Frames&)> spoil;
};

/// Faults of frames of two planes. `frame` selects the member that becomes invalid.
template <class Case, class AnyFrame>
std::vector<FramesRefusal<Case>> wrong_frames(AnyFrame Case::Frames::*frame, const char* words) {
  using Frames = typename Case::Frames;
  return {
      {words, [=](Frames& frames) { (frames.*frame).planes[0].data = nullptr; }},
      {words, [=](Frames& frames) { (frames.*frame).planes[1].data = nullptr; }},
      {words, [=](Frames& frames) { (frames.*frame).planes[0].width += 1; }},
      {words, [=](Frames& frames) { (frames.*frame).planes[1].height -= 1; }},
  };
}

template <class Value>
void append(std::vector<Value>& values, const std::vector<Value>& others) {
  values.insert(values.end(), others.begin(), others.end());
}

/// The base of an operation's traits. A derived class defines these static members, except where
/// the default suits it; it may also redefine the constants below:
///
///   std::vector<LayoutRefusal> layout_refusals()     the default: common_layout_refusals()
///   std::vector<std::function<void(Device&, const FrameLayout&)>> constructors()
///       each constructs the operation in one way, and must throw if the layout is wrong; the
///       default does so with the default parameters
///   std::vector<ParametersRefusal<Case>> parameters_refusals()
///   Case refused_case()                     a small dense case, for frames_refusals()
///   std::vector<FramesRefusal<Case>> frames_refusals()     default: faults of `in` and `out`, if
///                                                          the frames have these members
///   std::vector<Case> representatives(int width, int height)
///       dense cases that together cover every path through the kernels; the first and the last one
///       differ in layout and parameters
///   std::vector<Case> changing()            dense cases whose parameters change
///   std::vector<Parameters> sets(const Case&)
///       a sequence of valid sets; the steps from set to set should change different members
///
/// An operation whose parameters cannot change needs neither changing() nor sets(). It needs
/// parameters_refusals() only if its constructor refuses some parameters.
template <class AnyCase>
struct ContractTraits {
  using Case = AnyCase;
  using Parameters = typename Case::Parameters;
  struct Size {
    int width, height;
  };
  static constexpr Size captured{301, 203};  ///< frame size in captured graphs
  static constexpr int replays = 5;
  static constexpr Size busy{1920, 1080};                          ///< frame size on a busy GPU
  static constexpr Size neighbour{333, 177}, streamed{1280, 720};  ///< sizes for two operations

  static Case dense(const char* layout, int width, int height, const Parameters& parameters) {
    return plain_case<Case>(layout_named(layout, width, height), parameters, Content::natural, 5);
  }

  static std::vector<LayoutRefusal> layout_refusals() { return common_layout_refusals(); }
  static std::vector<std::function<void(Device&, const FrameLayout&)>> constructors() {
    return {[](Device& device, const FrameLayout& layout) {
      typename Case::Operation(device, layout, Parameters());
    }};
  }
  static std::vector<ParametersRefusal<Case>> parameters_refusals() { return {}; }
  static std::vector<FramesRefusal<Case>> frames_refusals() {
    auto refusals = wrong_frames<Case, ConstFrame>(&Case::Frames::in, "of the input frame");
    append(refusals, wrong_frames<Case, Frame>(&Case::Frames::out, "of the output frame"));
    return refusals;
  }
  static std::vector<Case> changing() { return {}; }
  static std::vector<Parameters> sets(const Case& test) { return {test.parameters}; }
};

template <class Traits>
std::pair<typename Traits::Case, typename Traits::Case> two_cases(
    const typename Traits::Size& size) {
  return {Traits::representatives(size.width, size.height).front(),
          Traits::representatives(size.width / 2, size.height / 2).back()};
}

template <class Case>
struct Running {
  Running(Device& device, Device& memory, const Case& test)
      : frames(memory, test), operation(test.make(device, test.parameters)) {}
  Running(Device& device, const Case& test) : Running(device, device, test) {}

  void run() { frames.run(operation); }

  std::string wrong() const { return difference_from_definition(frames); }

  typename Case::Frames frames;
  typename Case::Operation operation;
};

}  // namespace cudavision::test
