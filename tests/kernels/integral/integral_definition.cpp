// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/integral/integral_definition.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <vector>

#include "tests/kernels/common/rounding.h"

namespace cudavision::test {
namespace {

using Row = std::vector<std::uint64_t>;

std::uint64_t term(integral::TableKind kind, std::uint64_t level) {
  return kind == integral::TableKind::squared_sum ? level * level : level;
}

Row sums_from_the_left(const DefinedLuminance& picture, integral::TableKind kind, int y) {
  Row sums{0};
  for (int x = 0; x < picture.width; ++x)
    sums.push_back(sums.back() + term(kind, picture.at(x, y)));
  return sums;
}

/// Entry (X, Y) sums the pixels (x, y) with y < Y and |x − (X − 1)| ≤ radius = Y − y − 1. If the
/// radius is at least the width, the whole row is added.
void tilted_rows(const DefinedLuminance& picture,
                 const std::function<void(int, const Row&)>& take) {
  const int width = picture.width;
  // A padding of `width` columns on both sides keeps all indices inside the vectors.
  std::vector<Row> from_the_left;
  for (int y = 0; y < picture.height; ++y) {
    const Row inside = sums_from_the_left(picture, integral::TableKind::tilted_sum, y);
    Row sums(static_cast<std::size_t>(width), 0);
    sums.insert(sums.end(), inside.begin(), inside.end());
    sums.insert(sums.end(), static_cast<std::size_t>(width), inside.back());
    from_the_left.push_back(std::move(sums));
  }
  std::uint64_t whole_rows = 0;
  Row row(static_cast<std::size_t>(width) + 1);
  for (int Y = 0; Y <= picture.height; ++Y) {
    if (Y > width)
      whole_rows += from_the_left[Y - width - 1].back();
    std::fill(row.begin(), row.end(), whole_rows);
    for (int y = std::max(0, Y - width); y < Y; ++y) {
      const int radius = Y - y - 1;
      const std::uint64_t* sums = from_the_left[y].data() + width;
      for (int X = 0; X <= width; ++X)
        row[X] += sums[X + radius] - sums[X - 1 - radius];
    }
    take(Y, row);
  }
}

template <class Element>
void store(View<std::uint8_t> rows, int x, int y, Element element) {
  std::memcpy(rows.row(y) + static_cast<std::size_t>(x) * sizeof element, &element, sizeof element);
}

void store(View<std::uint8_t> table, int x, int y, integral::TableElement element,
           std::uint64_t sum) {
  switch (element) {
    case integral::TableElement::uint32:
      return store(table, x, y, static_cast<std::uint32_t>(sum % (std::uint64_t{1} << 32)));
    case integral::TableElement::uint64:
      return store(table, x, y, sum);
    case integral::TableElement::float32:
      return store(table, x, y, rounded<float>(sum));
    case integral::TableElement::float64:
      return store(table, x, y, rounded<double>(sum));
  }
}

/// Calls take(Y, row) for each row of the table. No sum exceeds 65535⁴ < 2^64.
void for_each_defined_row(const DefinedLuminance& picture, integral::TableKind kind,
                          const std::function<void(int Y, const Row& row)>& take) {
  if (kind == integral::TableKind::tilted_sum)
    return tilted_rows(picture, take);
  Row row(static_cast<std::size_t>(picture.width) + 1, 0);
  take(0, row);
  for (int y = 0; y < picture.height; ++y) {
    const Row sums = sums_from_the_left(picture, kind, y);
    for (std::size_t X = 0; X < row.size(); ++X)
      row[X] += sums[X];
    take(y + 1, row);
  }
}

template <class Take>
void for_each_entry(const DefinedLuminance& picture, integral::TableKind kind, bool same_size,
                    const Take& take) {
  const int first = same_size ? 1 : 0;
  for_each_defined_row(picture, kind, [&](int Y, const Row& row) {
    for (int X = first; Y >= first && X <= picture.width; ++X)
      take(X - first, Y - first, row[X]);
  });
}

}  // namespace

void defined_integral(const FrameLayout& layout, const integral::Parameters& parameters,
                      const ConstFrame& in, View<std::uint8_t> table) {
  for_each_entry(
      DefinedLuminance(layout, in), parameters.kind, parameters.same_size,
      [&](int x, int y, std::uint64_t sum) { store(table, x, y, parameters.element, sum); });
}

void defined_integral_picture(const FrameLayout& layout, integral::TableKind kind, bool same_size,
                              int bits, const ConstFrame& in, View<std::uint8_t> out) {
  const DefinedLuminance picture(layout, in);
  std::uint64_t largest = 0;
  for_each_entry(picture, kind, same_size,
                 [&](int, int, std::uint64_t sum) { largest = std::max(largest, sum); });
  const std::uint64_t white = (std::uint64_t{1} << bits) - 1;
  std::uint64_t divisor = 1;
  while (largest / divisor >= std::uint64_t{1} << 32)
    divisor *= 2;
  const std::uint64_t scale = largest / divisor;
  for_each_entry(picture, kind, same_size, [&](int x, int y, std::uint64_t sum) {
    const std::uint64_t level = scale == 0 ? 0 : (sum / divisor * white + scale / 2) / scale;
    if (bits == 8)
      store(out, x, y, static_cast<std::uint8_t>(level));
    else
      store(out, x, y, static_cast<std::uint16_t>(level));
  });
}

}  // namespace cudavision::test
