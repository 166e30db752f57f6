// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/definitions/denoisedefinition.h"

#include "tests/check/common/pictures/nativepicture.h"
#include "tests/kernels/nlmeans/nlmeans_definition.h"

namespace check {

Properties Denoising::properties() const {
  return {{"strength", text_of(strength)},
          {"search-size", std::to_string(search)},
          {"patch-size", std::to_string(patch)},
          {"chroma-strength", text_of(chroma_strength)}};
}

Denoising denoising(double strength, int search, int patch) {
  return {strength, search, patch};
}

Picture denoised(const Picture& picture, const Denoising& how,
                 const std::vector<Picture>& neighbours) {
  AverageNoise none;
  return denoised(picture, how, none, neighbours);
}

Picture denoised(const Picture& picture, const Denoising& how, AverageNoise& noise,
                 const std::vector<Picture>& neighbours) {
  cudavision::nlmeans::Parameters parameters;
  parameters.search = how.search;
  parameters.patch = how.patch;
  parameters.strength = how.strength;
  parameters.chroma_strength = how.chroma_strength;
  parameters.frames = static_cast<int>(neighbours.size()) + 1;
  std::vector<cudavision::ConstFrame> frames;
  for (const Picture& neighbour : neighbours)
    frames.push_back(frame_of(neighbour));
  return in_native_format(picture, [&](const Picture& in, Picture& out) {
    const cudavision::FrameLayout layout = layout_of(in);
    cudavision::test::ChannelVariances variances{};
    for (std::size_t c = 0; c < static_cast<std::size_t>(layout.channel_count); ++c) {
      noise[c].take(cudavision::test::defined_noise(layout, layout.channels[c], frame_of(in)));
      variances[c] = static_cast<std::uint32_t>(noise[c].used);
    }
    cudavision::test::defined_denoising(layout, parameters, variances, frame_of(in), frames,
                                        frame_of(out));
  });
}

}  // namespace check
