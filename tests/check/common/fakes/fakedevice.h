// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "cuda/core/device.h"

namespace check {

struct FakeTransfers {
  int locks = 0;         ///< number of page locks
  int failed_locks = 0;  ///< failed attempts to page-lock memory
  int unlocks = 0;
  int locked_now = 0;  ///< kept by reset_fake_transfers()
  int direct = 0;      ///< transfers of page-locked foreign memory
  int staged = 0;      ///< transfers through the device's own memory
  int pageable = 0;    ///< transfers of any other memory
  int copies = 0;      ///< copies on the device
};

/// Returns the counts since the last reset_fake_transfers().
FakeTransfers fake_transfers();
void reset_fake_transfers();
void fail_page_locks(bool fail);

/// Returns true if all samples of a plane in host memory have this value.
bool all_are(cudavision::View<const std::uint8_t> plane, std::uint8_t value);

/// A synchronous CUDA device on the CPU. Work without a current context and page locks of
/// partial pages fail the test. Overlapping page locks return an empty Buffer, as on a GPU.
class FakeDevice final : public cudavision::Device {
 public:
  cudavision::DeviceKind kind() const noexcept override { return cudavision::DeviceKind::cuda; }
  cudavision::Buffer page_lock(void* memory, std::size_t bytes) override;
  void upload(cudavision::View<const std::uint8_t> host,
              cudavision::View<std::uint8_t> device) override;
  void download(cudavision::View<const std::uint8_t> device,
                cudavision::View<std::uint8_t> host) override;
  void copy(cudavision::View<const std::uint8_t> from, cudavision::View<std::uint8_t> to) override;
  void fill(cudavision::View<std::uint8_t> to, std::uint8_t value) override;
  std::unique_ptr<cudavision::Event> make_event() override;
  void wait_event(const cudavision::Event& event) override;
  void finish() override {}

 private:
  cudavision::Buffer do_allocate(std::size_t bytes) override;
  cudavision::Buffer do_allocate_host(std::size_t bytes) override;
};

}  // namespace check
