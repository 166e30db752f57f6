// SPDX-License-Identifier: LGPL-2.1-or-later

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "cuda/core/parallel.h"
#include "cuda/integral/arithmetic.h"
#include "cuda/integral/backend.h"
#include "cuda/pixels/samples.h"

namespace cudavision::integral {
namespace {

template <class Sum, class Value>
Sum term(Value value, bool squared) {
  return squared ? static_cast<Sum>(static_cast<Sum>(value) * value) : static_cast<Sum>(value);
}

template <class Value, class Sum>
CUDAVISION_TARGET_CLONES void add_to_columns(const Value* row, int width, bool squared,
                                             Sum* columns) {
  // The compiler vectorises the loops only if the condition is outside of them.
  if (squared)
    for (int x = 0; x < width; ++x)
      columns[x] += term<Sum>(row[x], true);
  else
    for (int x = 0; x < width; ++x)
      columns[x] += term<Sum>(row[x], false);
}

/// Computes a row of the table, from X = 1 on. Replaces the previous row in `above` by the new row.
template <class Value, class Sum, class Element>
CUDAVISION_TARGET_CLONES void add_row(const Value* row, int width, bool squared, Sum* above,
                                      Element* entries) {
  Sum sum = 0;
  for (int x = 0; x < width; ++x) {
    sum += term<Sum>(row[x], squared);
    above[x] += sum;
  }
  for (int x = 0; x < width; ++x)
    entries[x] = table_element<Element>(above[x]);
}

/// A tilted sum covers the triangles of two entries, at X − 1 and X + 1 in the row above, and two
/// pixels at the tip. The triangles overlap in the triangle of X, two rows above. The pixels are in
/// `values`, the row directly above the entry, and in `values_above`. two_above is overwritten with
/// the new row. above and two_above begin with the entry X = 0.
template <class Value, class Sum>
CUDAVISION_TARGET_CLONES void tilt_row(const Value* values, const Value* values_above, int width,
                                       const Sum* above, Sum* two_above) {
  two_above[0] = above[1];
  for (int x = 1; x <= width; ++x)
    two_above[x] = above[x - 1] + above[x + 1] - two_above[x] + values[x - 1] + values_above[x - 1];
  two_above[width + 1] = above[width];
}

/// A table with or without the row Y = 0 and the column X = 0.
template <class Element>
struct Table {
  Table(View<std::uint8_t> bytes, bool same_size) : padding_(same_size ? 0 : 1) {
    rows_ = {reinterpret_cast<Element*>(bytes.data),
             bytes.width / static_cast<int>(sizeof(Element)), bytes.height, bytes.pitch};
  }

  void clear_first_row() const {
    if (padding_)
      std::fill_n(rows_.row(0), rows_.width, Element{0});
  }

  /// Returns the entries below pixel row y, from X = 1 on. Sets entry X = 0, if any, to `first`.
  Element* row(int y, Element first) const {
    Element* entries = rows_.row(y + padding_);
    if (padding_)
      entries[0] = first;
    return entries + padding_;
  }

 private:
  int padding_;
  View<Element> rows_;
};

template <class Value, class Sum>
struct RowMemory {
  RowMemory(Scratch& scratch, int width)
      : columns(scratch.take<Sum>(width)), values(scratch.take<Value>(width)) {}

  Sum* columns;
  Value* values;
};

/// Sums and squared sums. First, threads sum the columns of bands of rows. Then they compute the
/// rows of each band, starting from the sums of the bands above.
template <class Value, class Element>
class UprightCpu final : public Integral::Backend {
  using Sum = SumOf<Element>;
  using Memory = RowMemory<Value, Sum>;

 public:
  UprightCpu(Device& device, const PlaneSize& size, const Parameters& parameters)
      : width_(size.width),
        squared_(parameters.kind == TableKind::squared_sum),
        same_size_(parameters.same_size),
        bands_(device, size.height, scratch_bytes<Memory>(width_)) {}

  void run(const SamplePlane& in, View<std::uint8_t> bytes) override {
    const PlaneRows<Value> rows(in);
    const Table<Element> table(bytes, same_size_);
    add_columns(rows);
    start_bands();
    table.clear_first_row();
    bands_.for_each([&](Band& band) {
      const Memory memory(band.scratch, width_);
      for (int y = band.begin; y < band.end; ++y)
        add_row(rows.row(y, memory.values), width_, squared_, memory.columns,
                table.row(y, Element{0}));
    });
  }

