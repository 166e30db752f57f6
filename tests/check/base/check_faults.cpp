// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes each call of the memory allocator or the CUDA driver fail in turn. Expects at most one
// error, which names the remedy, no leak, and a successful restart.
#include <gmodule.h>

#include <string>
#include <vector>

#include "tests/check/common/faults/subject.h"

using namespace check;

namespace {

void expect_one_of(const std::string& text, const std::vector<std::string>& words,
                   const std::string& what) {
  bool found = false;
  for (const std::string& word : words)
    found |= text.find(word) != std::string::npos;
  fail_unless(found, "%s: neither cause nor remedy: %s", what.c_str(), text.c_str());
}

void expect_good_error(Subject& subject, const std::string& call, Duration duration,
                       const std::string& what) {
  const std::vector<Owned<GstMessage>> errors = subject.messages().take(GST_MESSAGE_ERROR);
  fail_unless(errors.size() == 1, "%s: %d errors", what.c_str(), static_cast<int>(errors.size()));
  GError* parsed = nullptr;
  gst_message_parse_error(errors[0], &parsed, nullptr);
  const Owned<GError> error(parsed);
  const std::string text = error->message;
  fail_unless(error->domain == GST_RESOURCE_ERROR, "%s: not a resource error: %s", what.c_str(),
              text.c_str());
  const bool of_driver = call.rfind("cu", 0) == 0;
  // If all later calls fail, too, the error may come from any of them.
  const bool of_memory =
      duration == Duration::once && (!of_driver || call.find("Alloc") != std::string::npos);
  if (of_memory) {
    fail_unless(error->code == GST_RESOURCE_ERROR_NO_SPACE_LEFT, "%s: %s", what.c_str(),
                text.c_str());
    expect_words(text, {"smaller frames"});
    if (text.find("There is no memory for") == std::string::npos)
      expect_words(text, {subject.advice()});
    if (call != "operator new")
      expect_words(text, {" bytes"});
    return;
  }
  expect_one_of(text, {"start it again", "set backend=cpu", "smaller frames"}, what);
  // libgstcuda does not report CUDA's own error text.
  expect_one_of(
      text, {"(cudaError", "CUDA_ERROR", "create a CUDA context", "There is no memory for"}, what);
}

void expect_untroubled(Subject& subject, const std::string& what) {
  const Outputs outputs = subject.play();
  fail_unless(gst_element_set_state(subject.element(), GST_STATE_NULL) == GST_STATE_CHANGE_SUCCESS,
              "%s: the element does not stop", what.c_str());
  fail_unless(!subject.failed(), "%s: %s", what.c_str(),
              subject.messages().text(GST_MESSAGE_ERROR).c_str());
  fail_unless(outputs.size() == subject.frames(), "%s: %d outputs", what.c_str(),
              static_cast<int>(outputs.size()));
  subject.expect_right(outputs, what);
  subject.messages().clear();
}

void expect_recovery(Subject& subject, Calls calls, int min_errors,
                     Duration duration = Duration::once) {
  expect_untroubled(subject, "at first");
  long alive = resources_alive(calls);
  int errors = 0;
  for (int number = 1;; ++number) {
    Fault fault(calls, number, duration);
    Outputs outputs = subject.play();
    const GstStateChangeReturn stopped = gst_element_set_state(subject.element(), GST_STATE_NULL);
    fault.end();
    if (!fault.happened()) {
      fail_unless(!subject.failed() && outputs.size() == subject.frames());
      break;
    }
    const std::string what = "call " + std::to_string(number) + ", " + fault.failed();
    fail_unless(stopped == GST_STATE_CHANGE_SUCCESS, "%s: the element does not stop", what.c_str());
    subject.expect_right(outputs, what);
    // Some failures are harmless: page-locking and freeing may fail.
    if (subject.failed()) {
      expect_good_error(subject, fault.failed(), duration, what);
      ++errors;
    } else {
      fail_unless(outputs.size() == subject.frames(), "%s: no error, but only %d outputs",
                  what.c_str(), static_cast<int>(outputs.size()));
    }
    subject.messages().clear();
    outputs.clear();

    expect_untroubled(subject, "after " + what);
    // If the context cannot be entered, nothing can be freed.
    if (fault.failed().find("cuCtxPushCurrent") != std::string::npos)
      alive = resources_alive(calls);
    fail_unless(resources_alive(calls) == alive, "%s: %ld resources leaked", what.c_str(),
                resources_alive(calls) - alive);
    fail_unless(number < 20000, "the element makes ever more calls");
  }
  fail_unless(errors >= min_errors, "only %d failed calls caused an error instead of %d or more",
              errors, min_errors);
}

constexpr int overlaps[] = {1, 3};

struct OtherFilter {
  const char* element;
  Properties properties;
  const char* advice;
};
constexpr char wide_tables[] = "for tables of 64-bit elements, element-type=uint32";
const OtherFilter other_filters[] = {
    {"cudaintegral", {{"output", "sum"}}, wide_tables},
    {"cudaintegral", {{"output", "squared-sum"}}, wide_tables},
    {"cudaintegral", {{"output", "tilted-sum"}}, wide_tables},
    {"cudaintegral", {{"output", "stddev"}}, wide_tables},
    {"cudathreshold", {{"method", "sauvola"}}, "smaller frames"},
};

FilterSubject other_subject(int number) {
  const OtherFilter& other = other_filters[number];
  return {other.element, other.properties, "GRAY8", other.advice};
}

const Properties every_step = {
    {"num-disparities", "32"}, {"fill-holes", "true"},        {"speckle-size", "10"},
    {"temporal-alpha", "0.5"}, {"temporal-persistence", "2"}, {"diagnostics-interval", "1"},
};

/// Looks a function up in the fake driver, as libgstcuda does in the real driver.
template <class Function>
Function driver_function(GModule* driver, const char* name) {
  gpointer function = nullptr;
  fail_unless(g_module_symbol(driver, name, &function), "%s: %s", name, g_module_error());
  return reinterpret_cast<Function>(function);
}

std::string unless_fake_driver() {
  if (!unless_sanitized().empty())
    return "a sanitizer prevents the replacement of dlsym()";
  return g_getenv("CUDAVISION_TEST_FAKE_DRIVER") ? "" : "CUDAVISION_TEST_FAKE_DRIVER is not set";
}

}  // namespace

