// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/definitions/thresholddefinition.h"

#include "tests/check/common/pictures/nativepicture.h"
#include "tests/kernels/localstatistics/localstatistics_definition.h"
#include "tests/kernels/speckles/speckles_definition.h"

namespace check {

Properties Threshold::properties() const {
  return {{"radius", std::to_string(radius)},
          {"method", sauvola ? "sauvola" : "bradley"},
          {"ratio", text_of(ratio)},
          {"k", text_of(k)},
          {"range", text_of(range)},
          {"invert", invert ? "true" : "false"},
          {"speckle-size", std::to_string(speckle_size)}};
}

Picture thresholded(const Picture& picture, const Threshold& how, const FormatSpec& format) {
  using Parameters = cudavision::localstatistics::Parameters;
  Parameters parameters;
  parameters.output = how.sauvola ? Parameters::Output::sauvola : Parameters::Output::bradley;
  parameters.radius = how.radius;
  parameters.ratio = how.ratio;
  parameters.k = how.k;
  parameters.range = how.range;
  parameters.invert = how.invert;
  parameters.limited_range = how.limited && picture.format->family != Family::rgb;
  Picture black_and_white(format, picture.width, picture.height), out = black_and_white;
  const Picture in = native(picture);
  cudavision::test::defined_statistics(layout_of(in), format.bits, parameters, frame_of(in),
                                       frame_of(black_and_white).planes[0]);
  cudavision::test::defined_despeckled(layout_of(out), {how.speckle_size, how.invert},
                                       frame_of(black_and_white), frame_of(out));
  return out;
}

}  // namespace check
