// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/faults/faults.h"

#include <array>
#include <atomic>

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

bool call_fails(Calls calls, const char* name, bool recovers) {
  if (!active || counted != calls)
    return false;
  if (++calls_made == number_to_fail) {
    failed_call = name;
    return true;
  }
  return failed_call && duration_of_fault == Duration::lasting && !recovers;
}

void note_thing(Calls calls, int change) {
  ++(change > 0 ? made : freed)[static_cast<std::size_t>(calls)];
}

long things_alive(Calls calls) {
  return made[static_cast<std::size_t>(calls)] - freed[static_cast<std::size_t>(calls)];
}

long things_made(Calls calls) {
  return made[static_cast<std::size_t>(calls)];
}

}  // namespace check