TEST(test_host_memory, .for_each_element().times(std::size(overlaps))) {
  FilterSubject subject("NV12", overlaps[index]);
  expect_recovery(subject, Calls::host_memory, 5);
}

TEST(test_host_memory_of_other_filters, .times(std::size(other_filters))) {
  FilterSubject subject = other_subject(index);
  expect_recovery(subject, Calls::host_memory, 5);
}

TEST(test_host_memory_in_stereo) {
  StereoSubject subject(every_step);
  expect_recovery(subject, Calls::host_memory, 10);
}

TEST(test_cuda_calls,
     .for_each_element().times(std::size(overlaps)).unless(unless_testing_cuda())) {
  FilterSubject subject("NV12", overlaps[index]);
  expect_recovery(subject, Calls::cuda, 10);
}

TEST(test_cuda_calls_with_cuda_memory, .times(2).unless(unless_testing_cuda())) {
  FilterSubject subject(index == 0 ? "NV12" : "GRAY8", 3, Memory::cuda);
  expect_recovery(subject, Calls::cuda, 10);
}

// Upstream's buffers outlive the element, which must unlock their memory when it stops.
TEST(test_cuda_calls_with_recurring_memory, .for_each_element().unless(unless_testing_cuda())) {
  FilterSubject subject("NV12", 3, Memory::recurring);
  expect_recovery(subject, Calls::cuda, 10);
}

TEST(test_cuda_calls_of_other_filters,
     .times(std::size(other_filters)).unless(unless_testing_cuda())) {
  FilterSubject subject = other_subject(index);
  expect_recovery(subject, Calls::cuda, 10);
}

TEST(test_cuda_calls_in_stereo, .unless(unless_testing_cuda())) {
  StereoSubject subject(every_step);
  expect_recovery(subject, Calls::cuda, 20);
}

