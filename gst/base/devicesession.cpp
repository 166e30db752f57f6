// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/devicesession.h"

#include <algorithm>
#include <map>

#include "gst/core/elementerror.h"

GST_DEBUG_CATEGORY_STATIC(device_session_debug);
#define GST_CAT_DEFAULT device_session_debug

namespace cudavision {
namespace {

using Fallbacks = std::set<std::string>;

/// The values of active-backend.
enum class Active { none, cpu, cuda };

// Returns the outermost bin, or the element if it is in no bin.
ObjectPtr<GstObject> pipeline_of(GstElement* element) {
  ObjectPtr<GstObject> outermost(GST_OBJECT_CAST(gst_object_ref(element)));
  while (GstObject* parent = gst_object_get_parent(outermost.get()))
    outermost.reset(parent);
  return outermost;
}

// Returns the pipeline's reasons to use the CPU. Only the elements on the CPU own this set.
std::shared_ptr<Fallbacks> fallbacks_of(GObject* pipeline) {
  using Reference = std::weak_ptr<Fallbacks>;
  static const GQuark key = g_quark_from_static_string("cudavision-fallbacks");
  auto* reference = static_cast<Reference*>(g_object_get_qdata(pipeline, key));
  if (!reference) {
    reference = new Reference;
    g_object_set_qdata_full(pipeline, key, reference,
                            [](gpointer data) { delete static_cast<Reference*>(data); });
  }
  std::shared_ptr<Fallbacks> fallbacks = reference->lock();
  if (!fallbacks)
    *reference = fallbacks = std::make_shared<Fallbacks>();
  return fallbacks;
}

// Returns the remedy that ends the message about an error in start(). The text of an error of the
// kind invalid_argument already has one remedy.
std::string remedy_at_start(Error::Kind kind) {
  if (kind == Error::Kind::invalid_argument)
    return ", or set backend=cpu.";
  if (kind == Error::Kind::out_of_memory)
    return ". Free GPU memory (see nvidia-smi), or set backend=cpu.";
  return ". If CUDA has worked in this program, restart the program; otherwise check nvidia-smi "
         "and dmesg, or set backend=cpu.";
}

}  // namespace

class DeviceSession::Presence {
 public:
  /// With min_load_device, chooses the GPU with the fewest elements among the first `devices` GPUs.
  Presence(GstElement* element, int device_id, int devices = 0) {
    const void* const pipeline = pipeline_of(element).get();
    const std::lock_guard lock(mutex_);
    key_ = {device_id == DeviceSettings::min_load_device ? min_load_device_of(devices) : device_id,
            pipeline};
    ++elements_[key_];
  }
  ~Presence() {
    const std::lock_guard lock(mutex_);
    if (--elements_[key_] == 0)
      elements_.erase(key_);
  }
  Presence(const Presence&) = delete;
  Presence& operator=(const Presence&) = delete;

  int device_id() const { return key_.first; }
  std::size_t pipelines() const {
    const std::lock_guard lock(mutex_);
    return static_cast<std::size_t>(
        std::count_if(elements_.begin(), elements_.end(),
                      [this](const auto& entry) { return entry.first.first == key_.first; }));
  }

 private:
  static int min_load_device_of(int devices) {
    std::map<int, int> counts;
    for (const auto& [key, count] : elements_)
      counts[key.first] += count;
    int chosen = 0;
    for (int device = 1; device < devices; ++device)
      if (counts[device] < counts[chosen])
        chosen = device;
    return chosen;
  }

  /// A GPU's number and a pipeline's address, which is only compared and never dereferenced.
  using Key = std::pair<int, const void*>;
  static inline std::mutex mutex_;
  static inline std::map<Key, int> elements_;  ///< guarded by mutex_

