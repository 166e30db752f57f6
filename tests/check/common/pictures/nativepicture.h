// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <functional>

#include "cuda/core/frame.h"
#include "tests/check/common/pictures/picture.h"

/// Converts pictures to native formats, which the definitions need, and back, as the elements do.
namespace check {

Picture native(const Picture& picture);

cudavision::FrameLayout layout_of(const Picture& picture);
cudavision::ConstFrame frame_of(const Picture& picture);
cudavision::Frame frame_of(Picture& picture);

/// Applies an operation to `in` and writes the result to `out`, which is a copy of `in`.
using Work = std::function<void(const Picture& in, Picture& out)>;

/// Applies `work` in a native format. Returns the result in the picture's own format.
Picture in_native_format(const Picture& picture, const Work& work);

/// Applies `equalize` to the luminance (RGB of more than 8 bits) or in the native format.
Picture in_equalizable_format(const Picture& picture, const Work& equalize);

}  // namespace check
