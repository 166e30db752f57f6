// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/memory/staging.h"

#include <algorithm>
#include <cstring>

namespace cudavision {
namespace {

// Large enough to hide the few µs that starting a transfer takes; small enough to keep the first
// and the last piece short, whose copies overlap with no transfer.
constexpr int piece_bytes = 512 * 1024;

template <class Byte>
View<Byte> rows_of(const View<Byte>& plane, int first, int count) {
  return {plane.row(first), plane.width, count, plane.pitch};
}

void copy_rows(View<const std::uint8_t> from, View<std::uint8_t> to) {
  if (from.pitch == from.width && to.pitch == to.width) {
    std::memcpy(to.data, from.data, static_cast<std::size_t>(from.width) * from.height);
    return;
  }
  for (int y = 0; y < from.height; ++y)
    std::memcpy(to.row(y), from.row(y), from.width);
}

}  // namespace

Staging::Staging(Device& device, const FrameLayout& layout) : device_(device), layout_(layout) {
  std::size_t size = 0;
  for (int p = 0; p < layout.plane_count; ++p) {
    const PlaneShape& plane = layout.planes[p];
    const int rows_at_once = std::max(1, piece_bytes / plane.row_bytes);
    for (int row = 0; row < plane.rows; row += rows_at_once) {
      const int rows = std::min(rows_at_once, plane.rows - row);
      pieces_.push_back({p, row, rows, size});
      size += static_cast<std::size_t>(rows) * plane.row_bytes;
    }
  }
  memory_ = device_.allocate_host(size);
  for (std::size_t i = 0; i < pieces_.size(); ++i)
    arrived_.push_back(device_.make_event());
}

View<std::uint8_t> Staging::staged(const Piece& piece) const {
  const int row_bytes = layout_.planes[piece.plane].row_bytes;
  return {memory_.as<std::uint8_t>() + piece.offset, row_bytes, piece.rows, row_bytes};
}

void Staging::upload(const ConstFrame& host, const Frame& device) {
  for (const Piece& piece : pieces_) {
    copy_rows(rows_of(host.planes[piece.plane], piece.row, piece.rows), staged(piece));
    device_.upload(staged(piece), rows_of(device.planes[piece.plane], piece.row, piece.rows));
  }
}

void Staging::download(const ConstFrame& device) {
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    const Piece& piece = pieces_[i];
    device_.download(rows_of(device.planes[piece.plane], piece.row, piece.rows), staged(piece));
    arrived_[i]->record();
  }
}

bool Staging::arrived() const {
  return arrived_.back()->done();
}

void Staging::collect(const Frame& host) {
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    const Piece& piece = pieces_[i];
    arrived_[i]->wait();
    copy_rows(staged(piece), rows_of(host.planes[piece.plane], piece.row, piece.rows));
  }
}

}  // namespace cudavision
