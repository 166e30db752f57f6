// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/faults/faults.h"

#include <link.h>

#include <array>
#include <cstring>
#include <utility>

#include "tests/check/common/gstcheck.h"

namespace check {

namespace {

// Constant-initialised, because the replaced functions run before main().
std::atomic<bool> active{false};
std::atomic<Calls> counted{Calls::host_memory};
std::atomic<Duration> duration_of_fault{Duration::once};
std::atomic<int> number_to_fail{0}, calls_made{0};
std::atomic<const char*> failed_call{nullptr};
std::array<std::atomic<long>, 2> made{}, freed{};

}  // namespace

Fault::Fault(Calls calls, int number, Duration duration) {
  fail_if(active, "another fault is active");
  counted = calls;
  duration_of_fault = duration;
  number_to_fail = number;
  calls_made = 0;
  failed_call = nullptr;
  active = true;
}

Fault::~Fault() {
  end();
}

void Fault::end() {
  if (ended_)
    return;
  active = false;
  ended_ = true;
  count_ = calls_made;
  if (const char* name = failed_call)
    failed_ = name;
}

void CodeRange::find(const char* library) {
  std::pair sought(this, library);
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        const auto& [range, name] = *static_cast<decltype(sought)*>(data);
        if (std::strstr(info->dlpi_name, name) == nullptr)
          return 0;
        for (int i = 0; i < info->dlpi_phnum; ++i)
          if (const auto& part = info->dlpi_phdr[i];
              part.p_type == PT_LOAD && (part.p_flags & PF_X) != 0) {
            range->begin_ = info->dlpi_addr + part.p_vaddr;
            range->end_ = info->dlpi_addr + part.p_vaddr + part.p_memsz;
          }
        return 1;
      },
      &sought);
}

bool CodeRange::contains(const void* address) const {
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  return number >= begin_ && number < end_;
}

bool call_fails(Calls calls, const char* name, bool recovers) {
  if (!active || counted != calls)
    return false;
  if (++calls_made == number_to_fail) {
    failed_call = name;
    return true;
  }
  return failed_call && duration_of_fault == Duration::lasting && !recovers;
}

void note_resource(Calls calls, int change) {
  ++(change > 0 ? made : freed)[static_cast<std::size_t>(calls)];
}

long resources_alive(Calls calls) {
  return made[static_cast<std::size_t>(calls)] - freed[static_cast<std::size_t>(calls)];
}

long resources_made(Calls calls) {
  return made[static_cast<std::size_t>(calls)];
}

}  // namespace check
