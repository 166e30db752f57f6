// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/fakes/fakestreams.h"

#include <cstdlib>
#include <deque>
#include <functional>
#include <mutex>
#include <vector>

#include "cuda/core/device.h"
#include "gst/memory/cudastream.h"

using namespace cudavision;

namespace check {
namespace {

struct Stream;

/// A point in a stream, recorded by an event.
struct Mark {
  Stream& stream;
  bool passed = false;
};

struct Task {
  std::function<void()> work;
  std::shared_ptr<Mark> awaited;  ///< mark that must pass before this work; nullptr: none
};

struct Stream {
  std::deque<Task> tasks;
};

std::vector<std::unique_ptr<Stream>>& all_streams() {
  static std::vector<std::unique_ptr<Stream>> streams;
  return streams;
}

Stream& stream_of(CudaStream handle) {
  return *reinterpret_cast<Stream*>(handle);
}

bool waits_for_mark(const Stream& stream) {
  const std::shared_ptr<Mark>& awaited = stream.tasks.front().awaited;
  return awaited && !awaited->passed;
}

void do_next(Stream& stream) {
  const Task task = std::move(stream.tasks.front());
  stream.tasks.pop_front();
  if (task.work)
    task.work();
}

// Runs the mark's stream until the mark has passed. Also runs the streams for which this stream
// waits, as far as necessary.
void pass(const Mark& mark) {
  while (!mark.passed) {
    if (waits_for_mark(mark.stream))
      pass(*mark.stream.tasks.front().awaited);
    do_next(mark.stream);
  }
}

class StreamEvent final : public Event {
 public:
  explicit StreamEvent(Stream& stream) : stream_(stream) {}

  void record() override {
    mark_ = std::make_shared<Mark>(Mark{stream_});
    stream_.tasks.push_back({[mark = mark_] { mark->passed = true; }, nullptr});
  }
  bool done() override { return !mark_ || mark_->passed; }
  void wait() override {
    if (mark_)
      pass(*mark_);
  }
  const std::shared_ptr<Mark>& mark() const { return mark_; }

 private:
  Stream& stream_;
  std::shared_ptr<Mark> mark_;
};

class StreamDevice final : public Device {
 public:
  explicit StreamDevice(CudaStream stream) : handle_(stream) {}

  DeviceKind kind() const noexcept override { return DeviceKind::cuda; }
  CudaStream stream() const noexcept override { return handle_; }
  Buffer page_lock(void*, std::size_t) override { return {}; }

  void upload(View<const std::uint8_t> host, View<std::uint8_t> device) override {
    copy(host, device);
  }
  void download(View<const std::uint8_t> device, View<std::uint8_t> host) override {
    copy(device, host);
  }
  void copy(View<const std::uint8_t> from, View<std::uint8_t> to) override {
    enqueue([=] { make_cpu_device()->copy(from, to); });
  }
  void fill(View<std::uint8_t> to, std::uint8_t value) override {
    enqueue([=] { make_cpu_device()->fill(to, value); });
  }

  std::unique_ptr<Event> make_event() override {
    return std::make_unique<StreamEvent>(stream_of(handle_));
  }
  void wait_event(const Event& event) override {
    stream_of(handle_).tasks.push_back({nullptr, static_cast<const StreamEvent&>(event).mark()});
  }
  void finish() override { finish_fake_stream(handle_); }

 private:
  void enqueue(std::function<void()> work) {
    stream_of(handle_).tasks.push_back({std::move(work), nullptr});
  }

  Buffer do_allocate(std::size_t bytes) override {
    return make_buffer(std::malloc(bytes), bytes, [](void* memory) noexcept { std::free(memory); });
  }
  Buffer do_allocate_host(std::size_t bytes) override { return do_allocate(bytes); }

  const CudaStream handle_;
};

}  // namespace

CudaStream new_fake_stream() {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  all_streams().push_back(std::make_unique<Stream>());
  return newest_fake_stream();
}

CudaStream newest_fake_stream() {
  return reinterpret_cast<CudaStream>(all_streams().back().get());
}

std::unique_ptr<Device> new_stream_device(CudaStream stream) {
  return std::make_unique<StreamDevice>(stream);
}

void finish_fake_stream(CudaStream handle) {
  Stream& stream = stream_of(handle);
  while (!stream.tasks.empty()) {
    if (waits_for_mark(stream))
      pass(*stream.tasks.front().awaited);
    do_next(stream);
  }
}

void advance_fake_stream(CudaStream handle) {
  Stream& stream = stream_of(handle);
  while (!stream.tasks.empty() && !waits_for_mark(stream))
    do_next(stream);
}

}  // namespace check

SharedStream::SharedStream(const CudaContext&) : handle_(check::new_fake_stream()) {}

void cudavision::notify_when_passed(Device& device, std::function<void()> call) {
  check::stream_of(device.stream()).tasks.push_back({std::move(call), nullptr});
}

std::unique_ptr<Device> cudavision::make_cuda_device(CudaStream stream) {
  return check::new_stream_device(stream);
}
