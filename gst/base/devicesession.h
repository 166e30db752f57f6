// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

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

/// The settings of an element that owns a DeviceSession derive from this.
struct DeviceSettings {
  enum class Backend { automatic, cuda, cpu };
  static constexpr int any_device = -1;       ///< the pipeline's context, else the first GPU
  static constexpr int min_load_device = -2;  ///< the pipeline's context, else the least used GPU

  Backend backend = Backend::automatic;
  int cuda_device_id = any_device;

  bool operator==(const DeviceSettings&) const = default;
};

/// The device on which an element computes: the properties backend, cuda-device-id and
/// active-backend, the CUDA context that it shares with its neighbours, and the streams and the
/// Devices in that context. It requires only a GstElement, so filters and aggregators can own one.
///
/// Lifetime: change_state() chooses a device on the way from NULL to READY and forgets the choice
/// on the way back. start() takes the context, and chooses again if the properties have changed
/// since; stop() returns it. start() throws ElementError or Error and then leaves nothing half
/// done.
class DeviceSession {
 public:
  /// The element's object lock guards the settings.
  DeviceSession(GstElement* element, const DeviceSettings& settings);
  ~DeviceSession();
  DeviceSession(const DeviceSession&) = delete;
  DeviceSession& operator=(const DeviceSession&) = delete;

  /// GstElementClass.change_state and .set_context of the element. They chain up to parent.
  GstStateChangeReturn change_state(GstStateChange transition, GstElementClass* parent);
  void set_context(GstContext* context, GstElementClass* parent);
  /// Answers query if it is a CONTEXT query and there is a context to answer with.
  bool handle_context_query(GstQuery* query) const;

  void start();
  void stop() noexcept;

  /// Returns the kind of the device that was chosen; nullopt in state NULL.
  std::optional<DeviceKind> active_backend() const;
  bool on_cuda() const { return active_backend() == DeviceKind::cuda; }
  /// Returns true if caps may offer CUDA memory, which they also may while no device has been
  /// chosen.
  bool takes_cuda() const { return active_backend() != DeviceKind::cpu; }

  /// Valid between start() and stop().
  Device& device() const noexcept { return *compute_.device; }
  /// Returns the queues for frames of which this many may be in flight: those of several overlap.
  /// Operations run on device(), which is the one for kernels. On the CPU, and for single frames,
  /// all three are device().
  FrameQueues queues(std::size_t frames_in_flight) const noexcept;
  /// Returns the queue for what the host must know of a frame that arrives, which does not wait for
  /// the work on earlier frames: the one for uploads, or device() on the CPU.
  Device& arrivals() const noexcept { return upload_.device ? *upload_.device : device(); }
  /// Returns how many pipelines of the process have started elements on this GPU.
  std::size_t pipelines_on_gpu() const;
  bool started() const noexcept { return compute_.device != nullptr; }
  /// Returns the context in use; none on the CPU.
  CudaContext context() const;
  /// Returns the stream of the device; none on the CPU.
  SharedStream stream() const;
  /// Returns the page locks of that context; nullptr on the CPU. They go with stop().
  PageLocks* page_locks() const noexcept { return page_locks_.get(); }
  GstElement* element() const noexcept { return element_; }

  /// True if CUDA memory lies in another context, to which the properties allow the element to
  /// move. False for nullptr.
  bool should_move_to(GstMemory* memory) const;
  /// Moves to that memory's context. Everything that was made in the old context must have been
  /// freed.
  void move_to(GstMemory* memory);
  /// Makes a device() that works on another stream of the context. All work on the old one must be
  /// done, and everything that was made for it must have been freed. Throws Error.
  void work_on(const SharedStream& stream);

 private:
  /// A device that works on a stream of its own. On the CPU it has none.
  struct Queue {
    SharedStream stream;
    std::unique_ptr<Device> device;
  };

  DeviceSettings wanted_settings() const { return current_settings(element_, settings_); }
  void set_active(std::optional<DeviceKind> backend);
  void fall_back_to_cpu(const std::string& reason);
  void choose_device();
  void start_cuda();
  void enter_context(const CudaContext& context);

  GstElement* const element_;
  const DeviceSettings& settings_;
  CudaContextSlot slot_;
  Queue compute_;
  Queue upload_, download_;  ///< only on CUDA
  std::unique_ptr<PageLocks> page_locks_;
  /// Counts this element on its GPU from the choice of the GPU to stop().
  class Presence;
  std::unique_ptr<Presence> presence_;
  DeviceSettings chosen_settings_;  ///< those by which choose_device() chose
  /// Shared with the other elements of the pipeline that have fallen back to the CPU.
  std::shared_ptr<std::set<std::string>> fallbacks_;

  mutable std::mutex mutex_;  ///< guards what follows; never held while calling other objects
  std::optional<DeviceKind> active_;
  CudaContext context_;
  SharedStream stream_;
};

GParamSpec* active_backend_spec();
void store_active_backend(GValue* value, std::optional<DeviceKind> backend);
inline constexpr Range<int> device_ids{DeviceSettings::min_load_device, G_MAXINT};

/// session_of: returns the session of an element.
template <class Settings>
void add_device_properties(ElementProperties<Settings>& all,
                           DeviceSession& (*session_of)(gpointer element)) {
  using Backend = DeviceSettings::Backend;
  constexpr PropertyChange ready = PropertyChange::when_ready;
  all.template add<Backend>(
      {"backend", "Backend",
       "Where frames are processed; CUDA and the CPU give the same results, bit for bit", ready},
      &Settings::backend, "GstCudaVisionBackend",
      {{Backend::automatic, "CUDA if there is a usable GPU, else the CPU, with a warning", "auto"},
       {Backend::cuda, "CUDA; without a usable GPU the element does not start", "cuda"},
       {Backend::cpu, "The CPU, on all cores", "cpu"}});
  all.add({"cuda-device-id", "CUDA device ID",
           "Number of the GPU (-1 = the one that the pipeline already uses, else the first; -2 = "
           "the one that the pipeline already uses, else the one with the fewest running elements "
           "of this process)",
           ready},
          &Settings::cuda_device_id, device_ids);
  all.add(active_backend_spec(), [=](GObject* element, const Settings&, GValue* value) {
    store_active_backend(value, session_of(element).active_backend());
  });
}

/// Makes the session's CUDA context, if it has one, current while it lives. The Device, and all
/// that was made for it, may only be used inside such a scope, and freed in a ReleaseScope.
class DeviceScope {
 public:
  explicit DeviceScope(const DeviceSession& session) : scope_(session.context()) {}

 private:
  CudaScope scope_;
};

}  // namespace cudavision
