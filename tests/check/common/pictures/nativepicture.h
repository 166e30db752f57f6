// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <functional>

#include "cuda/core/frame.h"
#include "tests/check/common/pictures/picture.h"

/// Pictures as the definitions take them; the elements convert other formats and back.
namespace check {

Picture native(const Picture& picture);

/// Return the picture's layout and planes in the form that the definitions require.
cudavision::FrameLayout layout_of(const Picture& picture);
cudavision::ConstFrame frame_of(const Picture& picture);
cudavision::Frame frame_of(Picture& picture);

/// Writes into `out`, which is a copy of `in`, what an operation makes of `in`.
using Work = std::function<void(const Picture& in, Picture& out)>;

/// Lets `work` see a native format. Returns `out` in the picture's own format.
Picture in_native_format(const Picture& picture, const Work& work);

/// Lets `equalize` see luminance (RGB of more than 8 bits) or the native format.
Picture in_equalizable_format(const Picture& picture, const Work& equalize);

}  // namespace check
