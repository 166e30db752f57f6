// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "cuda/core/device.h"
#include "cuda/core/frame.h"

namespace cudavision {

/// Bytes of host memory, from begin up to end.
struct ByteRange {
  const std::uint8_t* begin = nullptr;
  const std::uint8_t* end = nullptr;

  bool empty() const noexcept { return begin == end; }
};

/// Rows of a plane, from begin up to end.
struct RowRange {
  int begin = 0;
  int end = 0;
};

using RowsPerPlane = std::array<RowRange, FrameLayout::max_planes>;

/// Returns the rows of a plane that lie in the bytes as a whole. The pitch may be negative.
inline RowRange rows_within(const ByteRange& bytes, View<const std::uint8_t> plane) {
  if (bytes.empty())
    return {};
  const auto lies_within = [&](int y) {
    return plane.row(y) >= bytes.begin && plane.row(y) + plane.width <= bytes.end;
  };
  RowRange rows{0, plane.height};
  while (rows.begin < rows.end && !lies_within(rows.begin))
    ++rows.begin;
  while (rows.begin < rows.end && !lies_within(rows.end - 1))
    --rows.end;
  return rows;
}

/// Carries frames between host memory and the device. Rows that are page-locked are transferred
/// directly. All others go through page-locked memory of the object, piece by piece: several
/// threads copy one piece while the device transfers another. An object serves one direction, and
/// allocates memory for as many rows as it has had to stage.
class Staging {
 public:
  Staging(Device& device, const FrameLayout& layout);

  /// Enqueues the transfer of a frame whose rows in `locked` are page-locked. When this returns,
  /// the other rows have been read, but the device may still be transferring. It must have finished
  /// before the next call.
  void upload(const ConstFrame& host, const RowsPerPlane& locked, const Frame& device);
  /// Enqueues the transfer of a frame, which collect() completes with the same host.
  void download(const ConstFrame& device, const Frame& host, const RowsPerPlane& locked);
  /// Returns the event after which collect() does not wait.
  Event& arrival() { return *events_[recorded_ - 1]; }
  /// Waits for that transfer. When this returns, host is complete.
  void collect(const Frame& host);

 private:
  /// Rows that are transferred at once.
  struct Piece {
    int plane;
    int row;
    int rows;
    bool staged;
    std::size_t offset;  ///< in the memory, if staged
  };

  void split(const RowsPerPlane& locked);
  void stage_rows(int plane, const RowRange& rows, std::size_t& size);
  void reserve(std::size_t size);
  View<std::uint8_t> staged(const Piece& piece) const;
  bool has_event(const Piece& piece) const { return piece.staged || &piece == &pieces_.back(); }
  Event& event(std::size_t index);

  Device& device_;
  const FrameLayout layout_;
  std::size_t frame_bytes_ = 0;
  std::size_t edge_bytes_ = 0;  ///< for the rows that reach beyond the whole pages of a frame
  std::vector<Piece> pieces_;   ///< of the current frame
  Buffer memory_;
  std::vector<std::unique_ptr<Event>> events_;
  std::size_t recorded_ = 0;  ///< events of the current download
};

}  // namespace cudavision
