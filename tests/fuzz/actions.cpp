// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/fuzz/actions.h"

#include <gst/check/gstcheck.h>

#include <cstdio>
#include <map>
#include <mutex>
#include <string>

namespace fuzz {

namespace {

std::mutex mutex;
std::map<std::string, long> counts;

}  // namespace

void count_action(const char* name, int times) {
  const std::lock_guard<std::mutex> lock(mutex);
  counts[name] += times;
}

void expect_all_actions() {
  const std::lock_guard<std::mutex> lock(mutex);
  for (const auto& [name, count] : counts)
    std::printf("%9ld  %s\n", count, name.c_str());
  std::fflush(stdout);
  for (const auto& [name, count] : counts)
    fail_unless(count > 0, "the action \"%s\" never ran: give it more time or weight",
                name.c_str());
}

}  // namespace fuzz
