// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/fakes/fakedevice.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>

#include "tests/check/common/fakes/fakelibgstcuda.h"
#include "tests/check/common/gstcheck.h"

using namespace cudavision;

namespace check {
namespace {

struct Range {
  std::size_t size;
  GstObject* context;
};
using Ranges = std::map<const std::uint8_t*, Range>;

std::mutex mutex;
FakeTransfers done;
bool locks_fail = false;
Ranges locked, own;

bool overlaps(const Ranges& ranges, const std::uint8_t* begin, std::size_t size) {
  const auto after = ranges.lower_bound(begin + size);
  if (after == ranges.begin())
    return false;
  const auto& [start, range] = *std::prev(after);
  return start + range.size > begin;
}

bool contains(const Ranges& ranges, View<const std::uint8_t> view) {
  const auto after = ranges.upper_bound(view.data);
  if (after == ranges.begin())
    return false;
  const auto& [start, range] = *std::prev(after);
  return view.row(view.height - 1) + view.width <= start + range.size;
}

void unlock(void* memory) noexcept {
  const std::lock_guard guard(mutex);
  const auto found = locked.find(static_cast<const std::uint8_t*>(memory));
  fail_unless(found != locked.end(), "this memory is not locked");
  fail_unless(found->second.context == current_fake_context(), "unlocked in another context");
  // Reads the memory, which crashes the program if the memory was already unmapped.
  const volatile auto* bytes = static_cast<const volatile std::uint8_t*>(memory);
  for (std::size_t i = 0; i < found->second.size; i += 4096)
    static_cast<void>(bytes[i]);
  locked.erase(found);
  ++done.unlocks;
  --done.locked_now;
}

void free_own(void* memory) noexcept {
  {
    const std::lock_guard guard(mutex);
    own.erase(static_cast<const std::uint8_t*>(memory));
  }
  std::free(memory);
}

void require_context() {
  fail_unless(current_fake_context() != nullptr, "no context is current");
}

void count_transfer(View<const std::uint8_t> host) {
  require_context();
  const std::lock_guard guard(mutex);
  ++(contains(locked, host) ? done.direct : contains(own, host) ? done.staged : done.pageable);
}

void copy_rows(View<const std::uint8_t> from, View<std::uint8_t> to) {
  make_cpu_device()->copy(from, to);
}

class FakeEvent final : public Event {
 public:
  void record() override { require_context(); }
  bool done() override { return true; }
  void wait() override { require_context(); }
};

}  // namespace

bool all_are(View<const std::uint8_t> plane, std::uint8_t value) {
  for (int y = 0; y < plane.height; ++y)
    if (std::count(plane.row(y), plane.row(y) + plane.width, value) != plane.width)
      return false;
  return true;
}

FakeTransfers fake_transfers() {
  const std::lock_guard guard(mutex);
  return done;
}

void reset_fake_transfers() {
  const std::lock_guard guard(mutex);
  const int locked_now = done.locked_now;
  done = {};
  done.locked_now = locked_now;
}

void fail_page_locks(bool fail) {
  const std::lock_guard guard(mutex);
  locks_fail = fail;
}

Buffer FakeDevice::page_lock(void* memory, std::size_t bytes) {
  require_context();
  const std::lock_guard guard(mutex);
  const auto* begin = static_cast<const std::uint8_t*>(memory);
  fail_unless(reinterpret_cast<std::uintptr_t>(memory) % 4096 == 0 && bytes % 4096 == 0,
              "the pages contain other memory");
  if (locks_fail || overlaps(locked, begin, bytes)) {
    ++done.failed_locks;
    return {};
  }
  locked[begin] = {bytes, current_fake_context()};
  ++done.locks;
  ++done.locked_now;
  return make_buffer(memory, bytes, unlock);
}

void FakeDevice::upload(View<const std::uint8_t> host, View<std::uint8_t> device) {
  count_transfer(host);
  copy_rows(host, device);
}

void FakeDevice::download(View<const std::uint8_t> device, View<std::uint8_t> host) {
  count_transfer(host);
  copy_rows(device, host);
}

void FakeDevice::copy(View<const std::uint8_t> from, View<std::uint8_t> to) {
  require_context();
  {
    const std::lock_guard guard(mutex);
    ++done.copies;
  }
  copy_rows(from, to);
}

void FakeDevice::fill(View<std::uint8_t> to, std::uint8_t value) {
  require_context();
  make_cpu_device()->fill(to, value);
}

std::unique_ptr<Event> FakeDevice::make_event() {
  return std::make_unique<FakeEvent>();
}

void FakeDevice::wait_event(const Event&) {
  require_context();
}

Buffer FakeDevice::do_allocate(std::size_t bytes) {
  require_context();
  return make_buffer(std::malloc(bytes), bytes, [](void* memory) noexcept { std::free(memory); });
}

Buffer FakeDevice::do_allocate_host(std::size_t bytes) {
  require_context();
  void* memory = std::malloc(bytes);
  const std::lock_guard guard(mutex);
  own[static_cast<const std::uint8_t*>(memory)] = {bytes, nullptr};
  return make_buffer(memory, bytes, free_own);
}

}  // namespace check