  Key key_;
};

DeviceSession::DeviceSession(GstElement* element, const DeviceSettings& settings)
    : element_(element), settings_(settings) {}

DeviceSession::~DeviceSession() = default;

std::optional<DeviceKind> DeviceSession::active_backend() const {
  const std::lock_guard lock(mutex_);
  return active_;
}

CudaContext DeviceSession::context() const {
  const std::lock_guard lock(mutex_);
  return context_;
}

SharedStream DeviceSession::stream() const {
  const std::lock_guard lock(mutex_);
  return stream_;
}

void DeviceSession::set_active(std::optional<DeviceKind> backend) {
  {
    const std::lock_guard lock(mutex_);
    if (active_ == backend)
      return;
    active_ = backend;
  }
  g_object_notify(G_OBJECT(element_), "active-backend");
}

// Throws ElementError if backend=cuda. Posts a reason only if fallbacks_ does not contain it yet.
void DeviceSession::fall_back_to_cpu(const std::string& reason) {
  if (chosen_settings_.backend != DeviceSettings::Backend::automatic)
    throw ElementError(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
                       "backend=cuda is not possible: " + reason);
  set_active(DeviceKind::cpu);
  GST_INFO_OBJECT(element_, "on the CPU: %s", reason.c_str());
  bool first_report = false;
  {
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    const ObjectPtr<GstObject> pipeline = pipeline_of(element_);
    fallbacks_ = fallbacks_of(G_OBJECT(pipeline.get()));
    first_report = fallbacks_->insert(reason).second;
  }
  if (first_report)
    post_warning(element_, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
                 "Frames are processed on the CPU: " + reason);
}

void DeviceSession::choose_device() {
  fallbacks_.reset();
  chosen_settings_ = current_settings(element_, settings_);
  SettingsGuard().require(
      number_error("cuda-device-id", chosen_settings_.cuda_device_id, device_ids));
  if (chosen_settings_.backend == DeviceSettings::Backend::cpu) {
    set_active(DeviceKind::cpu);
    return;
  }
  const std::string obstacle = probe_cuda(chosen_settings_.cuda_device_id);
  if (obstacle.empty())
    set_active(DeviceKind::cuda);
  else
    fall_back_to_cpu(obstacle);
}

GstStateChangeReturn DeviceSession::change_state(GstStateChange transition,
                                                 GstElementClass* parent) {
  if (transition == GST_STATE_CHANGE_NULL_TO_READY) {
    const bool chosen = post_exceptions(element_, false, [&] {
      choose_device();
      return true;
    });
    if (!chosen)
      return GST_STATE_CHANGE_FAILURE;
  }
  const GstStateChangeReturn result = parent->change_state(element_, transition);
  if (transition == GST_STATE_CHANGE_READY_TO_NULL ||
      (transition == GST_STATE_CHANGE_NULL_TO_READY && result == GST_STATE_CHANGE_FAILURE)) {
    fallbacks_.reset();
    set_active(std::nullopt);
  }
  return result;
}

void DeviceSession::start() {
  if (chosen_settings_ != current_settings(element_, settings_))
    choose_device();
  if (on_cuda()) {
    try {
      start_cuda();
    } catch (const Error& e) {
      fall_back_to_cpu(e.what() + remedy_at_start(e.kind()));
    } catch (const ElementError& e) {
      fall_back_to_cpu(e.what());
    }
  }
  if (!compute_.device)
    compute_.device = make_cpu_device();
  started_ = true;
}

FrameQueues DeviceSession::queues(std::size_t frames_in_flight) const noexcept {
  if (frames_in_flight <= 1 || !upload_.device)
    return FrameQueues(device());
  return {*upload_.device, device(), *download_.device};
}

void DeviceSession::start_cuda() {
  const int wanted = chosen_settings_.cuda_device_id;
  const CudaContext context = slot_.negotiate(element_, wanted, [&](int devices) {
    // Registers this element now, because other elements may be choosing a GPU at the same time.
    presence_.reset(
        new Presence(element_, wanted == DeviceSettings::any_device ? 0 : wanted, devices));
    return presence_->device_id();
  });
  if (!context) {
    const std::string gpu = presence_ ? "GPU " + std::to_string(presence_->device_id()) : "the GPU";
    presence_.reset();
    throw ElementError(
        GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
        "cannot create a CUDA context on " + gpu +
            ": its memory may be full, or another process may hold the GPU exclusively (see "
            "nvidia-smi). Free the GPU, choose another with cuda-device-id, or set backend=cpu.");
  }
  enter_context(context);
  GST_INFO_OBJECT(element_, "using GPU %d", context.device_id());
}

void DeviceSession::enter_context(const CudaContext& context) {
  {
    const std::lock_guard lock(mutex_);
    context_ = context;
  }
  try {
    const DeviceScope scope(*this);
    for (Queue* queue : {&compute_, &upload_, &download_}) {
      queue->stream = SharedStream(context);
      queue->device = make_cuda_device(queue->stream.handle());
    }
    page_locks_ = std::make_unique<PageLocks>(*upload_.device, context);
    if (!presence_ || presence_->device_id() != context.device_id())
      presence_.reset(new Presence(element_, context.device_id()));
    const std::lock_guard lock(mutex_);
    stream_ = compute_.stream;
  } catch (...) {
    stop();
    throw;
  }
}

std::size_t DeviceSession::pipelines_on_gpu() const {
  return presence_ ? presence_->pipelines() : 0;
}

void DeviceSession::stop() noexcept {
  started_ = false;
  {
    const ReleaseScope scope(context());
    page_locks_.reset();
    for (Queue* queue : {&compute_, &upload_, &download_}) {
      queue->device.reset();
      queue->stream = SharedStream();
    }
  }
  presence_.reset();
  CudaContext last;
  SharedStream last_stream;
  {
    const std::lock_guard lock(mutex_);
    std::swap(last, context_);
    std::swap(last_stream, stream_);
  }
  slot_.clear();
}

bool DeviceSession::should_move_to(GstMemory* memory) const {
  if (!on_cuda() || !memory)
    return false;
  const CudaContext other = cuda_context_of(memory);
  return !(other == context()) && (chosen_settings_.cuda_device_id < 0 ||
                                   chosen_settings_.cuda_device_id == other.device_id());
}

void DeviceSession::move_to(GstMemory* memory) {
  const CudaContext next = cuda_context_of(memory);
  GST_INFO_OBJECT(element_, "moving to the CUDA context %" GST_PTR_FORMAT " of the frames",
                  next.object());
  stop();
  slot_.replace(next);
  enter_context(next);
  started_ = true;
}

void DeviceSession::work_on(const SharedStream& stream) {
  const DeviceScope scope(*this);
  compute_.device = make_cuda_device(stream.handle());
  compute_.stream = stream;
  const std::lock_guard lock(mutex_);
  stream_ = stream;
}

void DeviceSession::set_context(GstContext* context, GstElementClass* parent) {
  post_exceptions(element_, false, [&] {
    if (context)
      slot_.offer(element_, context, current_settings(element_, settings_).cuda_device_id);
    return true;
  });
  parent->set_context(element_, context);
}

bool DeviceSession::handle_context_query(GstQuery* query) const {
  return GST_QUERY_TYPE(query) == GST_QUERY_CONTEXT &&
         cudavision::handle_context_query(element_, query, context());
}

GParamSpec* active_backend_spec() {
  GST_DEBUG_CATEGORY_INIT(device_session_debug, "cudavisiondevice", 0,
                          "Choice and context of the cudavision elements' device");
  const GType type = register_enum(
      "GstCudaVisionActiveBackend",
      {EnumValue{Active::none, "Not decided yet (state NULL)", "none"},
       EnumValue{Active::cpu, "The CPU", "cpu"}, EnumValue{Active::cuda, "CUDA", "cuda"}});
  return g_param_spec_enum("active-backend", "Active backend", "Where frames are processed now",
                           type, static_cast<gint>(Active::none),
                           static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}

void store_active_backend(GValue* value, std::optional<DeviceKind> backend) {
  const Active active = !backend                      ? Active::none
                        : *backend == DeviceKind::cpu ? Active::cpu
                                                      : Active::cuda;
  g_value_set_enum(value, static_cast<gint>(active));
}

}  // namespace cudavision
