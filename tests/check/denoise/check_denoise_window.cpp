// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests that FrameWindow overwrites no frame that a search reads, and waits for no later search.
#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <random>

#include "gst/denoise/framewindow.h"
#include "tests/check/common/testcase.h"

using namespace check;
using namespace cudavision;

namespace {

/// A CPU device whose events record how many searches had begun before them.
class Queue final : public Device {
 public:
  explicit Queue(const int& searches) : searches_(searches) {}

  /// Returns the number of searches that the last wait_event() waited for.
  int waited_for() const { return waited_for_; }
  const void* copied_to() const { return copied_to_; }

  DeviceKind kind() const noexcept override { return DeviceKind::cpu; }
  Buffer page_lock(void* memory, std::size_t bytes) override {
    return cpu_->page_lock(memory, bytes);
  }
  void upload(View<const std::uint8_t> host, View<std::uint8_t> device) override {
    cpu_->upload(host, device);
  }
  void download(View<const std::uint8_t> device, View<std::uint8_t> host) override {
    cpu_->download(device, host);
  }
  void copy(View<const std::uint8_t> from, View<std::uint8_t> to) override {
    copied_to_ = to.data;
    cpu_->copy(from, to);
  }
  void fill(View<std::uint8_t> to, std::uint8_t value) override { cpu_->fill(to, value); }
  std::unique_ptr<Event> make_event() override { return std::make_unique<Mark>(searches_); }
  void wait_event(const Event& event) override {
    waited_for_ = static_cast<const Mark&>(event).searches;
  }
  void finish() override {}

 private:
  struct Mark final : Event {
    explicit Mark(const int& count) : now(count) {}
    void record() override { searches = now; }
    bool done() override { return true; }
    void wait() override {}

    const int& now;
    int searches = 0;
  };

  Buffer do_allocate(std::size_t bytes) override { return cpu_->allocate(bytes); }
  Buffer do_allocate_host(std::size_t bytes) override { return cpu_->allocate_host(bytes); }

  const std::unique_ptr<Device> cpu_ = make_cpu_device();
  const int& searches_;
  int waited_for_ = 0;
  const void* copied_to_ = nullptr;
};

FrameLayout small_gray() {
  FrameLayout layout;
  layout.width = layout.height = 4;
  layout.plane_count = layout.channel_count = 1;
  layout.planes[0] = {4, 4};
  layout.channels[0].width = layout.channels[0].height = 4;
  return layout;
}

/// A window that gets frames in the order in which FrameDelay passes them.
class Stream {
 public:
  explicit Stream(int frames) : window_(arrivals_, device_, layout_, frames) {}

  void arrive() {
    window_.store(arrived_, picture_);
    fail_unless(last_search_[arrivals_.copied_to()] <= arrivals_.waited_for(),
                "frame %d overwrites a frame that search %d reads, but waits only for search %d",
                arrived_, last_search_[arrivals_.copied_to()], arrivals_.waited_for());
    ++arrived_;
    if (arrived_ - oldest_ > window_.radius())
      search();
    window_.begins_scene();
  }
  void miss() {
    missing_[arrived_++] = true;
    if (arrived_ - oldest_ > window_.radius())
      search();
  }
  void search() {
    const int centre = oldest_++;
    if (missing_[centre])
      return;
    ++searches_;
    last_search_[window_.centre_on(static_cast<guint64>(centre)).planes[0].data] = searches_;
    for (const ConstFrame& neighbour : window_.neighbours())
      last_search_[neighbour.planes[0].data] = searches_;
  }
  void drain() {
    while (oldest_ < arrived_)
      search();
    window_.clear();
  }
  void drop() {
    oldest_ = arrived_;
    window_.clear();
  }
  /// Returns how many of the latest searches the newest frame did not wait for.
  int unwaited() const { return searches_ - arrivals_.waited_for(); }

 private:
  const FrameLayout layout_ = small_gray();
  std::uint8_t bytes_[16] = {};
  const ConstFrame picture_{{View<const std::uint8_t>{bytes_, 4, 4, 4}}};
  int searches_ = 0;
  Queue arrivals_{searches_}, device_{searches_};
  FrameWindow window_;
  int arrived_ = 0, oldest_ = 0;
  std::map<int, bool> missing_;
  std::map<const void*, int> last_search_;
};

}  // namespace

TEST(test_searches_in_flight, .times(4)) {
  Stream stream(2 * index + 3);
  for (int i = 0; i < 20; ++i)
    stream.arrive();
  fail_unless_equals_int(stream.unwaited(), 2);
}

TEST(test_frames_are_kept_while_they_are_searched, .times(4)) {
  std::mt19937 random(1);
  Stream stream(2 * index + 3);
  for (int i = 0; i < 5000; ++i) {
    const unsigned what = random() % 24;
    if (what == 0)
      stream.drain();
    else if (what == 1)
      stream.drop();
    else if (what < 5)
      stream.miss();
    else
      stream.arrive();
  }
}

// A frame is searched as a neighbour until begins_scene() reports that it begins a new scene.
TEST(test_late_judgement) {
  const int searches = 0;
  Queue arrivals(searches), device(searches);
  FrameWindow window(arrivals, device, small_gray(), 3);
  std::uint8_t dark[16] = {}, bright[16];
  std::fill(std::begin(bright), std::end(bright), std::uint8_t{200});
  const ConstFrame frames[] = {{{View<const std::uint8_t>{dark, 4, 4, 4}}},
                               {{View<const std::uint8_t>{dark, 4, 4, 4}}},
                               {{View<const std::uint8_t>{bright, 4, 4, 4}}}};
  for (guint64 i = 0; i < 3; ++i) {
    window.store(i, frames[i]);
    if (i < 2)
      fail_if(window.begins_scene());
  }
  window.centre_on(1);
  fail_unless_equals_int(window.neighbours().size(), 2);
  fail_unless(window.begins_scene());
  window.centre_on(1);
  fail_unless_equals_int(window.neighbours().size(), 1);
  window.centre_on(2);
  fail_unless_equals_int(window.neighbours().size(), 0);
}
