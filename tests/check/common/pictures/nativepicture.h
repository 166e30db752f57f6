// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <functional>

#include "cuda/core/frame.h"
#include "tests/check/common/pictures/picture.h"

/// Pictures as the definitions of tests/kernels take them. Where operations cannot read a format,
/// the elements convert its pictures to one that they can read, and back.
namespace check {

Picture native(const Picture& picture);

/// Return the picture's layout and planes in the form that the definitions require.
cudavision::FrameLayout layout_of(const Picture& picture);
cudavision::ConstFrame frame_of(const Picture& picture);
cudavision::Frame frame_of(Picture& picture);

/// Writes into `out`, which is a copy of `in`, what an operation makes of `in`.
using Work = std::function<void(const Picture& in, Picture& out)>;

/// Lets work see the picture in a format that operations can read. Returns `out` in the picture's
/// own format.
Picture in_native_format(const Picture& picture, const Work& work);

/// Lets equalize see the samples that are equalised: of RGB with more than 8 bits the luminance,
/// else the picture in its native format. Returns the picture with what the call has changed.
Picture in_equalizable_format(const Picture& picture, const Work& equalize);

}  // namespace check
