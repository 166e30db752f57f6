// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/fuzz/actions.h"

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

const char* missing_action() {
  const std::lock_guard<std::mutex> lock(mutex);
  for (const auto& [name, count] : counts)
    if (count == 0)
      return name.c_str();
  return nullptr;
}

void print_actions() {
  const std::lock_guard<std::mutex> lock(mutex);
  for (const auto& [name, count] : counts)
    std::printf("%9ld  %s\n", count, name.c_str());
  std::fflush(stdout);
}

}  // namespace fuzz
