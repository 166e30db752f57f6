// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests which of several GPUs an element chooses, with fake devices and a fake libgstcuda.
#include <algorithm>
#include <memory>
#include <thread>
#include <vector>

#include "gst/base/devicesession.h"
#include "gst/core/elementerror.h"
#include "tests/check/common/fakes/fakelibgstcuda.h"
#include "tests/check/common/fakes/sessionelement.h"
#include "tests/check/common/owned.h"
#include "tests/check/common/testcase.h"

using namespace check;

namespace {

using cudavision::CudaContext;
using cudavision::DeviceSession;

constexpr int any = -1, min_load = -2;

/// An element with this cuda-device-id. The destructor stops it.
class Running {
 public:
  explicit Running(int device_id) {
    settings_.cuda_device_id = device_id;
    session_.change_state(GST_STATE_CHANGE_NULL_TO_READY, GST_ELEMENT_GET_CLASS(element_.get()));
  }
  ~Running() { session_.stop(); }

  DeviceSession& session() { return session_; }
  int start() {
    session_.start();
    fail_unless(session_.on_cuda(), "it does not run on CUDA");
    return session_.context().device_id();
  }
  void offer(const CudaContext& context) {
    GstContext* offered = new_fake_gst_context(context);
    session_.set_context(offered, GST_ELEMENT_GET_CLASS(element_.get()));
    gst_context_unref(offered);
  }

 private:
  const Owned<GstElement> element_{new_element_with_session()};
  cudavision::DeviceSettings settings_;
  DeviceSession session_{element_, settings_};
};

void let_there_be(int devices) {
  fake_devices = fake_usable_devices = devices;
}

void expect_start(Running& element, int device, const char* what) {
  const int found = element.start();
  fail_unless(found == device, "%s: GPU %d instead of %d", what, found, device);
}

}  // namespace

TEST(test_min_load_gpu) {
  let_there_be(3);
  Running first(min_load), second(min_load), third(min_load), fourth(min_load);
  expect_start(first, 0, "the first GPU without elements");
  expect_start(second, 1, "the next GPU without elements");
  expect_start(third, 2, "the last GPU without elements");
  expect_start(fourth, 0, "all GPUs have one element");
  second.session().stop();
  Running fifth(min_load);
  expect_start(fifth, 1, "the element on GPU 1 has stopped");
  expect_start(second, 1, "the first of two GPUs with one element");
}

TEST(test_all_running_elements_count) {
  let_there_be(2);
  {
    Running numbered(0), first(any), ready(1), one(min_load), two(min_load), three(min_load);
    expect_start(numbered, 0, "chosen by its number");
    expect_start(first, 0, "the default, in an empty pipeline");
    expect_start(one, 1, "no element against two");
    expect_start(two, 1, "one element against two");
    expect_start(three, 0, "two elements against two");
  }
  Running again(min_load);
  expect_start(again, 0, "all have stopped");
}

// A context from a neighbour or the application takes precedence over the least used GPU.
TEST(test_context_that_there_is) {
  let_there_be(2);
  Running busy(0), element(min_load), other(min_load);
  expect_start(busy, 0, "chosen by its number");
  element.offer(new_fake_context(0));
  expect_start(element, 0, "with a context of GPU 0");
  expect_start(other, 1, "without a context");
  element.session().stop();
  other.session().stop();
  expect_start(element, 1, "started again without a context");
}

// An element that falls back to the CPU is not counted as a user of a GPU.
TEST(test_gpu_without_memory) {
  let_there_be(2);
  fake_usable_devices = 1;
  Running first(min_load), failing(min_load), next(min_load);
  expect_start(first, 0, "the first");
  failing.session().start();  // falls back to the CPU
  fail_unless(!failing.session().on_cuda());
  fake_usable_devices = 2;
  expect_start(next, 1, "the other GPU, once it has memory again");
}

TEST(test_elements_that_start_at_the_same_time) {
  let_there_be(2);
  constexpr int count = 64;
  std::vector<std::unique_ptr<Running>> elements;
  for (int i = 0; i < count; ++i)
    elements.push_back(std::make_unique<Running>(min_load));
  std::vector<std::thread> threads;
  for (const auto& element : elements)
    threads.emplace_back([&element] { element->session().start(); });
  for (std::thread& thread : threads)
    thread.join();
  const auto on_first = std::count_if(elements.begin(), elements.end(), [](const auto& element) {
    return element->session().context().device_id() == 0;
  });
  fail_unless_equals_int(static_cast<int>(on_first), count / 2);
}
