// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Divides the rows of a picture among blocks. With one row per block, the last wave often leaves
// most of the GPU idle. So the rows of the last wave are divided into parts.

#include <algorithm>

#include "cuda/core/view.h"

namespace cudavision::sgm {

struct RowParts {
  int whole_rows;  ///< number of rows at the top that have one block each
  int parts;       ///< number of parts of each remaining row
  int columns;     ///< columns of a part; the last part may have fewer

  int blocks(int rows) const { return whole_rows + (rows - whole_rows) * parts; }

  struct Part {
    int row, begin, end;  ///< begin and end are columns
  };
  CUDAVISION_HOST_DEVICE Part part_of(int block, int row_columns) const {
    if (block < whole_rows)
      return {block, 0, row_columns};
    const int number = block - whole_rows, begin = number % parts * columns;
    return {whole_rows + number / parts, begin,
            begin + columns < row_columns ? begin + columns : row_columns};
  }
};

/// Splits the rows of the last, partial wave of `resident` blocks. Minimises the time of the
/// slowest block: (part columns + `overlap` columns of the next part) / unit, rounded up.
inline RowParts parts_of_rows(int rows, int row_columns, int overlap, int unit, int resident) {
  constexpr int column_unit = 16;  // makes parts begin at whole cache lines
  const int rest = rows % resident;
  RowParts best{rows - rest, 1, row_columns};
  const auto units = [=](int columns) { return (columns + unit - 1) / unit; };
  int least = units(row_columns);
  for (int parts = 2; rest > 0 && parts <= resident / rest; ++parts) {
    const int share = (row_columns + parts - 1) / parts;
    const int columns = (share + column_unit - 1) / column_unit * column_unit;
    const int time = units(std::min(columns + overlap, row_columns));
    if (time >= least || (parts - 1) * columns >= row_columns)
      continue;
    least = time;
    best.parts = parts;
    best.columns = columns;
  }
  return best;
}

}  // namespace cudavision::sgm
