// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "cuda/core/device.h"
#include "cuda/core/frame.h"

namespace cudavision {

struct ByteRange {
  const std::uint8_t* begin = nullptr;
  const std::uint8_t* end = nullptr;

  bool empty() const noexcept { return begin == end; }
};

struct RowRange {
  int begin = 0;
  int end = 0;
};

using RowsPerPlane = std::array<RowRange, FrameLayout::max_planes>;

/// Returns the rows of a plane that are completely within the bytes. The pitch may be negative.
inline RowRange rows_within(const ByteRange& bytes, View<const std::uint8_t> plane) {
  if (bytes.empty())
    return {};
  const auto is_within = [&](int y) {
    return plane.row(y) >= bytes.begin && plane.row(y) + plane.width <= bytes.end;
  };
  RowRange rows{0, plane.height};
  while (rows.begin < rows.end && !is_within(rows.begin))
    ++rows.begin;
  while (rows.begin < rows.end && !is_within(rows.end - 1))
    --rows.end;
  return rows;
}

/// Transfers frames between host memory and the device, in one direction. Page-locked rows are
/// transferred directly. Other rows are staged in pieces through page-locked memory: up to four
/// threads copy one piece while the device transfers another. The memory grows as necessary.
class Staging {
 public:
  Staging(Device& device, const FrameLayout& layout);

  /// Enqueues the transfer of a frame. Page-locked rows (`locked`) may be read after the call; all
  /// other rows are read during the call. The transfer must be finished before the next call.
  void upload(const ConstFrame& host, const RowsPerPlane& locked, const Frame& device);
  /// Enqueues the transfer of a frame. Then call collect() with the same host frame.
  void download(const ConstFrame& device, const Frame& host, const RowsPerPlane& locked);
  /// Returns the last event that collect() waits for.
  Event& arrival() { return *events_[recorded_ - 1]; }
  /// Waits for the download, and completes the host frame.
  void collect(const Frame& host);

 private:
  /// Rows of a plane that are transferred at once.
  struct Piece {
    int plane;
    int row;
    int rows;
    bool staged;
    std::size_t offset;  ///< position in memory_ in bytes, if staged
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
  std::size_t edge_bytes_ = 0;  ///< maximum size of the rows outside of a frame's whole pages
  std::vector<Piece> pieces_;   ///< pieces of the current frame
  Buffer memory_;
  std::vector<std::unique_ptr<Event>> events_;
  std::size_t recorded_ = 0;  ///< number of events of the current download
};

}  // namespace cudavision
