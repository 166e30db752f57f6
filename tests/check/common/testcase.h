// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include "tests/check/common/gstcheck.h"

/// Tests register themselves: TEST(name) { … } or, with options, for example TEST(name,
/// .for_each_element().times(3).unless(unless_sanitized())) { … }. main() in the common library
/// runs all tests of the program.
namespace check {

struct Options {
  /// Runs the test for each ElementUnderTest, which tested() then returns.
  Options& for_each_element();
  /// Runs the test for each index from first to end - 1. Without shards, one process runs them all,
  /// because check starts processes slowly.
  Options& times(std::size_t first, std::size_t end);
  Options& times(std::size_t count) { return times(0, count); }
  /// Skips the test if the reason is not empty. The first reason is reported.
  Options& unless(const std::string& reason);

  bool each_element = false;
  int first = 0, end = 1;
  std::string skip_reason;
};

inline constexpr int all_indexes = -1;
/// Calls the test for an index, or for each of its indexes if `index` is all_indexes.
void run_test(void (*test)(int), const char* name, int index);

class Registered {
 public:
  Registered(TFun run, const char* name, void (*set_options)(Options&));
};

#define TEST(name, ...)                                                          \
  static void name(int);                                                         \
  static void name##_run(int index) {                                            \
    tcase_fn_start(#name, __FILE__, __LINE__);                                   \
    check::run_test(name, #name, index);                                         \
  }                                                                              \
  static const check::Registered name##_registered(                              \
      name##_run, #name,                                                         \
      +[](check::Options& options) { static_cast<void>(options __VA_ARGS__); }); \
  static void name([[maybe_unused]] int index)

bool full_run();

}  // namespace check
