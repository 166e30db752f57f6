// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/regions/masks.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "cuda/core/dispatch.h"
#include "cuda/core/division.h"
#include "cuda/core/layoutcheck.h"
#include "cuda/core/parallel.h"

namespace cudavision::regions {
namespace {

constexpr char operation[] = "region masks";

std::size_t id_words(const Mask& mask) {
  return mask.sample_bytes == 1 ? 8 : 2048;
}

constexpr std::size_t plane_words = sizeof(MaskPlane) / sizeof(std::uint32_t);
static_assert(sizeof(MaskPlane) % sizeof(std::uint32_t) == 0);

void check(const Mask& mask) {
  if (mask.sample_bytes != 1 && mask.sample_bytes != 2)
    refuse(operation,
           "samples of " + std::to_string(mask.sample_bytes) + " bytes; 1 and 2 are supported");
  const int width = mask.rows.width / mask.sample_bytes;
  if (width < 1 || width > 65535 || mask.rows.height < 1 || mask.rows.height > 65535)
    refuse(operation, "a mask of " + std::to_string(width) + "×" +
                          std::to_string(mask.rows.height) +
                          " samples; both sides must be 1 to 65535");
  const int largest = Parameters::max_coordinate;
  const Box& box = mask.box;
  if (box.empty() || box.x0 < -largest || box.y0 < -largest || box.x1 > largest || box.y1 > largest)
    refuse(operation,
           "a mask's box is empty or has a coordinate outside ±" + std::to_string(largest));
}

/// Writes 0 for the selected pixels of a row, and 255 for all other pixels.
void mark_row(const MaskWork& work, int y, std::uint8_t* out) {
  std::memset(out, 255, static_cast<std::size_t>(work.result.width));
  for (int i = 0; i < work.count; ++i) {
    const MaskPlane& mask = work.masks[i];
    if (y < mask.box.y0 || y >= mask.box.y1)
      continue;
    const std::uint8_t* const row = mask_row(mask, y);
    for (int x = std::max(mask.box.x0, 0); x < std::min(mask.box.x1, work.result.width); ++x)
      if (selects(mask, row, x))
        out[x] = 0;
  }
}

/// Replaces 255 by the distance from the nearest selected pixel of the row, up to `radius`.
void spread_row(std::uint8_t* row, int width, int radius) {
  int distance = 255;
  const auto visit = [&](int x) {
    distance = row[x] == 0 ? 0 : std::min(distance + 1, 255);
    if (distance <= radius)
      row[x] = std::min(row[x], static_cast<std::uint8_t>(distance));
  };
  for (int x = 0; x < width; ++x)
    visit(x);
  distance = 255;
  for (int x = width - 1; x >= 0; --x)
    visit(x);
}

/// Limits distances to max(row[x], step), for the row `step` rows away. Returns their maximum.
CUDAVISION_TARGET_CLONES
int lower(const std::uint8_t* row, int step, std::uint8_t* distances, int width) {
  std::uint8_t largest = 0;
  for (int x = 0; x < width; ++x) {
    const auto other = std::max(row[x], static_cast<std::uint8_t>(step));
    distances[x] = std::min(distances[x], other);
    largest = std::max(largest, distances[x]);
  }
  return largest;
}

}  // namespace

const MaskPlane* MaskTable::upload(std::span<const Mask> masks) {
  std::size_t words = 0;
  for (const Mask& mask : masks) {
    check(mask);
    words += plane_words + id_words(mask);
  }
  if (words > table_words_ || !tables_) {
    device_.finish();  // the device may still read the old tables
    tables_.reset();
    table_words_ = std::max(words, Parameters::max_masks * (plane_words + 8));
    tables_.emplace(device_, table_words_);
  }

  std::uint32_t* const host = tables_->next();
  std::size_t at = plane_words * masks.size();
  for (std::size_t i = 0; i < masks.size(); ++i) {
    const Mask& mask = masks[i];
    const MaskPlane plane{mask.rows.data,
                          mask.rows.pitch,
                          tables_->tables() + at,
                          mask.rows.width / mask.sample_bytes,
                          mask.rows.height,
                          mask.sample_bytes,
                          mask.box};
    std::memcpy(host + plane_words * i, &plane, sizeof plane);
    std::memcpy(host + at, mask.ids, id_words(mask) * sizeof(std::uint32_t));
    at += id_words(mask);
  }
  if (at > 0)
    tables_->upload(at);
  return reinterpret_cast<const MaskPlane*>(tables_->tables());
}

MaskDistances::MaskDistances(Device& device, int width, int height)
    : device_(device), table_(device) {
  const std::ptrdiff_t pitch = round_up(static_cast<std::size_t>(width), 128);
  memory_ = device.allocate(2 * static_cast<std::size_t>(pitch) * static_cast<std::size_t>(height));
  result_ = {memory_.as<std::uint8_t>(), width, height, pitch};
}

void MaskDistances::run(std::span<const Mask> masks, int radius) {
  if (masks.size() > Parameters::max_masks)
    refuse(operation, std::to_string(masks.size()) + " masks; there may be at most " +
                          std::to_string(Parameters::max_masks));
  if (radius < 0 || radius > Parameters::max_mask_radius)
    refuse(operation, "a radius of " + std::to_string(radius) + " pixels; it must be 0 to " +
                          std::to_string(Parameters::max_mask_radius));
  dispatch<find_mask_distances_cuda, find_mask_distances_cpu>(
      device_, MaskWork{table_.upload(masks), static_cast<int>(masks.size()), radius,
                        result_.row(result_.height), result_});
}

void find_mask_distances_cpu(Device&, const MaskWork& work) {
  const int width = work.result.width, height = work.result.height;
  const View<std::uint8_t> rows{work.scratch, width, height, work.result.pitch};
  for_rows(height, [&](int y) {
    mark_row(work, y, rows.row(y));
    spread_row(rows.row(y), width, work.radius);
  });
  for_rows(height, [&](int y) {
    std::uint8_t* const distances = work.result.row(y);
    std::memcpy(distances, rows.row(y), static_cast<std::size_t>(width));
    int largest = 255;
    for (int step = 1; step <= work.radius && step < largest; ++step) {
      largest = 255;
      if (y >= step)
        largest = lower(rows.row(y - step), step, distances, width);
      if (y + step < height)
        largest = lower(rows.row(y + step), step, distances, width);
    }
  });
}

}  // namespace cudavision::regions
