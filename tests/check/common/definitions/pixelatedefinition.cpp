// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/definitions/pixelatedefinition.h"

#include "tests/check/common/definitions/colordefinition.h"
#include "tests/check/common/pictures/nativepicture.h"
#include "tests/kernels/mosaic/mosaic_definition.h"

namespace check {

Properties Pixelation::properties() const {
  return {{"method", solid ? "solid" : "mosaic"},
          {"block-size", std::to_string(block_size)},
          {"color", std::to_string(color)},
          {"hide-alpha", hide_alpha ? "true" : "false"}};
}

std::string Pixelation::description() const {
  return text_of(properties()) + (fields ? "interlaced" : "progressive") +
         (limited ? " limited" : " full");
}

Picture pixelated(const Picture& picture, const Pixelation& how) {
  return in_native_format(picture, [&](const Picture& in, Picture& out) {
    const cudavision::FrameLayout layout = layout_of(in);
    cudavision::mosaic::Parameters parameters;
    parameters.block_size = how.block_size;
    parameters.solid = how.solid;
    for (int c = 0; c < layout.channel_count; ++c)
      parameters.values[c] = color_sample(how.color, how.limited, layout, c);
    parameters.hide_alpha = how.hide_alpha && !how.solid;
    parameters.fields = how.fields;
    cudavision::test::defined_mosaic(layout, parameters, frame_of(in), frame_of(out));
  });
}

}  // namespace check
