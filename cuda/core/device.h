// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "cuda/core/error.h"
#include "cuda/core/view.h"

struct CUstream_st;

namespace cudavision {

enum class DeviceKind { cpu, cuda };

/// The same type as cudaStream_t, declared without a CUDA header.
using CudaStream = ::CUstream_st*;

class Device;

/// Memory of a device, or host memory that the device transfers at full speed. The destructor frees
/// it; on a CUDA device, the context of the allocation must then be current.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    Buffer(std::move(other)).swap(*this);
    return *this;
  }
  ~Buffer() {
    if (data_)
      free_(data_);
  }

  void* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  template <class T>
  T* as() const noexcept {
    return static_cast<T*>(data_);
  }

 private:
  friend class Device;
  using Free = void (*)(void*) noexcept;
  Buffer(void* data, std::size_t size, Free free) : data_(data), size_(size), free_(free) {}
  void swap(Buffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(free_, other.free_);
  }

  void* data_ = nullptr;
  std::size_t size_ = 0;
  Free free_ = nullptr;
};

/// A point in a device's queue. record() marks the end of the work enqueued so far.
class Event {
 public:
  virtual ~Event() = default;
  virtual void record() = 0;
  virtual bool done() = 0;  ///< true if the device has passed the last record(); never waits
  virtual void wait() = 0;  ///< blocks the calling thread until the device has passed it
};

/// Operations run on a device, which has one queue of work and executes it in order. On a CUDA
/// device, all calls except finish() and Event::wait() return before the work is done; on the CPU
/// device, the work is done when a call returns. Only one thread at a time may use a device.
///
/// The CUDA device works in the CUDA context that is current to the calling thread. Push the same
/// context before each call of the device or of its operations, including destructors.
class Device {
 public:
  virtual ~Device() = default;

  virtual DeviceKind kind() const noexcept = 0;
  /// For the kernels of operations. nullptr on the CPU device.
  virtual CudaStream stream() const noexcept { return nullptr; }

  /// Allocates device memory, aligned to 256 bytes, with undefined contents. Throws out_of_memory.
  Buffer allocate(std::size_t bytes) { return do_allocate(bytes ? bytes : 1); }
  /// Allocates host memory, aligned to 64 bytes, page-locked for CUDA. Throws out_of_memory.
  Buffer allocate_host(std::size_t bytes) { return do_allocate_host(bytes ? bytes : 1); }

  /// Page-locks host memory of another owner, so that the device transfers it at full speed. The
  /// Buffer's destructor unlocks it, which must happen before the owner frees the memory. Returns
  /// an empty Buffer on the CPU device and if the memory cannot be locked.
  virtual Buffer page_lock(void* memory, std::size_t bytes) = 0;

  /// The next three calls copy between views of equal size. Host memory must stay valid and
  /// unchanged until the device has passed the copy. If it is not page-locked, the call may block.
  virtual void upload(View<const std::uint8_t> host, View<std::uint8_t> device) = 0;
  virtual void download(View<const std::uint8_t> device, View<std::uint8_t> host) = 0;
  virtual void copy(View<const std::uint8_t> from, View<std::uint8_t> to) = 0;
  virtual void fill(View<std::uint8_t> to, std::uint8_t value) = 0;

  virtual std::unique_ptr<Event> make_event() = 0;
  /// Later work begins after the last record() of an event of this device or of another one of the
  /// same context. The call returns at once.
  virtual void wait_event(const Event& event) = 0;

  /// Waits for everything enqueued. Throws Kind::device if any of it failed.
  virtual void finish() = 0;

 protected:
  static Buffer make_buffer(void* data, std::size_t size, Buffer::Free free) {
    return Buffer(data, size, free);
  }
  // bytes is at least 1, so that data() of an allocated buffer is never null.
  virtual Buffer do_allocate(std::size_t bytes) = 0;
  virtual Buffer do_allocate_host(std::size_t bytes) = 0;
};

/// The CPU device uses the process-wide TBB pool, with as many threads as the machine has cores.
std::unique_ptr<Device> make_cpu_device();

constexpr bool built_with_cuda() noexcept {
  return CUDAVISION_BUILT_WITH_CUDA;
}

/// stream must belong to the context that is current to the calling thread, and must outlive the
/// device. Throws invalid_argument for the default stream (nullptr), and Kind::device if the build
/// has no CUDA kernels or none that the card can run.
std::unique_ptr<Device> make_cuda_device(CudaStream stream);

/// Calls call() once, in a thread of the driver, when a CUDA device has passed all work enqueued so
/// far, or has failed. call() must return soon and not use CUDA: later work on the device waits for
/// it. Throws Kind::device.
void notify_when_passed(Device& device, std::function<void()> call);

}  // namespace cudavision
