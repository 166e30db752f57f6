// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cuda/regions/masks.h"
#include "tests/kernels/common/device_block.h"
#include "tests/kernels/common/random.h"

/// Masks of frames, and a second implementation of the distances from masks.
namespace cudavision::test {

/// A mask in host memory.
struct MaskPicture {
  int width = 1, height = 1, sample_bytes = 1;
  int pitch = 1, offset = 0;  ///< position of the rows in `bytes`
  std::vector<std::uint8_t> bytes;
  std::vector<std::uint32_t> ids;  ///< a bit for each id, set if the mask selects it
  regions::Box box;

  int id(int column, int row) const;
  bool selects_id(int number) const {
    return (ids[static_cast<std::size_t>(number / 32)] >> (number % 32) & 1) != 0;
  }
  bool selects(int x, int y) const;
};

struct MasksCase {
  int width = 1, height = 1;  ///< size of the frame
  int radius = 0;
  std::vector<MaskPicture> masks;
};

/// Draws masks of all kinds, some of which are partly or wholly outside the frame.
std::vector<MaskPicture> random_masks(int width, int height, int maximum, Random& random);
MasksCase make_masks_case(std::uint64_t seed, int number, int max_pixels);

/// Returns the distance of each pixel in row-major order: how many times the selected area must be
/// dilated by a 3×3 square to reach the pixel. Beyond the radius, the distance is 255.
std::vector<std::uint8_t> defined_distances(const MasksCase& test);

/// The masks of a case in the memory of a device.
class DeviceMasks {
 public:
  DeviceMasks(Device& device, const std::vector<MaskPicture>& pictures);

  std::vector<regions::Mask> masks;

 private:
  std::vector<std::unique_ptr<DeviceBlock<std::uint8_t>>> blocks_;
};

/// Returns the distances that a device computes, in row-major order.
std::vector<std::uint8_t> distances_of(Device& device, regions::MaskDistances& distances,
                                       const MasksCase& test);
std::vector<std::uint8_t> distances_of(Device& device, const MasksCase& test);

std::string describe(const MasksCase& test);

}  // namespace cudavision::test
