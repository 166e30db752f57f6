// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "cuda/nlmeans/kernel_arguments.h"
#include "cuda/nlmeans/strengths.h"
#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/nlmeans/nlmeans_case.h"

namespace cudavision::test {

/// Returns how rows 2·number and 2·number + 1 overlap the search window of a 4×4 square: row y of
/// the square is compared with rows y to y + 2·radius.
inline nlmeans::RowPair defined_row_pair(int number, int radius) {
  using enum nlmeans::RowPair;
  return number < 0 || number > radius + 1 ? none
         : number == 0                     ? first
         : number > radius                 ? last
         : number > 1                      ? (number < radius ? all : next_to_last)
                                           : (radius > 1 ? second : second_of_three);
}

/// A frame, neighbouring frames and a kernel's arguments, all in host memory.
struct HostDenoising {
  HostDenoising(const char* name, int width, int height, const nlmeans::Parameters& parameters,
                Content content, int channels)
      : test(plain_nlmeans_case(layout_named(name, width, height), parameters, content, 5)),
        input(input_block(test)),
        output(test.out.bytes, 0xcd),
        weights(static_cast<std::size_t>(nlmeans::max_patch_weights(channels))) {
    const ConstFrame in = frame_in(test.layout, test.in, input.data());
    const Frame out = frame_in(test.layout, test.out, output.data());
    const int bytes = test.layout.sample_bytes();
    nlmeans::DenoisedPicture& picture = arguments.pictures[0];
    picture.width = width;
    picture.height = height;
    for (int c = 0; c < channels; ++c) {
      const Channel& channel = test.layout.channels[c];
      const View<std::uint8_t>& plane = out.planes[channel.plane];
      picture.planes[c] = {channel.plane, plane.data, static_cast<int>(plane.pitch),
                           channel.offset * bytes, channel.step * bytes};
    }
    std::vector<ConstFrame> frames = test.neighbours(in);
    frames.insert(frames.begin(), in);
    for (std::size_t i = 0; i < frames.size(); ++i)
      for (std::size_t p = 0; p < static_cast<std::size_t>(test.layout.plane_count); ++p)
        arguments.frames[i][p] = {frames[i].planes[p].data,
                                  static_cast<int>(frames[i].planes[p].pitch)};
    arguments.frame_count = parameters.frames;
    arguments.bits = test.layout.bits;
    arguments.shift = test.layout.shift;
    arguments.search_radius = parameters.search / 2;
    arguments.patch_radius = parameters.patch / 2;
    weight_count = nlmeans::make_patch_weights(parameters, parameters.strength, test.layout.bits,
                                               channels, weights.data());
  }

  void expect_what_the_cpu_gives() const {
    const auto device = make_cpu_device();
    EXPECT_EQ(output, NlMeansRunner(*device, test).run(input, 0xcd)) << describe(test);
  }

  NlMeansCase test;
  std::vector<std::uint8_t> input, output;
  nlmeans::NlMeansArguments arguments{};
  std::vector<std::uint32_t> weights;
  int weight_count;
};

}  // namespace cudavision::test
