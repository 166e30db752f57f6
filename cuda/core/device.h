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

/// Equals cudaStream_t, declared here so that no CUDA header is needed.
using CudaStream = ::CUstream_st*;

class Device;

/// Owns device memory, host memory, or the lock that page_lock() sets. The destructor frees the
/// memory or unlocks it; for a CUDA device, the context of the allocation must then be current.
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

/// A position in the work queue of a device. record() marks the end of the work enqueued so far.
class Event {
 public:
  virtual ~Event() = default;
  virtual void record() = 0;
  virtual bool done() = 0;  ///< whether the device has passed the last record(); never waits
  virtual void wait() = 0;  ///< blocks the calling thread until done() is true
};

/// The device that operations run on. A device executes its work queue in order. On a CUDA device,
/// work may still be running when a call returns, except after finish() and Event::wait(). On the
/// CPU device, the work is done when a call returns. Only one thread at a time may use a device.
///
/// The CUDA device works in the CUDA context that is current to the calling thread. Push the same
/// context before each call of the device or of its operations, including destructors.
class Device {
 public:
  virtual ~Device() = default;

  virtual DeviceKind kind() const noexcept = 0;
  /// The stream for kernel launches. nullptr on the CPU device.
  virtual CudaStream stream() const noexcept { return nullptr; }

  /// Allocates device memory, aligned to 256 bytes, with undefined contents. Throws out_of_memory.
  Buffer allocate(std::size_t bytes) { return do_allocate(bytes ? bytes : 1); }
  /// Allocates host memory, aligned to 64 bytes, and page-locked for CUDA. Throws out_of_memory.
  Buffer allocate_host(std::size_t bytes) { return do_allocate_host(bytes ? bytes : 1); }

  /// Page-locks host memory of another owner, for transfers at full speed. The
  /// destructor of the Buffer unlocks the memory, and must run before the owner frees it. Returns
  /// an empty Buffer on the CPU device and if the memory cannot be locked.
  virtual Buffer page_lock(void* memory, std::size_t bytes) = 0;

  /// upload(), download() and copy() copy between views of equal size. Host memory must stay valid
  /// and unchanged until the copy is complete. If it is not page-locked, the call may block.
  virtual void upload(View<const std::uint8_t> host, View<std::uint8_t> device) = 0;
  virtual void download(View<const std::uint8_t> device, View<std::uint8_t> host) = 0;
  virtual void copy(View<const std::uint8_t> from, View<std::uint8_t> to) = 0;
  virtual void fill(View<std::uint8_t> to, std::uint8_t value) = 0;

  virtual std::unique_ptr<Event> make_event() = 0;
  /// Makes later work wait for the last record() of an event of this device, or of another device
  /// of the same context. Does not block the caller.
  virtual void wait_event(const Event& event) = 0;

  /// Waits until all enqueued work is complete. Throws Kind::device if any of it failed.
  virtual void finish() = 0;

 protected:
  static Buffer make_buffer(void* data, std::size_t size, Buffer::Free free) {
    return Buffer(data, size, free);
  }
  // bytes is at least 1, so that data() of an allocated buffer is never null.
  virtual Buffer do_allocate(std::size_t bytes) = 0;
  virtual Buffer do_allocate_host(std::size_t bytes) = 0;
};

/// The CPU device uses the process-wide TBB pool, with one thread per core.
std::unique_ptr<Device> make_cpu_device();

constexpr bool built_with_cuda() noexcept {
  return CUDAVISION_BUILT_WITH_CUDA;
}

/// stream must belong to the context that is current to the calling thread, and must outlive the
/// device. Throws invalid_argument for the default stream (nullptr), and if the build has no CUDA
/// kernels or none for this GPU.
std::unique_ptr<Device> make_cuda_device(CudaStream stream);

/// Calls call() once, in a thread of the driver, when a CUDA device has completed all work enqueued
/// so far, or has failed. Later work on the device waits for call(), which must return soon and
/// must not use CUDA. Throws Kind::device.
void notify_when_passed(Device& device, std::function<void()> call);

}  // namespace cudavision
