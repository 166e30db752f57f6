// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/memory/pagelocks.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "gst/memory/memorydebug.h"

namespace cudavision {
namespace {

constexpr int appearances_before_lock = 3;

// Smaller memory is not locked: copying it takes no longer than the additional transfers of the
// unlocked rows at its edges.
constexpr gsize min_bytes = 128 * 1024;

// Guards all Records and locked_bytes, for all objects. The mutex is held for long only while pages
// are locked or unlocked, which is rare.
std::mutex mutex;
std::size_t locked_bytes = 0;

std::uintptr_t page_size() {
  static const auto size = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  return size;
}

// Memory of other types, e.g. dmabufs, may be mapped at another address each time.
bool keeps_its_address(GstMemory* memory) {
  constexpr char v4l2_buffer[] = "V4l2Memory";
  return gst_memory_is_type(memory, GST_ALLOCATOR_SYSMEM) ||
         gst_memory_is_type(memory, v4l2_buffer);
}

// Memory with a parent is not locked, because upstream creates a new GstMemory for each frame.
bool may_be_locked(const GstMapInfo& map) {
  return map.memory && map.size >= min_bytes && !map.memory->parent &&
         !GST_MEMORY_IS_READONLY(map.memory) && keeps_its_address(map.memory);
}

ByteRange whole_pages_of(const GstMapInfo& map) {
  const std::uintptr_t in_page = page_size() - 1;
  const auto begin = reinterpret_cast<std::uintptr_t>(map.data);
  const std::uintptr_t end = begin + map.size;
  return {map.data + ((begin + in_page) & ~in_page) - begin, map.data + (end & ~in_page) - begin};
}

}  // namespace

/// Locked memory. Constructed and destroyed while the mutex is held.
class PageLocks::Lock {
 public:
  Lock(Buffer memory, const CudaContext& context) : context_(context), memory_(std::move(memory)) {
    locked_bytes += memory_.size();
  }
  ~Lock() {
    locked_bytes -= memory_.size();
    const ReleaseScope scope(context_);
    memory_ = Buffer();
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

  bool is_of(const CudaContext& context) const { return context_ == context; }
  ByteRange part_of(const GstMapInfo& map) const {
    const guint8* locked = memory_.as<guint8>();
    const guint8* begin = std::max<const guint8*>(map.data, locked);
    const guint8* end = std::min<const guint8*>(map.data + map.size, locked + memory_.size());
    return begin < end ? ByteRange{begin, end} : ByteRange{};
  }

 private:
  const CudaContext context_;
  Buffer memory_;
};

/// How one PageLocks has used a GstMemory.
struct PageLocks::Record {
  const PageLocks* user;
  int appearances = 0;
  bool failed = false;
  std::shared_ptr<Lock> lock = nullptr;  ///< shared by all PageLocks of a context
};

/// All records of a GstMemory, as its qdata, which is destroyed before the memory is freed.
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
  /// Never destroyed, because memory may be freed when the program ends.
  static std::set<Records*>& all() {
    static auto* const records = new std::set<Records*>;
    return *records;
  }

  Records() { all().insert(this); }
  Records(const Records&) = delete;
  Records& operator=(const Records&) = delete;
  ~Records() {
    const std::lock_guard guard(mutex);
    all().erase(this);
    list.clear();
  }

  std::vector<Record> list;
};

std::size_t PageLocks::quarter_of_physical_memory() {
  return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) / 4 * page_size();
}

PageLocks::PageLocks(Device& device, const CudaContext& context, std::size_t max_bytes)
    : device_(device), context_(context), max_bytes_(max_bytes) {}

PageLocks::~PageLocks() {
  const std::lock_guard guard(mutex);
  for (Records* records : Records::all())
    std::erase_if(records->list, [this](const Record& record) { return record.user == this; });
}

ByteRange PageLocks::note(const GstMapInfo& map) {
  if (!may_be_locked(map))
    return {};
  const std::lock_guard guard(mutex);
  Records& records = Records::of(map.memory);
  auto& list = records.list;
  const auto found = std::find_if(list.begin(), list.end(),
                                  [this](const Record& record) { return record.user == this; });
  Record& record = found != list.end() ? *found : list.emplace_back(Record{this});
  if (!record.lock && !record.failed && ++record.appearances >= appearances_before_lock)
    lock(record, records, whole_pages_of(map));
  return record.lock ? record.lock->part_of(map) : ByteRange{};
}

void PageLocks::lock(Record& record, const Records& records, const ByteRange& pages) {
  for (const Record& other : records.list)
    if (other.lock && other.lock->is_of(context_)) {
      record.lock = other.lock;
      return;
    }
  const auto size = static_cast<std::size_t>(pages.end - pages.begin);
  if (size > max_bytes_ || locked_bytes > max_bytes_ - size)
    return;
  Buffer memory = device_.page_lock(const_cast<std::uint8_t*>(pages.begin), size);
  record.failed = !memory.data();
  if (record.failed)
    GST_DEBUG("%" G_GSIZE_FORMAT " bytes at %p cannot be page-locked", size, pages.begin);
  else
    record.lock = std::make_shared<Lock>(std::move(memory), context_);
}

}  // namespace cudavision
