// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests the transfers between host memory and the device: which rows go directly, which through
// page-locked memory, and in which order. A fake CUDA device replaces the GPU.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "gst/memory/staging.h"
#include "tests/check/common/pictures/random.h"
#include "tests/check/common/testcase.h"

using namespace check;
using namespace cudavision;

namespace {

/// Works synchronously, and calls back before each transfer and in each wait.
class HookedDevice final : public Device {
 public:
  std::function<void(int transfer)> before_transfer = [](int) {};
  std::function<void(int event)> on_wait = [](int) {};
  std::vector<View<const std::uint8_t>> transfers;  ///< host side of each transfer
  std::vector<std::size_t> allocations;             ///< bytes of each host allocation

  DeviceKind kind() const noexcept override { return DeviceKind::cuda; }
  Buffer page_lock(void*, std::size_t) override { return {}; }
  void upload(View<const std::uint8_t> host, View<std::uint8_t> device) override {
    transfer(host);
    copy(host, device);
  }
  void download(View<const std::uint8_t> device, View<std::uint8_t> host) override {
    transfer(host);
    copy(device, host);
  }
  void copy(View<const std::uint8_t> from, View<std::uint8_t> to) override {
    fail_unless(from.width == to.width && from.height == to.height);
    make_cpu_device()->copy(from, to);
  }
  void fill(View<std::uint8_t>, std::uint8_t) override {}
  std::unique_ptr<Event> make_event() override {
    return std::make_unique<HookedEvent>(*this, events_++);
  }
  void wait_event(const Event&) override {}
  void finish() override {}

 private:
  class HookedEvent final : public Event {
   public:
    HookedEvent(HookedDevice& device, int number) : device_(device), number_(number) {}
    void record() override { recorded_ = true; }
    bool done() override { return recorded_; }
    void wait() override {
      fail_unless(recorded_, "the event was never recorded");
      device_.on_wait(number_);
    }

   private:
    HookedDevice& device_;
    const int number_;
    bool recorded_ = false;
  };

  void transfer(View<const std::uint8_t> host) {
    before_transfer(static_cast<int>(transfers.size()));
    transfers.push_back(host);
  }
  Buffer do_allocate(std::size_t bytes) override {
    return make_buffer(std::malloc(bytes), bytes, [](void* memory) noexcept { std::free(memory); });
  }
  Buffer do_allocate_host(std::size_t bytes) override {
    allocations.push_back(bytes);
    return do_allocate(bytes);
  }

  int events_ = 0;
};

FrameLayout layout_of(const std::vector<PlaneShape>& planes) {
  FrameLayout layout;
  layout.plane_count = static_cast<int>(planes.size());
  std::copy(planes.begin(), planes.end(), layout.planes.begin());
  return layout;
}

/// A frame with padded rows, and with separate memory for each plane.
class TestFrame {
 public:
  /// Negative padding: the rows are stored bottom up.
  TestFrame(const FrameLayout& layout, int padding, guint8 poison) : planes_(layout.plane_count) {
    for (int p = 0; p < layout.plane_count; ++p) {
      const auto [row_bytes, rows] = layout.planes[p];
      const std::ptrdiff_t pitch = row_bytes + std::abs(padding);
      planes_[p].assign(static_cast<std::size_t>(pitch) * rows, poison);
      guint8* data = planes_[p].data();
      frame_.planes[p] = {padding < 0 ? data + pitch * (rows - 1) : data, row_bytes, rows,
                          padding < 0 ? -pitch : pitch};
    }
  }
  const Frame& frame() const { return frame_; }
  View<std::uint8_t> rows(int plane, const RowRange& rows) const {
    View<std::uint8_t> view = frame_.planes[plane];
    view.data = view.row(rows.begin);
    view.height = rows.end - rows.begin;
    return view;
  }
  void paint(Random& random) {
    for (const View<std::uint8_t>& plane : frame_.planes) {
      unsigned noise = random.any_seed();
      for (int y = 0; y < plane.height; ++y)
        for (int x = 0; x < plane.width; ++x)
          plane.row(y)[x] = static_cast<guint8>((noise = noise * 1664525 + 1013904223) >> 24);
    }
  }
  void expect(const TestFrame& other, guint8 poison) const {
    for (std::size_t p = 0; p < planes_.size(); ++p) {
      const View<std::uint8_t>&here = frame_.planes[p], &there = other.frame_.planes[p];
      for (int y = 0; y < here.height; ++y)
        fail_unless(std::equal(here.row(y), here.row(y) + here.width, there.row(y)),
                    "row %d of plane %zu", y, p);
      const auto padding = here.height * (std::abs(here.pitch) - here.width);
      fail_unless(std::count(planes_[p].begin(), planes_[p].end(), poison) >= padding,
                  "the padding of plane %zu", p);
    }
  }

