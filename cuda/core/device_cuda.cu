// SPDX-License-Identifier: LGPL-2.1-or-later

#include <chrono>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "cuda/core/cuda_check.h"
#include "cuda/core/device.h"

namespace cudavision {
namespace {

__global__ void probe_kernel() {}

cudaEvent_t new_event(unsigned flags) {
  cudaEvent_t event = nullptr;
  cuda_check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming | flags),
             "creating a CUDA event");
  return event;
}

/// Threads spin during short waits and sleep during long ones. The mode of a CUDA event is fixed at
/// creation, so record() chooses one of two events, based on the duration of the last wait. With an
/// H200, sleeping cost about 100 µs of CPU time, and a sleeping thread woke up to 200 µs late.
class CudaEvent final : public Event {
 public:
  explicit CudaEvent(cudaStream_t stream)
      : stream_(stream), spinning_(new_event(0)), sleeping_(new_event(cudaEventBlockingSync)) {}

  void record() override {
    // The measured duration of a sleeping wait includes the wake-up delay.
    using namespace std::chrono_literals;
    sleeps_ = last_wait_ > (sleeps_ ? 300us : 100us);
    cuda_check(cudaEventRecord(handle(), stream_), "recording a CUDA event");
  }

  bool done() override {
    const cudaError_t status = cudaEventQuery(handle());
    if (status == cudaErrorNotReady) {
      cudaGetLastError();
      return false;
    }
    cuda_check(status, "the work on the GPU");
    return true;
  }

  void wait() override {
    const auto start = std::chrono::steady_clock::now();
    cuda_check(cudaEventSynchronize(handle()), "the work on the GPU");
    last_wait_ = std::chrono::steady_clock::now() - start;
  }

  cudaEvent_t handle() const { return (sleeps_ ? sleeping_ : spinning_).get(); }

 private:
  struct Destroy {
    void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
  };
  using OwnedEvent = std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, Destroy>;

  cudaStream_t stream_;
  OwnedEvent spinning_, sleeping_;
  bool sleeps_ = false;
  std::chrono::steady_clock::duration last_wait_{};
};

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(cudaStream_t stream) : stream_(stream) {
    if (!stream)
      throw Error(
          Error::Kind::invalid_argument,
          "a CUDA device needs its own stream; pass a stream other than the default stream");
    // Without this check, an unsupported GPU would fail at the first launch.
    cudaFuncAttributes attributes;
    const cudaError_t status = cudaFuncGetAttributes(&attributes, probe_kernel);
    if (status == cudaErrorNoKernelImageForDevice || status == cudaErrorUnsupportedPtxVersion) {
      cudaGetLastError();
      throw Error(Error::Kind::invalid_argument,
                  std::string("this build has no code for the GPU in this machine (") +
                      cudaGetErrorString(status) +
                      "): rebuild with -Dcuda-archs=auto on this machine, or update the driver");
    }
    cuda_check(status, "loading the CUDA kernels");
  }

  DeviceKind kind() const noexcept override { return DeviceKind::cuda; }
  CudaStream stream() const noexcept override { return stream_; }

  Buffer page_lock(void* memory, std::size_t bytes) override {
    if (cudaHostRegister(memory, bytes, cudaHostRegisterPortable) != cudaSuccess) {
      cudaGetLastError();
      return {};
    }
    return make_buffer(memory, bytes, [](void* locked) noexcept { cudaHostUnregister(locked); });
  }

  void upload(View<const std::uint8_t> host, View<std::uint8_t> device) override {
    copy_rows(host, device, cudaMemcpyHostToDevice, "uploading a frame to the GPU");
  }
  void download(View<const std::uint8_t> device, View<std::uint8_t> host) override {
    copy_rows(device, host, cudaMemcpyDeviceToHost, "downloading a frame from the GPU");
  }
  void copy(View<const std::uint8_t> from, View<std::uint8_t> to) override {
    copy_rows(from, to, cudaMemcpyDeviceToDevice, "copying a frame on the GPU");
  }

  void fill(View<std::uint8_t> to, std::uint8_t value) override {
    if (to.width <= 0 || to.height <= 0)
      return;
    cuda_check(to.height == 1
                   ? cudaMemsetAsync(to.data, value, to.width, stream_)
                   : cudaMemset2DAsync(to.data, to.pitch, value, to.width, to.height, stream_),
               "filling GPU memory");
  }

  std::unique_ptr<Event> make_event() override { return std::make_unique<CudaEvent>(stream_); }
  void wait_event(const Event& event) override {
    cuda_check(cudaStreamWaitEvent(stream_, static_cast<const CudaEvent&>(event).handle()),
               "waiting for another CUDA stream");
  }

  void finish() override { cuda_check(cudaStreamSynchronize(stream_), "the work on the GPU"); }

 private:
  void copy_rows(View<const std::uint8_t> from, View<std::uint8_t> to, cudaMemcpyKind kind,
                 const char* what) {
    if (from.width <= 0 || from.height <= 0)
      return;
    // Copies contiguous rows as one long row, which is fastest on the copy engines.
    const bool dense = from.height == 1 || (from.pitch == from.width && to.pitch == from.width);
    const std::size_t bytes = static_cast<std::size_t>(from.width) * from.height;
    cuda_check(dense ? cudaMemcpyAsync(to.data, from.data, bytes, kind, stream_)
                     : cudaMemcpy2DAsync(to.data, to.pitch, from.data, from.pitch, from.width,
                                         from.height, kind, stream_),
               what);
  }

  Buffer do_allocate(std::size_t bytes) override {
    void* data = nullptr;
    const std::string what = "allocating " + std::to_string(bytes) + " bytes on the GPU";
    cuda_check(cudaMalloc(&data, bytes), what.c_str());
    return make_buffer(data, bytes, [](void* memory) noexcept { cudaFree(memory); });
  }

  Buffer do_allocate_host(std::size_t bytes) override {
    void* data = nullptr;
    const std::string what =
        "allocating " + std::to_string(bytes) + " bytes of page-locked host memory";
    cuda_check(cudaHostAlloc(&data, bytes, cudaHostAllocPortable), what.c_str());
    return make_buffer(data, bytes, [](void* memory) noexcept { cudaFreeHost(memory); });
  }

  cudaStream_t stream_;
};

}  // namespace

std::unique_ptr<Device> make_cuda_device(CudaStream stream) {
  return std::make_unique<CudaDevice>(stream);
}

// Not cudaLaunchHostFunc, which never calls back after an error, so that the caller would hang.
void notify_when_passed(Device& device, std::function<void()> call) {
  using Call = std::function<void()>;
  auto kept = std::make_unique<Call>(std::move(call));
  const auto callback = [](cudaStream_t, cudaError_t, void* data) {
    const std::unique_ptr<Call> passed(static_cast<Call*>(data));
    (*passed)();
  };
  cuda_check(cudaStreamAddCallback(device.stream(), callback, kept.get(), 0),
             "adding a callback to a CUDA stream");
  static_cast<void>(kept.release());
}

}  // namespace cudavision
