// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// What a backend implements of gaussblur.h. Layouts, parameters and frames arrive validated.

#include <array>
#include <memory>

#include "cuda/gaussblur/gaussblur.h"
#include "cuda/gaussblur/gausskernel.h"

namespace cudavision::gaussblur {

/// The kernels of a frame's channels.
struct BlurKernels {
  BlurKernels(const FrameLayout& layout, const Parameters& parameters) noexcept;

  /// Of each channel along each axis. Channels of equal subsampling share the first one's.
  std::array<GaussKernel, FrameLayout::max_channels> x, y;
  GaussKernel none;  ///< changes nothing
};

/// How one channel of one picture is blurred; a picture is a frame, or one field of it.
struct BlurChannel {
  Channel channel;                 ///< with the rows of the picture
  const GaussKernel* x = nullptr;  ///< by which kernels, one of BlurKernels
  const GaussKernel* y = nullptr;
  std::uint16_t border_value = 0;
  bool copied = false;  ///< instead of being blurred
};

/// Pictures in a frame: the frame itself, or its two fields; of these the second may have no rows.
inline int picture_count(const Parameters& parameters) {
  return parameters.fields ? 2 : 1;
}

/// Channel number of picture number of the frame.
BlurChannel blur_channel(const FrameLayout& layout, const Parameters& parameters,
                         const BlurKernels& kernels, int picture, int channel);

/// A picture's rows of one of the frame's planes.
template <class Byte>
View<Byte> picture_rows(const Parameters& parameters, View<Byte> plane, int picture) {
  if (!parameters.fields)
    return plane;
  View<Byte> field = plane;
  field.height = (plane.height + 1 - picture) / 2;
  field.pitch = 2 * plane.pitch;
  if (picture == 1)
    field.data = plane.row(1);
  return field;
}

class GaussBlur::Backend {
 public:
  virtual ~Backend() = default;
  /// Before the first run(), and when the parameters change.
  virtual void set(const Parameters& parameters, const BlurKernels& kernels) = 0;
  virtual void run(const ConstFrame& in, const Frame& out) = 0;
};

std::unique_ptr<GaussBlur::Backend> make_gauss_blur_cpu(Device& device, const FrameLayout& layout);
std::unique_ptr<GaussBlur::Backend> make_gauss_blur_cuda(Device& device, const FrameLayout& layout);

}  // namespace cudavision::gaussblur