 private:
  std::vector<std::vector<guint8>> planes_;
  Frame frame_;
};

// Returns one plane of 2.4 MB, which is staged in five pieces; the last piece is shorter.
FrameLayout large_layout() {
  return layout_of({{1999, 1211}});
}

void fill_rows(View<std::uint8_t> view, guint8 value) {
  make_cpu_device()->fill(view, value);
}

bool all_are(View<const std::uint8_t> view, guint8 value) {
  for (int y = 0; y < view.height; ++y)
    if (std::count(view.row(y), view.row(y) + view.width, value) != view.width)
      return false;
  return true;
}

}  // namespace

// Frames of any shape, with any rows page-locked, arrive unchanged, and nothing else is written.
TEST(test_random_frames, .times(60)) {
  Random random(static_cast<unsigned>(index));
  std::vector<PlaneShape> planes(1 + random.below(4));
  for (PlaneShape& plane : planes)
    plane = {1 + random.below(3000), 1 + random.below(index % 4 == 0 ? 900 : 60)};
  const FrameLayout layout = layout_of(planes);
  HookedDevice device;
  Staging upload(device, layout), download(device, layout);
  for (int round = 0; round < 4; ++round) {
    constexpr guint8 poison = 0xA5;
    TestFrame in(layout, random.below(70) - 35, 0), middle(layout, 128, poison),
        out(layout, random.below(70) - 35, poison);
    in.paint(random);
    RowsPerPlane locked{};
    for (int p = 0; p < layout.plane_count; ++p) {
      locked[p].begin = random.below(layout.planes[p].rows + 1);
      locked[p].end = locked[p].begin + random.below(layout.planes[p].rows - locked[p].begin + 1);
    }
    upload.upload(in.frame(), locked, middle.frame());
    download.download(middle.frame(), out.frame(), locked);
    fail_unless(download.arrival().done());
    download.collect(out.frame());
    middle.expect(in, poison);
    out.expect(in, poison);
  }
}

// Page-locked rows need one transfer per plane, one wait per download, and no staging memory.
TEST(test_page_locked_frames) {
  const FrameLayout layout = layout_of({{1920, 1080}, {1920, 540}});
  HookedDevice device;
  int waits = 0;
  device.on_wait = [&](int) { ++waits; };
  Staging upload(device, layout), download(device, layout);
  const TestFrame host(layout, 0, 1), memory(layout, 128, 2);
  const RowsPerPlane all{RowRange{0, 1080}, RowRange{0, 540}};
  upload.upload(host.frame(), all, memory.frame());
  download.download(memory.frame(), host.frame(), all);
  download.collect(host.frame());
  fail_unless_equals_int(device.transfers.size(), 4);
  for (int i = 0; i < 4; ++i)
    fail_unless(device.transfers[i].data == host.frame().planes[i % 2].data);
  fail_unless(device.allocations.empty());
  fail_unless_equals_int(waits, 1);
}

// Frames are staged at both ends, then whole, then at both ends again. Memory is allocated twice.
TEST(test_memory_for_staging) {
  const FrameLayout layout = layout_of({{1920, 1080}});
  constexpr std::size_t frame_bytes = 1920 * 1080;
  HookedDevice device;
  const TestFrame host(layout, 0, 1), memory(layout, 128, 2);
  Staging staging(device, layout);
  for (int i = 0; i < 8; ++i)
    staging.upload(host.frame(), {RowRange{i % 4, 1080 - (i + 1) % 4}}, memory.frame());
  fail_unless_equals_int(device.allocations.size(), 1);
  fail_unless(device.allocations[0] < 20 * 1920, "%zu bytes", device.allocations[0]);
  for (int i = 0; i < 8; ++i)
    staging.upload(host.frame(), {}, memory.frame());
  for (int i = 0; i < 8; ++i)
    staging.upload(host.frame(), {RowRange{1, 1079}}, memory.frame());
  fail_unless_equals_int(device.allocations.size(), 2);
  fail_unless_equals_int(device.allocations[1], frame_bytes);
}

// Each piece is copied to staging memory while the previous piece is in flight, so later pieces
// include writes made meanwhile.
TEST(test_uploads_overlap_with_copies) {
  const FrameLayout layout = large_layout();
  const int rows = layout.planes[0].rows;
  HookedDevice device;
  const TestFrame host(layout, 0, 0), memory(layout, 0, 0xFF);
  Staging staging(device, layout);
  int copied = 0;
  device.before_transfer = [&](int transfer) {
    copied += transfer == 0 ? 0 : device.transfers.back().height;
    const int piece = std::min(rows - copied, 512 * 1024 / layout.planes[0].row_bytes);
    fill_rows(host.rows(0, {copied + piece, rows}), static_cast<guint8>(transfer + 1));
    fill_rows(host.rows(0, {0, copied + piece}), 0x55);
  };
  staging.upload(host.frame(), {}, memory.frame());
  fail_unless_equals_int(device.transfers.size(), 5);
  int row = 0;
  for (int i = 0; i < 5; ++i) {
    const int end = row + device.transfers[i].height;
    fail_unless(all_are(memory.rows(0, {row, end}), static_cast<guint8>(i)), "piece %d", i);
    row = end;
  }
  fail_unless_equals_int(row, rows);
}

