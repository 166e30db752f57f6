// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/definitions/guideddefinition.h"

#include "tests/check/common/pictures/nativepicture.h"
#include "tests/kernels/guided/guided_definition.h"

namespace check {

Properties Guided::properties() const {
  return {{"radius", std::to_string(radius)}, {"epsilon", text_of(epsilon)}};
}

Picture guided(const Picture& picture, const Guided& how) {
  return in_native_format(picture, [&](const Picture& in, Picture& out) {
    cudavision::test::defined_guided(layout_of(in), {how.radius, how.epsilon}, frame_of(in),
                                     frame_of(out));
  });
}

}  // namespace check
