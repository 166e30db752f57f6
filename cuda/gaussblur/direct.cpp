// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/gaussblur/direct.h"

#include "cuda/gaussblur/planes.h"

namespace cudavision::gaussblur {
namespace {

constexpr int word_bytes = 4;
/// What a thread makes of a row.
constexpr int own_bytes = 2 * word_bytes;
/// So that what lies above or below the picture is mirrored once at most.
constexpr int fewest_rows = 2 * DirectBlur::max_radius;

/// Which bytes of two words of a row stand in the word that begins at `position`, beyond an end of
/// the row, as far as they have an influence. nearest: where the word at that end begins; other:
/// where the one beside it does. Whether all of them are there.
bool select_bytes(const BlurPicture& picture, Border border, int position, int other, int nearest,
                  std::uint32_t& selector) {
  const SampleGrid& grid = picture.grids[0];
  selector = 0;
  for (int b = 0; b < word_bytes; ++b) {
    const int at = position + b;
    if (at < -picture.row_radius || at >= picture.row_bytes + picture.row_radius)
      continue;
    const int sample = at < 0 ? -((grid.step - 1 - at) / grid.step) : at / grid.step;
    const int inside = border_index(sample, grid.width, border);
    if (inside < 0)
      return false;
    const int source = at + (inside - sample) * grid.step;
    const int word = source / word_bytes * word_bytes;
    if (word != other && word != nearest)
      return false;
    selector |= static_cast<std::uint32_t>(source % word_bytes + (word == nearest ? word_bytes : 0))
                << (4 * b);
  }
  return true;
}

DirectBlur::RowsBeyond rows_beyond(int rows, Border border) {
  switch (border) {
    case Border::reflect_101:
      return {-1, 0, 2 * rows - 2};
    case Border::reflect:
      return {-1, -1, 2 * rows - 1};
    case Border::wrap:
      return {1, rows, -rows};
    case Border::replicate:
    case Border::constant:
      break;
  }
  return {0, 0, rows - 1};
}

}  // namespace

std::optional<DirectBlur> describe_direct(const BlurPicture& picture, Border border,
                                          const RowKernels& along_x, const GaussKernel& along_y) {
  DirectBlur direct;
  // Factors have 8 bits, one too few for the only one of an identity.
  if (!is_uniform(picture, along_x) || picture.copied != 0 || picture.row_bytes % own_bytes != 0 ||
      picture.rows < fewest_rows || picture.row_identity != 0 || along_y.identity() ||
      picture.row_radius > word_bytes || along_y.radius() > DirectBlur::max_radius)
    return std::nullopt;
  const int step = picture.grids[0].step, end = picture.row_bytes;
  if (!select_bytes(picture, border, -word_bytes, word_bytes, 0, direct.before_row) ||
      !select_bytes(picture, border, end, end - 2 * word_bytes, end - word_bytes,
                    direct.behind_row))
    return std::nullopt;
  direct.rows_beyond = rows_beyond(picture.rows, border);

  direct.wide = picture.row_radius > word_bytes / 2;
  for (int phase = 0; phase < word_bytes; ++phase)
    for (int b = 0; b < 3 * word_bytes; ++b) {
      const int distance = b - word_bytes - phase;
      if (distance % step == 0)
        direct.row_factors[phase][b / word_bytes] |= along_x.kernel[0]->coefficient(distance / step)
                                                     << (8 * (b % word_bytes));
    }
  const auto in_row = [&](int row) { return along_y.coefficient(row - DirectBlur::max_radius); };
  for (int i = 0; i <= DirectBlur::max_radius; ++i)
    direct.column_factors[i] =
        in_row(2 * i) | in_row(2 * i + 1) << 8 | in_row(2 * i - 1) << 16 | in_row(2 * i) << 24;
  return direct;
}

}  // namespace cudavision::gaussblur