// After a failed kernel, all later calls fail, too. These failures must cause no further errors.
TEST(test_cuda_stops_working,
     .for_each_element().times(std::size(overlaps)).unless(unless_testing_cuda())) {
  FilterSubject subject("NV12", overlaps[index]);
  expect_recovery(subject, Calls::cuda, 10, Duration::lasting);
}

TEST(test_cuda_stops_working_in_stereo, .unless(unless_testing_cuda())) {
  StereoSubject subject(every_step);
  expect_recovery(subject, Calls::cuda, 20, Duration::lasting);
}

// If a driver call fails while an element makes its own context, at most this start fails.
TEST(test_cuda_calls_at_start, .for_each_element().unless(unless_testing_cuda())) {
  const Owned<GstElement> element = new_element(tested().element);
  set_property(element, "backend", "cuda");
  int failures = 0;
  for (int number = 1;; ++number) {
    MessageLog messages(element);
    Fault fault(Calls::cuda, number);
    const GstStateChangeReturn started = gst_element_set_state(element, GST_STATE_PLAYING);
    fault.end();
    const int errors = messages.count(GST_MESSAGE_ERROR);
    fail_unless_equals_int(errors, started == GST_STATE_CHANGE_FAILURE ? 1 : 0);
    failures += errors;
    fail_unless_equals_int(gst_element_set_state(element, GST_STATE_NULL),
                           GST_STATE_CHANGE_SUCCESS);
    if (!fault.happened())
      break;
  }
  fail_unless(failures >= 2, "only %d failures", failures);
}

// Driver calls can fail, whether a library looks them up with dlsym() or cuGetProcAddress().
TEST(test_driver_functions_count, .unless(unless_fake_driver())) {
  GModule* driver = g_module_open(g_getenv("CUDAVISION_TEST_FAKE_DRIVER"), G_MODULE_BIND_LOCAL);
  fail_unless(driver != nullptr, "%s", g_module_error());
  const auto allocate = driver_function<int (*)(void**, std::size_t)>(driver, "cuMemAlloc_v2");
  const auto release = driver_function<int (*)(void*)>(driver, "cuMemFree_v2");
  const auto count = driver_function<int (*)(int*)>(driver, "cuDeviceGetCount");
  const auto find = driver_function<int (*)(const char*, void**, int, std::uint64_t, int*)>(
      driver, "cuGetProcAddress_v2");
  void* found = nullptr;
  int status = -1;
  fail_unless_equals_int(find("cuLaunchKernel", &found, 13000, 0, &status), 0);
  fail_unless_equals_int(status, 0);
  const auto launch =
      reinterpret_cast<int (*)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                               unsigned, void*, void**, void**)>(found);
  const auto run_all = [&](void*& memory) {
    int cards = 0;
    count(&cards);
    fail_unless_equals_int(cards, 1);
    const int allocated = allocate(&memory, 100);
    return std::pair{allocated, launch(&memory, 1, 2, 3, 4, 5, 6, 7, &memory, nullptr, nullptr)};
  };

  const long alive = resources_alive(Calls::cuda);
  void* memory = nullptr;
  for (const auto& [number, failed, allocated, launched] :
       {std::tuple{0, "", 0, 28}, std::tuple{1, "cuMemAlloc_v2", 2, 28},
        std::tuple{2, "cuLaunchKernel", 0, 304}, std::tuple{3, "", 0, 28}}) {
    Fault fault(Calls::cuda, number);
    const auto results = run_all(memory);
    fault.end();
    fail_unless_equals_int(fault.count(), 2);
    fail_unless_equals_string(fault.failed().c_str(), failed);
    fail_unless_equals_int(results.first, allocated);
    fail_unless_equals_int(results.second, launched);
    fail_unless_equals_int(resources_alive(Calls::cuda) - alive, allocated == 0 ? 1 : 0);
    if (allocated != 0)
      continue;
    // Memory is freed even if cuMemFree() reports a failure.
    Fault at_the_end(Calls::cuda, number == 0 ? 0 : 1);
    fail_unless_equals_int(release(memory), number == 0 ? 0 : 304);
    fail_unless_equals_int(resources_alive(Calls::cuda) - alive, 0);
  }
  g_module_close(driver);
}
