// SPDX-License-Identifier: LGPL-2.1-or-later
#include <memory>
#include <utility>

#include "cuda/core/cuda_check.h"
#include "cuda/core/notify.h"

namespace cudavision {

// cudaLaunchHostFunc would not call back after an error, and the waiting thread would hang.
void notify_when_passed(Device& device, std::function<void()> call) {
  using Call = std::function<void()>;
  auto kept = std::make_unique<Call>(std::move(call));
  const auto callback = [](cudaStream_t, cudaError_t, void* data) {
    const std::unique_ptr<Call> passed(static_cast<Call*>(data));
    (*passed)();
  };
  cuda_check(cudaStreamAddCallback(device.stream(), callback, kept.get(), 0),
             "asking the GPU for a notice");
  static_cast<void>(kept.release());
}

}  // namespace cudavision
