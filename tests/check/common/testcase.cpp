// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/testcase.h"

#if defined(__SANITIZE_THREAD__)
#include <tbb/global_control.h>
#endif

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>

#include "tests/check/common/elementundertest.h"
#include "tests/check/common/waiting.h"

namespace check {

namespace {

struct Test {
  TFun run;
  const char* name;
  void (*set_options)(Options&);
};

std::vector<Test>& all_tests() {
  static std::vector<Test> tests;
  return tests;
}

/// The time limit of one test in seconds, which only a hang reaches.
constexpr double time_limit = 3 * watchdog_seconds;

int number_in_environment(const char* name, int fallback) {
  const char* text = g_getenv(name);
  return text != nullptr ? std::atoi(text) : fallback;
}

/// Returns true for each CUDAVISION_TEST_SHARDS-th call, from call CUDAVISION_TEST_SHARD (≥ 0) on.
bool next_is_in_shard() {
  static const int shards = number_in_environment("CUDAVISION_TEST_SHARDS", 1);
  static const int shard = number_in_environment("CUDAVISION_TEST_SHARD", 0);
  static int number = 0;
  return number++ % shards == shard;
}

bool is_wanted(const char* name) {
  const char* filter = g_getenv("CUDAVISION_TEST_FILTER");
  return filter == nullptr ||
         g_regex_match_simple(filter, name, GRegexCompileFlags{}, GRegexMatchFlags{});
}

struct Range {
  int first, end;
};

std::map<std::string, Range>& ranges() {
  static std::map<std::string, Range> list;
  return list;
}

/// The test's index, if one process runs several. Failures print it, as check does not know it.
std::optional<int> current_index;

void print_index() {
  if (current_index)
    std::fprintf(stderr, "failed at index %d\n", *current_index);
}

void add_to(TCase* tcase, const Test& test, const Options& options, const std::string& element) {
  if (options.skip_reason.empty()) {
    static const bool is_shard = number_in_environment("CUDAVISION_TEST_SHARDS", 1) > 1;
    if (options.end - options.first > 1 && !is_shard) {
      ranges()[test.name] = {options.first, options.end};
      _tcase_add_test(tcase, test.run, test.name, 0, 0, all_indexes, all_indexes + 1);
      return;
    }
    for (int index = options.first; index < options.end; ++index)
      if (next_is_in_shard())
        _tcase_add_test(tcase, test.run, test.name, 0, 0, index, index + 1);
    return;
  }
  if (!next_is_in_shard())
    return;
  std::printf("SKIP: %s%s: %s\n", test.name, element.c_str(), options.skip_reason.c_str());
  // check forks next, and without a flush every child would print the buffered line again.
  std::fflush(stdout);
}

/// Keeps only the elements in CUDAVISION_TEST_ELEMENTS, if set. tests/changed.py relies on this.
void keep_named_elements() {
  const char* names = g_getenv("CUDAVISION_TEST_ELEMENTS");
  if (names == nullptr)
    return;
  gchar** const kept = g_strsplit(names, " ", -1);
  GstRegistry* const registry = gst_registry_get();
  GList* const features = gst_registry_get_feature_list_by_plugin(registry, "cudavision");
  for (GList* l = features; l != nullptr; l = l->next)
    if (!g_strv_contains(kept, GST_OBJECT_NAME(l->data)))
      gst_registry_remove_feature(registry, GST_PLUGIN_FEATURE(l->data));
  gst_plugin_feature_list_free(features);
  g_strfreev(kept);
}

TCase* new_case(Suite* suite, const char* name) {
  TCase* tcase = tcase_create(name);
  tcase_set_timeout(tcase, time_limit);
  suite_add_tcase(suite, tcase);
  return tcase;
}

}  // namespace

Options& Options::for_each_element() {
  each_element = true;
  return *this;
}

Options& Options::times(std::size_t first_index, std::size_t end_index) {
  first = static_cast<int>(first_index);
  end = static_cast<int>(end_index);
  return *this;
}

Options& Options::unless(const std::string& reason) {
  if (skip_reason.empty())
    skip_reason = reason;
  return *this;
}

Registered::Registered(TFun run, const char* name, void (*set_options)(Options&)) {
  all_tests().push_back({run, name, set_options});
}

void run_test(void (*test)(int), const char* name, int index) {
  const Range range = index == all_indexes ? ranges().at(name) : Range{index, index + 1};
  for (int i = range.first; i < range.end; ++i) {
    if (index == all_indexes)
      current_index = i;
    test(i);
    gst_task_cleanup_all();
  }
  current_index.reset();
}

bool full_run() {
  return g_strcmp0(g_getenv("CUDAVISION_TEST_FULL"), "1") == 0;
}

}  // namespace check

#if defined(__SANITIZE_THREAD__)
// ThreadSanitizer does not see that GLib's slices are passed between threads.
extern "C" [[gnu::visibility("default")]] const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() {
  return "race:posix_memalign\n";
}
#endif

int main(int argc, char** argv) {
  using namespace check;
#if defined(__SANITIZE_THREAD__)
  // ThreadSanitizer does not understand how TBB's threads wait for each other.
  const tbb::global_control no_more_threads(tbb::global_control::max_allowed_parallelism, 1);
#endif
  // check keeps only the addresses of names, so they must stay valid.
  const char* program = g_intern_string(argv[0]);
  const char* name =
      std::strrchr(program, '/') != nullptr ? std::strrchr(program, '/') + 1 : program;
  gst_check_init(&argc, &argv);
  // Load the plug-in once: tests are forked and inherit it. Tests of classes work without it.
  if (GstPlugin* plugin = gst_plugin_load_by_name("cudavision"))
    gst_object_unref(plugin);
  keep_named_elements();
  std::atexit(print_index);  // a failed test exits
  Suite* suite = suite_create(name);
  TCase* general = new_case(suite, name);
  std::vector<TCase*> by_element;
  for (std::size_t i = 0; i < tested_elements().size(); ++i) {
    by_element.push_back(new_case(suite, tested_elements()[i].element));
    tcase_add_checked_fixture(by_element.back(), fixture_for_element(i), nullptr);
  }
  for (const Test& test : all_tests()) {
    if (!is_wanted(test.name))
      continue;
    // Options are evaluated late, because reasons to skip a test need an initialised GStreamer.
    Options options;
    test.set_options(options);
    if (!options.each_element)
      add_to(general, test, options, "");
    else
      for (std::size_t i = 0; i < by_element.size(); ++i)
        add_to(by_element[i], test, options,
               std::string(" (") + tested_elements()[i].element + ")");
  }
  return gst_check_run_suite(suite, name, program);
}
