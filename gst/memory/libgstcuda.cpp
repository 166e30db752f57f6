// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/memory/libgstcuda.h"

#include <dlfcn.h>
#include <gst/cuda/cuda-gst.h>
#include <gst/cuda/gstcudabufferpool.h>
#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>

#include <algorithm>
#include <limits>
#include <map>

#include "gst/core/scoped.h"

namespace cudavision {
namespace {

GstCudaContext* native(const CudaContext& context) {
  return reinterpret_cast<GstCudaContext*>(context.object());
}

std::string error_text(CUresult result) {
  const char* name = nullptr;
  const char* text = nullptr;
  CuGetErrorName(result, &name);
  CuGetErrorString(result, &text);
  return std::string(name ? name : "unknown error") + ", " + (text ? text : "");
}

void check(CUresult result, const char* what) {
  if (result != CUDA_SUCCESS)
    throw Error(
        result == CUDA_ERROR_OUT_OF_MEMORY ? Error::Kind::out_of_memory : Error::Kind::device,
        std::string(what) + " failed: " + error_text(result));
}

// Call this before any other function of libgstcuda. Registers the allocator of libgstcuda's pools.
bool load_driver() {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (!gst_cuda_load_library())
    return false;
  gst_cuda_memory_init_once();
  return true;
}

CudaContext owned(GstCudaContext* context) {
  CudaContext result(GST_OBJECT_CAST(context));
  gst_clear_object(&context);
  return result;
}

// Driver functions that libgstcuda does not load.
struct PrimaryContexts {
  CUresult(CUDAAPI* retain)(CUcontext* context, CUdevice device) = nullptr;
  CUresult(CUDAAPI* release)(CUdevice device) = nullptr;
};

const PrimaryContexts* primary_contexts() {
  static const PrimaryContexts functions = [] {
    PrimaryContexts found;
    if (void* driver = dlopen("libcuda.so.1", RTLD_LAZY)) {
      found.retain =
          reinterpret_cast<decltype(found.retain)>(dlsym(driver, "cuDevicePrimaryCtxRetain"));
      found.release =
          reinterpret_cast<decltype(found.release)>(dlsym(driver, "cuDevicePrimaryCtxRelease_v2"));
    }
    return found;
  }();
  return functions.retain && functions.release ? &functions : nullptr;
}

// Retains the primary context until the last reference is released. Returns no context on failure.
CudaContext wrap_primary_context(int device_id) {
  CUdevice device = 0;
  CUcontext handle = nullptr;
  const PrimaryContexts* driver = primary_contexts();
  if (!driver || CuDeviceGet(&device, device_id) != CUDA_SUCCESS ||
      driver->retain(&handle, device) != CUDA_SUCCESS)
    return {};
  const CudaContext wrapped = owned(gst_cuda_context_new_wrapped(handle, device));
  if (!wrapped) {
    driver->release(device);
    return {};
  }
  // The qdata is freed, and the primary context released, only after the object is finalized.
  static const GQuark key = g_quark_from_static_string("cudavision-primary-context");
  g_object_set_qdata_full(
      G_OBJECT(wrapped.object()), key, GINT_TO_POINTER(device + 1),
      [](gpointer data) { primary_contexts()->release(GPOINTER_TO_INT(data) - 1); });
  return wrapped;
}

// Elements without another context share the device's primary context with the CUDA runtime, CuPy,
// PyTorch and TensorRT, because each further context would cost device memory and time slices.
CudaContext primary_context(int device_id) {
  static std::mutex mutex;
  // Never destroyed, because contexts that outlive main() clear their weak references.
  static auto& references = *new std::map<int, GWeakRef>;
  const std::lock_guard lock(mutex);
  const auto [reference, is_new] = references.try_emplace(device_id);
  if (is_new)
    g_weak_ref_init(&reference->second, nullptr);
  CudaContext context = owned(static_cast<GstCudaContext*>(g_weak_ref_get(&reference->second)));
  if (!context) {
    context = wrap_primary_context(device_id);
    g_weak_ref_set(&reference->second, context.object());
  }
  return context;
}

gboolean query_peer(GstElement* element, GstPad* pad, gpointer) {
  const OwnedQuery query(gst_query_new_context(GST_CUDA_CONTEXT_TYPE));
  GstContext* context = nullptr;
  if (gst_pad_peer_query(pad, query.get()))
    gst_query_parse_context(query.get(), &context);
  if (context)
    gst_element_set_context(element, context);
  return TRUE;
}

}  // namespace

int CudaContext::device_id() const {
  guint id = 0;
  g_object_get(object_, "cuda-device-id", &id, nullptr);
  return static_cast<int>(id);
}

CudaScope::CudaScope(const CudaContext& context) {
  if (!context)
    return;
  // gst_cuda_context_push() does not return CUDA's error.
  check(CuCtxPushCurrent(static_cast<CUcontext>(gst_cuda_context_get_handle(native(context)))),
        "Making the CUDA context current");
  pushed_ = true;
}

CudaScope::~CudaScope() {
  if (pushed_)
    gst_cuda_context_pop(nullptr);
}

CudaContext CudaContextSlot::get() const {
  const std::lock_guard lock(mutex_);
  return context_;
}

CudaContext CudaContextSlot::negotiate(GstElement* element, int device_id,
                                       const std::function<int(int devices)>& choose) {
  // Drops a context that was offered while cuda-device-id selected another device.
  if (const CudaContext offered = get();
      offered && device_id >= 0 && offered.device_id() != device_id)
    clear();
  // The element's set_context() passes each answer to offer(), which keeps the first that matches.
  if (!get())
    gst_element_foreach_src_pad(element, query_peer, nullptr);
  if (!get())
    gst_element_foreach_sink_pad(element, query_peer, nullptr);
  if (!get())
    gst_element_post_message(
        element, gst_message_new_need_context(GST_OBJECT(element), GST_CUDA_CONTEXT_TYPE));
  if (!get()) {
    int devices = 0;
    CuDeviceGetCount(&devices);
    const CudaContext primary = primary_context(device_id < 0 ? choose(devices) : device_id);
    if (primary && keep(primary))
      gst_element_post_message(
          element, gst_message_new_have_context(GST_OBJECT(element),
                                                gst_context_new_cuda_context(native(primary))));
  }
  return get();
}

void CudaContextSlot::offer(GstElement* element, GstContext* context, int device_id) {
  if (g_strcmp0(gst_context_get_context_type(context), GST_CUDA_CONTEXT_TYPE) != 0 ||
      !load_driver())
    return;
  GstCudaContext* matching = nullptr;
  gst_cuda_handle_set_context(element, context, std::max(device_id, -1), &matching);
  keep(owned(matching));
}

bool CudaContextSlot::keep(CudaContext context) {
  const std::lock_guard lock(mutex_);
  if (context_)
    return false;
  std::swap(context_, context);
  return true;
}

void CudaContextSlot::replace(const CudaContext& context) {
  CudaContext last = context;
  const std::lock_guard lock(mutex_);
  std::swap(context_, last);
}

bool handle_context_query(GstElement* element, GstQuery* query, const CudaContext& context) {
  return context && gst_cuda_handle_context_query(element, query, native(context));
}

std::string probe_cuda(int device_id) {
  if (!load_driver())
    return "there is no usable NVIDIA driver (libcuda.so.1 is missing or too old): install the "
           "current driver, or set backend=cpu.";
  int count = 0;
  CUresult result = CuInit(0);
  if (result == CUDA_SUCCESS)
    result = CuDeviceGetCount(&count);
  if (result == CUDA_SUCCESS && count == 0)
    result = CUDA_ERROR_NO_DEVICE;
  if (result != CUDA_SUCCESS)
    return "the NVIDIA driver finds no GPU that it can use (" + error_text(result) +
           "): check nvidia-smi and CUDA_VISIBLE_DEVICES, or set backend=cpu.";
  if (device_id >= count)
    return "cuda-device-id=" + std::to_string(device_id) + " is out of range: CUDA offers " +
           (count == 1 ? std::string("only GPU 0") : "GPUs 0 to " + std::to_string(count - 1)) +
           " to this process (see CUDA_VISIBLE_DEVICES); set cuda-device-id to one of them, or to "
           "-1.";
  return {};
}

CudaStream create_cuda_stream() {
  // With CU_STREAM_DEFAULT, the stream waits for libgstcuda's copies on the default stream.
  CUstream stream = nullptr;
  check(CuStreamCreate(&stream, CU_STREAM_DEFAULT), "Creating a CUDA stream");
  return stream;
}

void destroy_cuda_stream(CudaStream stream) noexcept {
  if (stream)
    CuStreamDestroy(stream);
}

bool is_cuda_memory(GstMemory* memory) {
  return gst_is_cuda_memory(memory);
}

CudaContext cuda_context_of(GstMemory* memory) {
  return CudaContext(GST_OBJECT_CAST(GST_CUDA_MEMORY_CAST(memory)->context));
}

const GstVideoInfo& cuda_memory_info(GstMemory* memory) {
  return GST_CUDA_MEMORY_CAST(memory)->info;
}

GstMapFlags cuda_map_flag() {
  return static_cast<GstMapFlags>(GST_MAP_CUDA);
}

bool can_copy_from(const CudaContext& context, const CudaContext& other) {
  return gst_cuda_context_can_access_peer(native(context), native(other));
}

void finish_default_stream(const CudaContext& context) {
  const CudaScope scope(context);
  check(CuStreamSynchronize(nullptr), "Waiting for another GPU");
}

GstBufferPool* new_libgstcuda_pool(const CudaContext& context) {
  return gst_cuda_buffer_pool_new(native(context));
}

bool is_libgstcuda_pool(GstBufferPool* pool, const CudaContext& context) {
  return GST_IS_CUDA_BUFFER_POOL(pool) && GST_CUDA_BUFFER_POOL(pool)->context == native(context);
}

void* allocate_page_locked(gsize size) noexcept {
  void* memory = nullptr;
  // libgstcuda's declaration of cuMemAllocHost takes a 32-bit size.
  if (size > std::numeric_limits<unsigned>::max() ||
      CuMemAllocHost(&memory, static_cast<unsigned>(size)) != CUDA_SUCCESS)
    return nullptr;
  return memory;
}

void free_page_locked(void* memory) noexcept {
  CuMemFreeHost(memory);
}

}  // namespace cudavision
