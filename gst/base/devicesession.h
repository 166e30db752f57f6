// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "cuda/core/device.h"
#include "gst/memory/libgstcuda.h"

namespace cudavision {

class DeviceScope;

/// Which device an element computes on: the properties backend, cuda-device-id and active-backend,
/// the CUDA context that it shares with its neighbours, and in it the stream and the Device. Knows
/// only of GstElement, so that any kind of element can own one.
///
/// Life: open() in NULL→READY looks for a device, start() takes the context (and looks again where
/// the properties have changed since), stop() gives it back, close() in READY→NULL forgets the
/// choice. They throw ElementError or Error and leave nothing half done.
class DeviceSession {
 public:
  explicit DeviceSession(GstElement* element) : element_(element) {}

  enum Property { property_backend, property_cuda_device_id, property_active_backend };
  static constexpr guint property_count = 3;
  /// Installs the properties under the ids first_id + Property.
  static void install_properties(GObjectClass* klass, guint first_id);
  void set_property(Property property, const GValue* value);
  void get_property(Property property, GValue* value) const;

  void open();
  void start();
  void stop() noexcept;
  void close();

  /// The choice that open() made; nullopt before it.
  std::optional<DeviceKind> active_backend() const;
  bool on_cuda() const { return active_backend() == DeviceKind::cuda; }

  /// Between start() and stop().
  Device& device() const noexcept { return *device_; }
  bool started() const noexcept { return device_ != nullptr; }
  /// The context in use; none on the CPU.
  CudaContext context() const;

  /// Whether memory lies in a context other than ours that we may move to.
  bool should_move_to(GstMemory* memory) const;
  /// Moves to that memory's context. All that was made in the old one must be gone.
  void move_to(GstMemory* memory);

  /// For the element's set_context() and CONTEXT query.
  void set_context(GstContext* context);
  bool answer(GstQuery* query) const;

 private:
  enum class Choice { automatic, cuda, cpu };

  /// What the properties ask for.
  struct Wish {
    Choice choice = Choice::automatic;
    int device_id = -1;
    bool operator==(const Wish& other) const {
      return choice == other.choice && device_id == other.device_id;
    }
  };

  Wish wish() const;
  void set_active(std::optional<DeviceKind> backend);
  void use_cpu_because(const std::string& reason);
  void start_cuda();
  void enter_context(const CudaContext& context);

  GstElement* const element_;
  CudaContextSlot slot_;
  std::unique_ptr<Device> device_;
  CudaStream stream_ = nullptr;
  Wish opened_;  ///< what open() went by

  mutable std::mutex mutex_;  ///< over what follows; no call leaves this object while it is held
  Wish wish_;
  std::optional<DeviceKind> active_;
  CudaContext context_;
};

/// Makes the session's CUDA context, if it has one, current while it lives. Every call of the
/// Device and of what was made for it happens inside one.
class DeviceScope {
 public:
  explicit DeviceScope(const DeviceSession& session) : scope_(session.context()) {}

 private:
  CudaScope scope_;
};

}  // namespace cudavision
