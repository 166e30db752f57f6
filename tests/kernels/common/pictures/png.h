// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cudavision::test {

struct GrayPicture {
  int width = 0, height = 0, bits = 8;
  std::vector<std::uint16_t> values;  ///< in row-major order

  /// The values as a frame stores them: bytes, or words in the machine's byte order.
  std::vector<std::uint8_t> samples() const;
};

/// Reads a gray PNG file of 8 or 16 bits, without libpng, which GPU hosts lack. Throws
/// std::runtime_error if the file cannot be read or has another format.
GrayPicture read_png(const std::string& path);

}  // namespace cudavision::test
