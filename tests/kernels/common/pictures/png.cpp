// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/common/pictures/png.h"

#include <zlib.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace cudavision::test {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::uint8_t signature[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

std::uint32_t number_at(const std::uint8_t* bytes) {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 |
         std::uint32_t{bytes[2]} << 8 | bytes[3];
}

[[noreturn]] void refuse(const std::string& why) {
  throw std::runtime_error(why);
}

struct Chunks {
  explicit Chunks(const Bytes& file) {
    if (file.size() < sizeof signature ||
        std::memcmp(file.data(), signature, sizeof signature) != 0)
      refuse("is no PNG file");
    for (std::size_t at = sizeof signature; at + 12 <= file.size();) {
      const std::size_t length = number_at(&file[at]);
      if (length > file.size() - at - 12)
        refuse("is truncated");
      const std::string type(reinterpret_cast<const char*>(&file[at + 4]), 4);
      const auto begin = file.begin() + static_cast<std::ptrdiff_t>(at) + 8;
      if (type == "IHDR")
        header.assign(begin, begin + static_cast<std::ptrdiff_t>(length));
      else if (type == "IDAT")
        rows.insert(rows.end(), begin, begin + static_cast<std::ptrdiff_t>(length));
      at += length + 12;
    }
    if (header.size() != 13)
      refuse("has no header");
  }

  Bytes header, rows;
};

int nearest(int left, int above, int corner) {
  const int guess = left + above - corner;
  const int to_left = std::abs(guess - left), to_above = std::abs(guess - above),
            to_corner = std::abs(guess - corner);
  return to_left <= to_above && to_left <= to_corner ? left
         : to_above <= to_corner                     ? above
                                                     : corner;
}

void undo_filters(Bytes& rows, std::size_t row_bytes, std::size_t sample_bytes) {
  for (std::size_t row = 0; row < rows.size(); row += row_bytes + 1) {
    const int filter = rows[row];
    for (std::size_t i = 0; i < row_bytes; ++i) {
      const std::size_t here = row + 1 + i;
      const bool has_left = i >= sample_bytes, has_above = row > 0;
      const int left = has_left ? rows[here - sample_bytes] : 0;
      const int above = has_above ? rows[here - row_bytes - 1] : 0;
      const int corner = has_left && has_above ? rows[here - row_bytes - 1 - sample_bytes] : 0;
      const int added = filter == 0   ? 0
                        : filter == 1 ? left
                        : filter == 2 ? above
                        : filter == 3 ? (left + above) / 2
                                      : nearest(left, above, corner);
      rows[here] = static_cast<std::uint8_t>(rows[here] + added);
    }
  }
}

GrayPicture decoded(const Bytes& file) {
  const Chunks chunks(file);
  GrayPicture picture;
  picture.width = static_cast<int>(number_at(&chunks.header[0]));
  picture.height = static_cast<int>(number_at(&chunks.header[4]));
  picture.bits = chunks.header[8];
  const bool gray = chunks.header[9] == 0, interlaced = chunks.header[12] != 0;
  if (!gray || interlaced || (picture.bits != 8 && picture.bits != 16))
    refuse("must be gray with 8 or 16 bits per pixel, and not interlaced");
  const std::size_t sample_bytes = static_cast<std::size_t>(picture.bits) / 8;
  const std::size_t row_bytes = sample_bytes * static_cast<std::size_t>(picture.width);
  Bytes rows((row_bytes + 1) * static_cast<std::size_t>(picture.height));
  uLongf size = static_cast<uLongf>(rows.size());
  if (uncompress(rows.data(), &size, chunks.rows.data(), static_cast<uLong>(chunks.rows.size())) !=
          Z_OK ||
      size != rows.size())
    refuse("has rows that cannot be decompressed");
  undo_filters(rows, row_bytes, sample_bytes);
  for (std::size_t row = 0; row < rows.size(); row += row_bytes + 1)
    for (std::size_t i = row + 1; i <= row + row_bytes; i += sample_bytes)
      picture.values.push_back(
          static_cast<std::uint16_t>(sample_bytes == 1 ? rows[i] : rows[i] << 8 | rows[i + 1]));
  return picture;
}

}  // namespace

std::vector<std::uint8_t> GrayPicture::samples() const {
  if (bits == 8)
    return {values.begin(), values.end()};
  Bytes bytes(2 * values.size());
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

GrayPicture read_png(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream)
    throw std::runtime_error(path + ": cannot be read");
  const Bytes file{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  try {
    return decoded(file);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(path + ": " + error.what());
  }
}

}  // namespace cudavision::test