// Each piece is copied as soon as it has arrived, and not before.
TEST(test_downloads_overlap_with_copies) {
  const FrameLayout layout = large_layout();
  HookedDevice device;
  const TestFrame host(layout, 0, 0), memory(layout, 0, 7);
  Staging staging(device, layout);
  staging.download(memory.frame(), host.frame(), {});
  fail_unless(all_are(host.frame().planes[0], 0), "host memory was written before any wait");
  int arrived = 0, waits = 0;
  device.on_wait = [&](int) {
    fail_unless(all_are(host.rows(0, {0, arrived}), 7), "before wait %d", waits);
    fail_unless(all_are(host.rows(0, {arrived, layout.planes[0].rows}), 0), "wait %d", waits);
    arrived += device.transfers[waits++].height;
  };
  staging.collect(host.frame());
  fail_unless_equals_int(waits, 5);
  fail_unless(all_are(host.frame().planes[0], 7));
}

TEST(test_errors_in_the_middle, .times(3)) {
  const FrameLayout layout = large_layout();
  HookedDevice device;
  Random random(1);
  TestFrame in(layout, 3, 0), middle(layout, 0, 0xFF), out(layout, 5, 0xFF);
  in.paint(random);
  Staging upload(device, layout), download(device, layout);
  const auto there_and_back = [&] {
    upload.upload(in.frame(), {RowRange{100, 200}}, middle.frame());
    download.download(middle.frame(), out.frame(), {RowRange{700, 900}});
    download.collect(out.frame());
  };
  const auto refuse = [](const char* what) { throw Error(Error::Kind::device, what); };
  if (index == 0)
    device.before_transfer = [&](int transfer) { transfer == 3 ? refuse("upload") : void(); };
  else if (index == 1)
    device.before_transfer = [&](int transfer) { transfer == 9 ? refuse("download") : void(); };
  else
    device.on_wait = [&](int event) { event == 2 ? refuse("wait") : void(); };
  std::string error;
  try {
    there_and_back();
  } catch (const Error& e) {
    error = e.what();
  }
  constexpr const char* expected[] = {"upload", "download", "wait"};
  fail_unless(error.find(expected[index]) != std::string::npos, "\"%s\"", error.c_str());
  device.before_transfer = [](int) {};
  device.on_wait = [](int) {};
  there_and_back();
  out.expect(in, 0xFF);
}

// All elements of a process share the threads that help to copy.
TEST(test_many_threads) {
  const FrameLayout layout = layout_of({{1001, 1500}, {1001, 750}});
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 36; ++t)
    threads.emplace_back([&, t] {
      Random random(t);
      HookedDevice device;
      Staging upload(device, layout), download(device, layout);
      TestFrame in(layout, 1, 0), middle(layout, 0, 0xFF), out(layout, 0, 0xFF);
      for (int round = 0; round < 2; ++round) {
        in.paint(random);
        upload.upload(in.frame(), {}, middle.frame());
        download.download(middle.frame(), out.frame(), {});
        download.collect(out.frame());
        out.expect(in, 0xFF);
      }
    });
  for (std::thread& thread : threads)
    thread.join();
}

TEST(test_rows_within) {
  guint8 bytes[100];
  const auto expect = [&](int begin, int end, View<const std::uint8_t> plane, RowRange expected) {
    const RowRange rows = rows_within({bytes + begin, bytes + end}, plane);
    fail_unless(rows.end - rows.begin == expected.end - expected.begin &&
                    (rows.begin == expected.begin || rows.begin == rows.end),
                "%d to %d: rows %d to %d", begin, end, rows.begin, rows.end);
  };
  const View<const std::uint8_t> down{bytes, 8, 10, 10}, up{bytes + 90, 8, 10, -10},
      one{bytes + 10, 8, 1, 0};
  expect(0, 100, down, {0, 10});
  expect(0, 98, down, {0, 10});
  expect(0, 97, down, {0, 9});
  expect(1, 98, down, {1, 10});
  expect(10, 58, down, {1, 6});
  expect(11, 57, down, {2, 5});
  expect(0, 97, up, {1, 10});
  expect(1, 98, up, {0, 9});
  expect(41, 49, down, {0, 0});
  expect(50, 50, down, {0, 0});
  expect(10, 18, one, {0, 1});
  expect(11, 18, one, {0, 0});
}
