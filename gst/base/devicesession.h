// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "cuda/core/device.h"
#include "gst/base/properties.h"
#include "gst/memory/cudastream.h"
#include "gst/memory/framequeues.h"
#include "gst/memory/libgstcuda.h"
#include "gst/memory/pagelocks.h"

namespace cudavision {

/// Base of the settings of an element that owns a DeviceSession.
struct DeviceSettings {
  enum class Backend { automatic, cuda, cpu };
  static constexpr int any_device = -1;       ///< the pipeline's GPU, otherwise the first GPU
  static constexpr int min_load_device = -2;  ///< the pipeline's GPU, otherwise the least used GPU

  Backend backend = Backend::automatic;
  int cuda_device_id = any_device;

  bool operator==(const DeviceSettings&) const = default;
};

/// The device of a filter or an aggregator: the properties backend, cuda-device-id and
/// active-backend, the CUDA context that elements share, and the element's streams.
///
/// In change_state(), NULL to READY chooses a device, and READY to NULL drops the device. start()
/// acquires the context, and chooses again if the properties have changed. If start()
/// throws ElementError or Error, the session is not started. stop() releases the context.
class DeviceSession {
 public:
  /// The element's object lock guards the settings.
  DeviceSession(GstElement* element, const DeviceSettings& settings);
  ~DeviceSession();
  DeviceSession(const DeviceSession&) = delete;
  DeviceSession& operator=(const DeviceSession&) = delete;

  // The element's functions of the same names must call these two, which chain up to `parent`.
  GstStateChangeReturn change_state(GstStateChange transition, GstElementClass* parent);
  void set_context(GstContext* context, GstElementClass* parent);
  /// Returns false if query is not a CONTEXT query, or if there is no matching context.
  bool handle_context_query(GstQuery* query) const;

  void start();
  void stop() noexcept;

  /// Returns nullopt in state NULL.
  std::optional<DeviceKind> active_backend() const;
  bool on_cuda() const { return active_backend() == DeviceKind::cuda; }
  /// Returns true if caps may offer CUDA memory: if the element is on CUDA, or in state NULL.
  bool takes_cuda() const { return active_backend() != DeviceKind::cpu; }

  /// Thread-safe.
  bool started() const noexcept { return started_; }
  // Call the next three functions only between start() and stop().
  Device& device() const noexcept { return *compute_.device; }
  /// Returns the queues for frames. Operations run on FrameQueues::compute, which is device(). On
  /// the CPU, and with one frame in flight, all queues are device().
  FrameQueues queues(std::size_t frames_in_flight) const noexcept;
  /// Returns the queue for uploads that need not wait for earlier frames. On the CPU: device().
  Device& upload_queue() const noexcept { return upload_.device ? *upload_.device : device(); }
  /// Returns how many pipelines of the process have started elements on this GPU; 0 on the CPU.
  std::size_t pipelines_on_gpu() const;
  // On the CPU, the next three functions return an empty context, an empty stream and nullptr.
  CudaContext context() const;
  SharedStream stream() const;  ///< the stream of device()
  PageLocks* page_locks() const noexcept { return page_locks_.get(); }
  GstElement* element() const noexcept { return element_; }

  /// Returns true if the CUDA memory belongs to another context, and cuda-device-id allows the GPU
  /// of that context. Returns false for nullptr and on the CPU.
  bool should_move_to(GstMemory* memory) const;
  /// Moves to the memory's context. Everything created in the old context must have been freed.
  void move_to(GstMemory* memory);
  /// Replaces device() by a device on another stream of the context. The old device must have
  /// finished, and everything created for it must have been freed. Throws Error.
  void work_on(const SharedStream& stream);

 private:
  struct Queue {
    SharedStream stream;
    std::unique_ptr<Device> device;
  };

  void set_active(std::optional<DeviceKind> backend);
  void fall_back_to_cpu(const std::string& reason);
  void choose_device();
  void start_cuda();
  void enter_context(const CudaContext& context);

  GstElement* const element_;
  const DeviceSettings& settings_;
  CudaContextSlot slot_;
  std::atomic<bool> started_{false};
  Queue compute_;
  Queue upload_, download_;  ///< used only on CUDA
  std::unique_ptr<PageLocks> page_locks_;
  /// Registers this element as a user of the GPU until stop().
  class Presence;
  std::unique_ptr<Presence> presence_;
  DeviceSettings chosen_settings_;  ///< the settings at the last choose_device()
  /// The reasons why elements of the pipeline run on the CPU, shared by these elements.
  std::shared_ptr<std::set<std::string>> fallbacks_;

  mutable std::mutex mutex_;  ///< guards the members below; never held while calling other objects
  std::optional<DeviceKind> active_;
  CudaContext context_;
  SharedStream stream_;
};

GParamSpec* active_backend_spec();
void store_active_backend(GValue* value, std::optional<DeviceKind> backend);
inline constexpr Range<int> device_ids{DeviceSettings::min_load_device, G_MAXINT};

template <class Settings>
void add_device_properties(ElementProperties<Settings>& all,
                           DeviceSession& (*session_of)(gpointer element)) {
  using Backend = DeviceSettings::Backend;
  constexpr PropertyChange ready = PropertyChange::when_ready;
  all.template add<Backend>(
      {"backend", "Backend",
       "Where frames are processed; CUDA and the CPU give the same results, bit for bit", ready},
      &Settings::backend, "GstCudaVisionBackend",
      {{Backend::automatic, "CUDA if a GPU is usable, otherwise the CPU, with a warning", "auto"},
       {Backend::cuda, "CUDA; without a usable GPU the element does not start", "cuda"},
       {Backend::cpu, "The CPU, on all cores", "cpu"}});
  all.add({"cuda-device-id", "CUDA device ID",
           "GPU number (-1 = the GPU that the pipeline already uses, otherwise the first GPU; -2 = "
           "the GPU that the pipeline already uses, otherwise the GPU with the fewest running "
           "elements of this process)",
           ready},
          &Settings::cuda_device_id, device_ids);
  all.add(active_backend_spec(), [=](GObject* element, const Settings&, GValue* value) {
    store_active_backend(value, session_of(element).active_backend());
  });
}

/// Makes the session's CUDA context current, if there is one. The Device, and everything created
/// for it, may be used only in a DeviceScope, and freed only in a DeviceScope or ReleaseScope.
struct DeviceScope : CudaScope {
  explicit DeviceScope(const DeviceSession& session) : CudaScope(session.context()) {}
};

}  // namespace cudavision