 private:
  /// Sums the columns of each band except the last band, which has no band below.
  void add_columns(const PlaneRows<Value>& rows) const {
    bands_.for_each([&](Band& band) {
      const Memory memory(band.scratch, width_);
      std::fill_n(memory.columns, width_, Sum{0});
      if (band.number + 1 == band.count)
        return;
      for (int y = band.begin; y < band.end; ++y)
        add_to_columns(rows.row(y, memory.values), width_, squared_, memory.columns);
    });
  }

  /// Converts the column sums of each band to the table entries above the band's first row.
  void start_bands() const {
    const auto columns = [&](int number) {
      Band band = bands_.band(number);
      return Memory(band.scratch, width_).columns;
    };
    for (int x = 0; x < width_; ++x) {
      Sum above = 0;
      for (int band = 0; band < bands_.count(); ++band)
        above += std::exchange(columns(band)[x], above);
    }
    for (int band = 0; band < bands_.count(); ++band)
      std::partial_sum(columns(band), columns(band) + width_, columns(band));
  }

  int width_;
  bool squared_;
  bool same_size_;
  Bands bands_;
};

/// Tilted sums. Each row needs the two rows above it, so a single thread computes the table.
template <class Value, class Element>
class TiltedCpu final : public Integral::Backend {
  using Sum = SumOf<Element>;

 public:
  TiltedCpu(Device& device, const PlaneSize& size, const Parameters& parameters)
      : width_(size.width), same_size_(parameters.same_size) {
    for (Buffer& sums : sums_)
      sums = device.allocate(sizeof(Sum) * (width_ + 2));
    for (Buffer& values : values_)
      values = device.allocate(sizeof(Value) * width_);
  }

  void run(const SamplePlane& in, View<std::uint8_t> bytes) override {
    const PlaneRows<Value> rows(in);
    const Table<Element> table(bytes, same_size_);
    table.clear_first_row();
    Sum* above = sums_[0].template as<Sum>();
    Sum* two_above = sums_[1].template as<Sum>();
    std::fill_n(above, width_ + 2, Sum{0});
    std::fill_n(two_above, width_ + 2, Sum{0});
    std::fill_n(values_[1].template as<Value>(), width_, Value{0});
    const Value* values_above = values_[1].template as<Value>();
    for (int y = 0; y < in.height(); ++y) {
      const Value* values = rows.row(y, values_[y % 2].template as<Value>());
      tilt_row(values, values_above, width_, above, two_above);
      std::swap(above, two_above);
      values_above = values;
      Element* entries = table.row(y, table_element<Element>(above[0]));
      for (int x = 0; x < width_; ++x)
        entries[x] = table_element<Element>(above[x + 1]);
    }
  }

 private:
  int width_;
  bool same_size_;
  Buffer sums_[2];
  Buffer values_[2];
};

template <class Value>
std::unique_ptr<Integral::Backend> make_for(Device& device, const PlaneSize& size,
                                            const Parameters& parameters) {
  return with_element(
      parameters.element, [&]<class Element>(Element) -> std::unique_ptr<Integral::Backend> {
        if (parameters.kind == TableKind::tilted_sum)
          return std::make_unique<TiltedCpu<Value, Element>>(device, size, parameters);
        return std::make_unique<UprightCpu<Value, Element>>(device, size, parameters);
      });
}

template <class Sample>
void draw(View<const std::uint64_t> table, View<std::uint8_t> out) {
  // Entries never decrease from row to row, so the last row contains the largest.
  const std::uint64_t* last = table.row(table.height - 1);
  const TableScale scale(*std::max_element(last, last + table.width));
  constexpr std::uint32_t white = std::numeric_limits<Sample>::max();
  for_rows(table.height, [&](int y) {
    for (int x = 0; x < table.width; ++x) {
      const auto level = static_cast<Sample>(scale.level(table.row(y)[x], white));
      std::memcpy(out.row(y) + sizeof level * static_cast<std::size_t>(x), &level, sizeof level);
    }
  });
}

class IntegralPictureCpu final : public IntegralPicture::Backend {
 public:
  explicit IntegralPictureCpu(int bits) : bits_(bits) {}

  void run(View<const std::uint64_t> table, View<std::uint8_t> out) override {
    if (bits_ == 8)
      draw<std::uint8_t>(table, out);
    else
      draw<std::uint16_t>(table, out);
  }

 private:
  int bits_;
};

}  // namespace

std::unique_ptr<Integral::Backend> make_integral_cpu(Device& device, const PlaneSize& size,
                                                     const Parameters& parameters) {
  return size.bits == 8 ? make_for<std::uint8_t>(device, size, parameters)
                        : make_for<std::uint16_t>(device, size, parameters);
}

std::unique_ptr<IntegralPicture::Backend> make_integral_picture_cpu(Device&, int bits) {
  return std::make_unique<IntegralPictureCpu>(bits);
}

}  // namespace cudavision::integral
