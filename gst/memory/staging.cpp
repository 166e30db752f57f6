// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/memory/staging.h"

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace cudavision {
namespace {

// A compromise: larger pieces hide the few µs that starting a transfer takes, but smaller pieces
// shorten the copies of the first and last piece, which overlap with no transfer.
constexpr int piece_bytes = 512 * 1024;

// Helper threads join a streaming thread's copies, which are slower than the bus: an H200
// transferred 22 000 GRAY8 frames of 1920×1080 per second without copies, and 4 700 with copies by
// four threads. All elements share the helpers. The arena reserves slots for copying_threads
// streaming threads.
constexpr int helpers = 3, copying_threads = 32;
constexpr int min_bytes_per_thread = 128 * 1024;

// TBB's default arena would wake a thread for each core. Never destroyed, because threads may still
// copy when the program ends.
tbb::task_arena& copy_arena() {
  static auto* const arena = new tbb::task_arena(copying_threads + helpers, copying_threads);
  return *arena;
}

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

// Does not use streaming stores, which were slower for uncached frames of 1920×1080 and 3840×2160:
// 28 GB/s instead of 30 to 35, on two cores of an EPYC server.
void copy_in_threads(View<const std::uint8_t> from, View<std::uint8_t> to) {
  const std::int64_t bytes = std::int64_t{from.width} * from.height;
  const int threads = static_cast<int>(
      std::min<std::int64_t>(std::min(helpers + 1, from.height), bytes / min_bytes_per_thread));
  if (threads < 2) {
    copy_rows(from, to);
    return;
  }
  copy_arena().execute([&] {
    tbb::parallel_for(
        tbb::blocked_range<int>(0, threads),
        [&](const tbb::blocked_range<int>& range) {
          const int begin = from.height * range.begin() / threads;
          const int end = from.height * range.end() / threads;
          copy_rows(rows_of(from, begin, end - begin), rows_of(to, begin, end - begin));
        },
        tbb::simple_partitioner());
  });
}

}  // namespace

Staging::Staging(Device& device, const FrameLayout& layout) : device_(device), layout_(layout) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  for (int p = 0; p < layout.plane_count; ++p) {
    const PlaneShape& plane = layout.planes[p];
    const auto row_bytes = static_cast<std::size_t>(plane.row_bytes);
    frame_bytes_ += row_bytes * static_cast<std::size_t>(plane.rows);
    edge_bytes_ += 2 * row_bytes * (page / row_bytes + 2);
  }
}

void Staging::stage_rows(int plane, const RowRange& rows, std::size_t& size) {
  const int row_bytes = layout_.planes[plane].row_bytes;
  const int rows_at_once = std::max(1, piece_bytes / row_bytes);
  for (int row = rows.begin; row < rows.end; row += rows_at_once) {
    const int count = std::min(rows_at_once, rows.end - row);
    pieces_.push_back({plane, row, count, true, size});
    size += static_cast<std::size_t>(count) * static_cast<std::size_t>(row_bytes);
  }
}

void Staging::split(const RowsPerPlane& locked) {
  pieces_.clear();
  std::size_t size = 0;
  for (int p = 0; p < layout_.plane_count; ++p) {
    const RowRange& direct = locked[p];
    stage_rows(p, {0, direct.begin}, size);
    if (direct.begin < direct.end)
      pieces_.push_back({p, direct.begin, direct.end - direct.begin, false, 0});
    stage_rows(p, {direct.end, layout_.planes[p].rows}, size);
  }
  reserve(size);
}

// Page boundaries differ between frames, so the first allocation fits the edge rows of any frame.
void Staging::reserve(std::size_t size) {
  if (memory_.size() >= size)
    return;
  memory_ = Buffer();
  memory_ = device_.allocate_host(size <= edge_bytes_ ? std::min(edge_bytes_, frame_bytes_)
                                                      : frame_bytes_);
}

View<std::uint8_t> Staging::staged(const Piece& piece) const {
  const int row_bytes = layout_.planes[piece.plane].row_bytes;
  return {memory_.as<std::uint8_t>() + piece.offset, row_bytes, piece.rows, row_bytes};
}

Event& Staging::event(std::size_t index) {
  while (events_.size() <= index)
    events_.push_back(device_.make_event());
  return *events_[index];
}

void Staging::upload(const ConstFrame& host, const RowsPerPlane& locked, const Frame& device) {
  split(locked);
  for (const Piece& piece : pieces_) {
    const View<const std::uint8_t> rows = rows_of(host.planes[piece.plane], piece.row, piece.rows);
    if (piece.staged)
      copy_in_threads(rows, staged(piece));
    device_.upload(piece.staged ? View<const std::uint8_t>(staged(piece)) : rows,
                   rows_of(device.planes[piece.plane], piece.row, piece.rows));
  }
}

void Staging::download(const ConstFrame& device, const Frame& host, const RowsPerPlane& locked) {
  split(locked);
  recorded_ = 0;
  for (const Piece& piece : pieces_) {
    device_.download(
        rows_of(device.planes[piece.plane], piece.row, piece.rows),
        piece.staged ? staged(piece) : rows_of(host.planes[piece.plane], piece.row, piece.rows));
    if (has_event(piece))
      event(recorded_++).record();
  }
}

void Staging::collect(const Frame& host) {
  std::size_t next = 0;
  for (const Piece& piece : pieces_) {
    if (has_event(piece))
      events_[next++]->wait();
    if (piece.staged)
      copy_in_threads(staged(piece), rows_of(host.planes[piece.plane], piece.row, piece.rows));
  }
}

}  // namespace cudavision
