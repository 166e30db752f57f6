// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/regions/framemasks.h"

#include <cstring>

#include "gst/memory/memorydebug.h"

namespace cudavision {
namespace {

std::size_t bytes_of(const SelectedMask& mask) {
  const PlaneShape& plane = mask.format.storage.frame.planes[0];
  return static_cast<std::size_t>(plane.row_bytes) * static_cast<std::size_t>(plane.rows);
}

}  // namespace

SelectedMask SelectedMask::copy() const {
  return {OwnedBuffer(gst_buffer_ref(picture.get())), format, box, ids, known, side};
}

void FrameMasks::Batch::wait() {
  if (used)
    passed->wait();
  used = false;
  for (std::optional<MappedBuffer>& mapped : in_place)
    mapped.reset();
}

FrameMasks::~FrameMasks() {
  for (Batch& batch : batches_) {
    try {
      batch.wait();
    } catch (const std::exception& e) {
      GST_WARNING("%s", e.what());
    }
  }
}

FrameMasks::Batch& FrameMasks::next_batch() {
  Batch& batch = batches_[current_ = (current_ + 1) % batches_.size()];
  batch.wait();
  if (!batch.passed)
    batch.passed = device_.make_event();
  return batch;
}

// Half as much again, so that masks that grow slowly do not allocate each time.
void FrameMasks::reserve(Batch& batch, std::size_t bytes) {
  if (batch.staged.size() < bytes)
    batch.staged = device_.allocate_host(bytes + bytes / 2);
  if (uploaded_.size() < bytes) {
    device_.finish();
    uploaded_ = device_.allocate(bytes + bytes / 2);
  }
}

void FrameMasks::bring(Batch& batch, const std::vector<SelectedMask>& masks, Masks& found) {
  const bool on_cpu = device_.kind() == DeviceKind::cpu;
  std::size_t staged = 0;
  if (!on_cpu) {
    std::size_t bytes = 0;
    for (const SelectedMask& mask : masks)
      bytes += bytes_of(mask);
    reserve(batch, bytes);
  }
  for (std::size_t i = 0; i < masks.size(); ++i) {
    const SelectedMask& mask = masks[i];
    batch.formats[i] = mask.format;
    MappedBuffer& mapped = batch.in_place[i].emplace(mask.picture.get(), batch.formats[i],
                                                     GST_MAP_READ, context_, nullptr);
    View<const std::uint8_t> rows = mapped.frame().planes[0];
    if (mapped.on_device()) {
      order_.begin(mask.picture.get());
    } else if (!on_cpu) {
      const View<std::uint8_t> device{uploaded_.as<std::uint8_t>() + staged, rows.width,
                                      rows.height, rows.width};
      const View<std::uint8_t> host{batch.staged.as<std::uint8_t>() + staged, rows.width,
                                    rows.height, rows.width};
      staged += bytes_of(mask);
      if (mapped.on_peer()) {
        device_.copy(rows, device);
      } else {
        for (int y = 0; y < rows.height; ++y)
          std::memcpy(host.row(y), rows.row(y), static_cast<std::size_t>(rows.width));
        device_.upload(host, device);
        batch.in_place[i].reset();
      }
      rows = device;
    }
    found[i] = {rows, mask.ids.size() == 8 ? 1 : 2, mask.box, mask.ids.data()};
  }
}

View<const std::uint8_t> FrameMasks::find(const std::vector<SelectedMask>& masks, int radius) {
  Batch& batch = next_batch();
  Masks found;
  batch.used = true;
  try {
    bring(batch, masks, found);
    distances_.run({found.data(), masks.size()}, radius);
  } catch (...) {
    batch.passed->record();
    throw;
  }
  batch.passed->record();
  return distances_.distances();
}

}  // namespace cudavision
