// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "cuda/core/device.h"

namespace cudavision {

/// Device memory for tables that change with the parameters. The host memory has several slots,
/// because the GPU may still be reading the slots of earlier uploads.
class TableUploader {
 public:
  TableUploader(Device& device, std::size_t words)
      : device_(device), tables_(device.allocate(words * sizeof(std::uint32_t))) {
    for (Slot& slot : slots_) {
      slot.words = device.allocate_host(words * sizeof(std::uint32_t));
      slot.uploaded = device.make_event();
    }
  }

  const std::uint32_t* tables() const { return tables_.as<std::uint32_t>(); }

  /// Returns host memory for the next tables. Waits until the GPU has read the memory's old tables.
  std::uint32_t* next() {
    Slot& slot = slots_[current_ = (current_ + 1) % slot_count];
    if (slot.used)
      slot.uploaded->wait();
    return slot.words.as<std::uint32_t>();
  }

  /// Enqueues the upload of the first `words` words of next().
  void upload(std::size_t words) {
    Slot& slot = slots_[current_];
    const int bytes = static_cast<int>(words * sizeof(std::uint32_t));
    device_.upload({slot.words.as<std::uint8_t>(), bytes, 1, bytes},
                   {tables_.as<std::uint8_t>(), bytes, 1, bytes});
    slot.uploaded->record();
    slot.used = true;
  }

 private:
  static constexpr int slot_count = 3;
  struct Slot {
    Buffer words;
    std::unique_ptr<Event> uploaded;
    bool used = false;
  };

  Device& device_;
  Buffer tables_;
  std::array<Slot, slot_count> slots_;
  int current_ = 0;
};

}  // namespace cudavision
