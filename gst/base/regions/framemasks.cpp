// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/regions/framemasks.h"

#include <cstring>

#include "gst/core/elementerror.h"
#include "gst/memory/memorydebug.h"

namespace cudavision {
namespace {

std::size_t bytes_of(const FrameFormat& format) {
  const PlaneShape& plane = format.storage.frame.planes[0];
  return static_cast<std::size_t>(plane.row_bytes) * static_cast<std::size_t>(plane.rows);
}

}  // namespace

void FrameMasks::Batch::wait() {
  if (used)
    passed->wait();
  used = false;
  for (Picture& picture : pictures)
    picture.mapped.reset();
  count = 0;
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

// Allocates 1.5 times the required size, so that slowly growing masks seldom need a new allocation.
void FrameMasks::reserve(Batch& batch, std::size_t bytes) {
  if (batch.staged.size() < bytes)
    batch.staged = device_.allocate_host(bytes + bytes / 2);
  if (uploaded_.size() < bytes) {
    device_.finish();
    uploaded_ = device_.allocate(bytes + bytes / 2);
  }
}

FrameMasks::Picture& FrameMasks::map(Batch& batch, const SelectedMask& mask,
                                     Unreadable unreadable) {
  for (Picture& picture : batch.pictures)
    if (picture.mapped && picture.mapped->buffer() == mask.picture.get())
      return picture;
  if (batch.count == batch.pictures.size())
    batch.pictures.emplace_back();
  Picture& picture = batch.pictures[batch.count++];
  picture.format = mask.format;
  picture.rows = {};
  try {
    picture.mapped.emplace(mask.picture.get(), picture.format, GST_MAP_READ, context_, nullptr);
    picture.rows = picture.mapped->frame().planes[0];
  } catch (const ElementError& error) {
    if (unreadable == Unreadable::refuse)
      throw;
    GST_DEBUG("%s", error.what());
  }
  return picture;
}

void FrameMasks::upload(Batch& batch) {
  if (device_.kind() == DeviceKind::cpu)
    return;
  std::size_t bytes = 0;
  for (const Picture& picture : batch.pictures)
    if (picture.mapped && !picture.mapped->on_device())
      bytes += bytes_of(picture.format);
  reserve(batch, bytes);
  std::size_t staged = 0;
  for (Picture& picture : batch.pictures) {
    if (!picture.mapped)
      continue;
    if (picture.mapped->on_device()) {
      order_.begin(picture.mapped->buffer());
      continue;
    }
    const View<const std::uint8_t> rows = picture.rows;
    const View<std::uint8_t> device{uploaded_.as<std::uint8_t>() + staged, rows.width, rows.height,
                                    rows.width};
    const View<std::uint8_t> host{batch.staged.as<std::uint8_t>() + staged, rows.width, rows.height,
                                  rows.width};
    staged += bytes_of(picture.format);
    if (picture.mapped->on_peer()) {
      device_.copy(rows, device);
    } else {
      for (int y = 0; y < rows.height; ++y)
        std::memcpy(host.row(y), rows.row(y), static_cast<std::size_t>(rows.width));
      device_.upload(host, device);
      picture.mapped.reset();
    }
    picture.rows = device;
  }
}

void FrameMasks::run(const std::vector<SelectedMask>& masks, Unreadable unreadable,
                     const Work& work) {
  Batch& batch = batches_[current_ = (current_ + 1) % batches_.size()];
  batch.wait();
  if (!batch.passed)
    batch.passed = device_.make_event();
  batch.used = true;
  try {
    pictures_.assign(masks.size(), nullptr);
    for (std::size_t i = 0; i < masks.size(); ++i)
      if (masks[i].picture)
        pictures_[i] = &map(batch, masks[i], unreadable);
    upload(batch);
    found_.assign(masks.size(), {});
    for (std::size_t i = 0; i < masks.size(); ++i)
      if (pictures_[i])
        found_[i] = {pictures_[i]->rows, masks[i].ids.size() == 8 ? 1 : 2, masks[i].box,
                     masks[i].ids.data()};
    work(found_);
  } catch (...) {
    batch.passed->record();
    throw;
  }
  batch.passed->record();
}

}  // namespace cudavision
