// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests the wait for the device or for frames, whichever comes first, with work that stands for
// that of a GPU.
#include <atomic>
#include <functional>
#include <mutex>
#include <thread>

#include "gst/flight/completionwait.h"
#include "tests/check/common/testcase.h"

using namespace check;
using namespace cudavision;

namespace {

/// Work that is done when finish() is called, by whatever thread.
class FakeWork {
 public:
  bool done() {
    ++looks;
    return done_;
  }
  void when_done(std::function<void()> call) {
    if (fails)
      throw Error(Error::Kind::device, "the device has failed");
    const std::lock_guard lock(mutex_);
    call_ = std::move(call);
    asked = true;
  }
  void finish() {
    done_ = true;
    while (!asked)
      std::this_thread::yield();
    const std::lock_guard lock(mutex_);
    call_();
  }

  std::atomic<int> looks{0};  ///< calls of done()
  std::atomic<bool> asked{false};
  bool fails = false;

 private:
  std::atomic<bool> done_{false};
  std::mutex mutex_;
  std::function<void()> call_;
};

/// Frames that another thread brings.
struct Frames {
  std::atomic<bool> here{false};
  std::atomic<int> looks{0};

  std::function<bool()> ready() {
    return [this] {
      ++looks;
      return here.load();
    };
  }
};

/// The frames come when the thread already waits for the device.
std::thread send_frames_when_asked(const FakeWork& work, Frames& frames, CompletionWait& wait) {
  return std::thread([&] {
    while (!work.asked)
      std::this_thread::yield();
    frames.here = true;
    wait.notify();
  });
}

}  // namespace

TEST(test_frames_that_are_here) {
  CompletionWait wait;
  FakeWork work;
  fail_unless(wait.wait(work, [] { return true; }));
  fail_unless_equals_int(work.looks, 0);
}

TEST(test_work_that_is_done) {
  CompletionWait wait;
  FakeWork work;
  work.asked = true;
  std::thread([&] {
    work.when_done([] {});
    work.finish();
  }).join();
  work.asked = false;
  fail_unless(!wait.wait(work, [] { return false; }));
  fail_unless(!work.asked, "there is nothing to wait for");
}

// However long that takes, nobody looks again and again.
TEST(test_the_device_wakes) {
  CompletionWait wait;
  FakeWork work;
  Frames frames;
  std::thread device([&] {
    while (!work.asked)
      std::this_thread::yield();
    g_usleep(50000);
    work.finish();
  });
  fail_unless(!wait.wait(work, frames.ready()));
  device.join();
  fail_unless_equals_int(work.looks, 1);
  fail_unless(frames.looks <= 8, "looked for frames %d times", frames.looks.load());
}

TEST(test_frames_wake) {
  CompletionWait wait;
  FakeWork work;
  Frames frames;
  std::thread upstream([&] {
    while (!work.asked)
      std::this_thread::yield();
    wait.notify();  // a frame on one pad alone
    g_usleep(50000);
    frames.here = true;
    wait.notify();
  });
  fail_unless(wait.wait(work, frames.ready()));
  upstream.join();
  fail_unless_equals_int(work.looks, 1);
  fail_unless(frames.looks <= 8, "looked for frames %d times", frames.looks.load());
}

// The device answers the question about earlier work when the thread already waits for later work.
TEST(test_a_late_answer_is_not_the_next_one) {
  CompletionWait wait;
  FakeWork first, second;
  Frames frames;
  std::thread upstream = send_frames_when_asked(first, frames, wait);
  fail_unless(wait.wait(first, frames.ready()));
  upstream.join();
  frames.here = false;
  std::atomic<bool> second_done{false};
  std::thread device([&] {
    while (!second.asked)
      std::this_thread::yield();
    first.finish();
    g_usleep(50000);
    second_done = true;
    second.finish();
  });
  fail_unless(!wait.wait(second, frames.ready()));
  fail_unless(second_done, "woken by the answer about the pair before");
  device.join();
}

TEST(test_a_device_that_fails_is_not_waited_for) {
  CompletionWait wait;
  FakeWork work;
  work.fails = true;
  fail_unless(!wait.wait(work, [] { return false; }));
}

// The element may be gone when the driver answers.
TEST(test_an_answer_that_nobody_awaits) {
  FakeWork work;
  {
    CompletionWait wait;
    Frames frames;
    std::thread upstream = send_frames_when_asked(work, frames, wait);
    fail_unless(wait.wait(work, frames.ready()));
    upstream.join();
  }
  work.finish();
}
