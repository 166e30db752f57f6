// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/memory/pagelocks.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <utility>

#include "gst/memory/memorydebug.h"

namespace cudavision {
namespace {

constexpr int appearances_before_lock = 3;

// glibc gives no smaller block pages of its own (M_MMAP_THRESHOLD).
constexpr gsize least_bytes = 128 * 1024;

// Memory is seldom locked and unlocked, and nothing else under this mutex takes long, so all
// objects share it. It guards every Records, Record and Used, and locked_bytes.
std::mutex mutex;
std::size_t locked_bytes = 0;

std::uintptr_t page_size() {
  static const auto size = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  return size;
}

// GStreamer's own allocator puts a GstMemory and its bytes into one block of the C library. The
// bytes of wrapped memory, and of a part of other memory, lie elsewhere: then the GstMemory tells
// nothing about their pages.
bool is_one_block(const GstMapInfo& map) {
  constexpr std::ptrdiff_t most_private_fields = 256;
  GstMemory* memory = map.memory;
  const auto distance = map.data - memory->offset - reinterpret_cast<guint8*>(memory);
  return gst_memory_is_type(memory, GST_ALLOCATOR_SYSMEM) &&
         distance >= static_cast<std::ptrdiff_t>(sizeof(GstMemory)) &&
         distance <= most_private_fields + static_cast<std::ptrdiff_t>(memory->align);
}

// A block from the heap shares its first and last page with other blocks. Locking these pages would
// affect memory that other parts of the program may themselves lock or transfer. glibc takes large
// blocks from the heap, too, once it has freed one of that size. A mapping of its own begins with
// 16 bytes of glibc's and ends with the block.
bool has_own_pages(const GstMapInfo& map) {
  constexpr std::uintptr_t header = 2 * sizeof(std::size_t);
  const auto block = reinterpret_cast<std::uintptr_t>(map.memory);
  const auto begin = reinterpret_cast<std::uintptr_t>(map.data);
  const std::uintptr_t first_page = begin & ~(page_size() - 1);
  const std::uintptr_t last_page_end = (begin + map.size + page_size() - 1) & ~(page_size() - 1);
  return first_page >= block - header && last_page_end <= block + malloc_usable_size(map.memory);
}

bool may_be_locked(const GstMapInfo& map) {
  return map.memory && map.size >= least_bytes && !GST_MEMORY_IS_READONLY(map.memory) &&
         is_one_block(map) && has_own_pages(map);
}

}  // namespace

/// Memory that is locked. Made and destroyed under the mutex.
class PageLocks::Lock {
 public:
  Lock(Buffer memory, const CudaContext& context) : context_(context), memory_(std::move(memory)) {
    locked_bytes += memory_.size();
  }
  // Whoever frees the memory has no context current, or any other.
  ~Lock() {
    locked_bytes -= memory_.size();
    try {
      const CudaScope scope(context_);
      memory_ = Buffer();
    } catch (const std::exception& e) {
      GST_WARNING("the CUDA context of page-locked memory is lost: %s", e.what());
    }
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

  bool is_of(const CudaContext& context) const { return context_ == context; }
  bool covers(const GstMapInfo& map) const {
    const guint8* begin = memory_.as<guint8>();
    return map.data >= begin && map.data + map.size <= begin + memory_.size();
  }

 private:
  const CudaContext context_;
  Buffer memory_;
};

/// What one object knows of a GstMemory.
struct PageLocks::Record {
  std::weak_ptr<Used> user;
  int appearances = 0;
  bool failed = false;
  std::shared_ptr<Lock> lock;  ///< shared with other objects in the same context
};

/// What all objects know of a GstMemory. It belongs to the GstMemory, which destroys it before its
/// bytes are freed.
struct PageLocks::Records {
  static Records& of(GstMemory* memory) {
    static const GQuark key = g_quark_from_static_string("cudavision-page-locks");
    auto* object = GST_MINI_OBJECT_CAST(memory);
    auto* records = static_cast<Records*>(gst_mini_object_get_qdata(object, key));
    if (!records) {
      records = new Records;
      gst_mini_object_set_qdata(object, key, records,
                                [](gpointer data) { delete static_cast<Records*>(data); });
    }
    return *records;
  }
  Records() = default;
  Records(const Records&) = delete;
  Records& operator=(const Records&) = delete;
  ~Records() {
    const std::lock_guard guard(mutex);
    for (const std::shared_ptr<Record>& record : all) {
      record->lock.reset();
      if (const std::shared_ptr<Used> used = record->user.lock())
        used->erase(std::remove(used->begin(), used->end(), record), used->end());
    }
  }

  std::vector<std::shared_ptr<Record>> all;
};

std::size_t PageLocks::quarter_of_physical_memory() {
  return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) / 4 * page_size();
}

PageLocks::PageLocks(Device& device, const CudaContext& context, std::size_t most_bytes)
    : device_(device),
      context_(context),
      most_bytes_(most_bytes),
      used_(std::make_shared<Used>()) {}

PageLocks::~PageLocks() {
  const std::lock_guard guard(mutex);
  for (const std::shared_ptr<Record>& record : *used_)
    record->lock.reset();
}

bool PageLocks::note(const GstMapInfo& map) {
  if (!may_be_locked(map))
    return false;
  const std::lock_guard guard(mutex);
  Records& records = Records::of(map.memory);
  const std::shared_ptr<Record>& record = record_of(records);
  if (!record->lock && !record->failed && ++record->appearances >= appearances_before_lock)
    lock(record, records, map);
  return record->lock && record->lock->covers(map);
}

const std::shared_ptr<PageLocks::Record>& PageLocks::record_of(Records& records) const {
  auto& all = records.all;
  all.erase(std::remove_if(all.begin(), all.end(),
                           [](const auto& record) { return record->user.expired(); }),
            all.end());
  for (const std::shared_ptr<Record>& record : all)
    if (record->user.lock() == used_)
      return record;
  auto record = std::make_shared<Record>();
  record->user = used_;
  return all.emplace_back(std::move(record));
}

void PageLocks::lock(const std::shared_ptr<Record>& record, const Records& records,
                     const GstMapInfo& map) {
  std::shared_ptr<Lock> lock;
  for (const std::shared_ptr<Record>& other : records.all)
    if (other->lock && other->lock->is_of(context_))
      lock = other->lock;
  if (!lock) {
    if (map.size > most_bytes_ || locked_bytes > most_bytes_ - map.size)
      return;
    Buffer memory = device_.page_lock(map.data, map.size);
    if (!memory.data()) {
      GST_DEBUG("%" G_GSIZE_FORMAT " bytes at %p cannot be page-locked", map.size, map.data);
      record->failed = true;
      return;
    }
    lock = std::make_shared<Lock>(std::move(memory), context_);
  }
  used_->push_back(record);
  record->lock = std::move(lock);
}

}  // namespace cudavision
