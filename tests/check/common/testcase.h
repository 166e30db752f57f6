// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/check/gstcheck.h>

#include <functional>
#include <string>
#include <vector>

/// Tests that register themselves: TEST(name) { … } or, with options, for example
/// TEST(name, .for_each_element().times(3).unless(unless_sanitized())) { … }. The common library
/// has main(), which runs all tests of the program in the order in which they are written.
namespace check {

struct Options {
  /// Runs the test for each ElementUnderTest, which tested() then returns.
  Options& for_each_element();
  /// Runs the test for each index from first to end - 1.
  Options& times(std::size_t first, std::size_t end);
  Options& times(std::size_t count) { return times(0, count); }
  /// Skips the test if there is a reason to. The first reason given is reported.
  Options& unless(const std::string& reason);

  bool each_element = false;
  int first = 0, end = 1;
  std::string skip_reason;
};

class Registered {
 public:
  Registered(TFun run, const char* name, void (*set_options)(Options&));
};

#define TEST(name, ...)                                                          \
  static void name(int);                                                         \
  static void name##_run(int index) {                                            \
    tcase_fn_start(#name, __FILE__, __LINE__);                                   \
    name(index);                                                                 \
    gst_task_cleanup_all();                                                      \
  }                                                                              \
  static const check::Registered name##_registered(                              \
      name##_run, #name,                                                         \
      +[](check::Options& options) { static_cast<void>(options __VA_ARGS__); }); \
  static void name([[maybe_unused]] int index)

/// Whether CUDAVISION_TEST_FULL=1 asks for the long versions of soaks and fuzzing.
bool full_run();

}  // namespace check
