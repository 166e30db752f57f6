// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/fakes/fakelibgstcuda.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "gst/memory/cudastream.h"
#include "tests/check/common/fakes/fakestreams.h"

namespace {

using cudavision::CudaContext;

thread_local std::vector<GstObject*> entered;
std::set<std::pair<GstObject*, GstObject*>> peers;
int host_maps = 0;
int waits = 0;

void forget_peers(gpointer, GObject* freed) {
  auto* const context = reinterpret_cast<GstObject*>(freed);
  for (auto pair = peers.begin(); pair != peers.end();)
    pair = pair->first == context || pair->second == context ? peers.erase(pair) : std::next(pair);
}

constexpr char memory_type[] = "FakeCudaMemory";

struct FakeCudaMemory {
  GstMemory memory;
  CudaContext context;
  std::vector<guint8> bytes;
  guint8 value = 0;                         ///< value of all bytes after the default stream's work
  cudavision::CudaStream stream = nullptr;  ///< stream that the memory carries
  bool marked = false;                      ///< marked as unfinished
};
std::set<FakeCudaMemory*> unfinished;

FakeCudaMemory* fake(GstMemory* memory) {
  return reinterpret_cast<FakeCudaMemory*>(memory);
}

void finish(FakeCudaMemory* memory) {
  if (unfinished.erase(memory) > 0)
    std::fill(memory->bytes.begin(), memory->bytes.end(), memory->value);
}

// Mapping on the host downloads, after the work on the default stream and the memory's stream.
gpointer map_memory(GstMemory* memory, gsize, GstMapFlags flags) {
  FakeCudaMemory& mapped = *fake(memory);
  if (!(flags & cudavision::cuda_map_flag())) {
    ++host_maps;
    finish(&mapped);
    if (mapped.stream)
      check::finish_fake_stream(mapped.stream);
  } else if (mapped.stream && (flags & GST_MAP_WRITE)) {
    mapped.marked = true;
  }
  return fake(memory)->bytes.data();
}

struct FakeCudaAllocator {
  GstAllocator parent;
};
struct FakeCudaAllocatorClass {
  GstAllocatorClass parent_class;
};
GType fake_cuda_allocator_get_type();
G_DEFINE_TYPE(FakeCudaAllocator, fake_cuda_allocator, GST_TYPE_ALLOCATOR)

void free_memory(GstAllocator*, GstMemory* memory) {
  unfinished.erase(fake(memory));
  delete fake(memory);
}

void fake_cuda_allocator_class_init(FakeCudaAllocatorClass* klass) {
  klass->parent_class.free = free_memory;
}

void fake_cuda_allocator_init(FakeCudaAllocator* self) {
  self->parent.mem_type = memory_type;
  self->parent.mem_map = map_memory;
  self->parent.mem_unmap = [](GstMemory*) {};
  GST_OBJECT_FLAG_SET(self, GST_ALLOCATOR_FLAG_CUSTOM_ALLOC);
}

FakeCudaMemory* new_memory(const CudaContext& context, gsize bytes) {
  auto* allocator = static_cast<GstAllocator*>(
      gst_object_ref_sink(g_object_new(fake_cuda_allocator_get_type(), nullptr)));
  auto* made = new FakeCudaMemory{{}, context, std::vector<guint8>(bytes)};
  gst_memory_init(&made->memory, static_cast<GstMemoryFlags>(0), allocator, nullptr, bytes, 0, 0,
                  bytes);
  gst_object_unref(allocator);
  return made;
}

}  // namespace

namespace check {

using cudavision::CudaStream;

cudavision::CudaContext new_fake_context(int device) {
  GstObject* object = GST_OBJECT_CAST(gst_bus_new());
  g_object_set_data(G_OBJECT(object), "device", GINT_TO_POINTER(device));
  // A later context at the same address must not inherit the peer access.
  g_object_weak_ref(G_OBJECT(object), forget_peers, nullptr);
  cudavision::CudaContext context(object);
  gst_object_unref(object);
  return context;
}

GstContext* new_fake_gst_context(const CudaContext& context) {
  GstContext* made = gst_context_new("fake.cuda.context", TRUE);
  gst_structure_set(gst_context_writable_structure(made), "context", GST_TYPE_OBJECT,
                    context.object(), nullptr);
  return made;
}

int references_to(const cudavision::CudaContext& context) {
  return GST_OBJECT_REFCOUNT_VALUE(context.object());
}

GstObject* current_fake_context() {
  return entered.empty() ? nullptr : entered.back();
}

void let_copy_from(const CudaContext& context, const CudaContext& other) {
  peers.emplace(context.object(), other.object());
}

GstMemory* new_fake_cuda_memory(const CudaContext& context, gsize bytes, guint8 value) {
  FakeCudaMemory* made = new_memory(context, bytes);
  made->value = value;
  unfinished.insert(made);
  return &made->memory;
}

GstMemory* new_fake_cuda_memory(const CudaContext& context, gsize bytes, CudaStream stream) {
  FakeCudaMemory* made = new_memory(context, bytes);
  made->stream = stream;
  return &made->memory;
}

int waits_for_fake_cuda_memory() {
  return std::exchange(waits, 0);
}

int host_maps_of_fake_cuda_memory() {
  return std::exchange(host_maps, 0);
}

}  // namespace check

namespace cudavision {

int CudaContext::device_id() const {
  return GPOINTER_TO_INT(g_object_get_data(G_OBJECT(object_), "device"));
}

CudaContext CudaContextSlot::get() const {
  const std::lock_guard lock(mutex_);
  return context_;
}

CudaContext CudaContextSlot::negotiate(GstElement*, int device_id,
                                       const std::function<int(int)>& choose) {
  if (const CudaContext offered = get())
    return offered;
  const int device = device_id < 0 ? choose(check::fake_devices) : device_id;
  if (device < check::fake_usable_devices)
    replace(check::new_fake_context(device));
  return get();
}

void CudaContextSlot::offer(GstElement*, GstContext* context, int device_id) {
  GstObject* object = nullptr;
  gst_structure_get(gst_context_get_structure(context), "context", GST_TYPE_OBJECT, &object,
                    nullptr);
  const CudaContext offered(object);
  gst_object_unref(object);
  if (device_id < 0 || device_id == offered.device_id())
    replace(offered);
}

void CudaContextSlot::replace(const CudaContext& context) {
  const std::lock_guard lock(mutex_);
  context_ = context;
}

bool handle_context_query(GstElement*, GstQuery*, const CudaContext&) {
  return false;
}

std::string probe_cuda(int device_id) {
  return device_id < check::fake_devices ? "" : "there is no such fake device";
}

CudaScope::CudaScope(const CudaContext& context) {
  if (!context)
    return;
  entered.push_back(context.object());
  pushed_ = true;
}

CudaScope::~CudaScope() {
  if (pushed_)
    entered.pop_back();
}

bool is_cuda_memory(GstMemory* memory) {
  return gst_memory_is_type(memory, memory_type);
}

CudaContext cuda_context_of(GstMemory* memory) {
  return fake(memory)->context;
}

bool can_copy_from(const CudaContext& context, const CudaContext& other) {
  return peers.count({context.object(), other.object()}) > 0;
}

void finish_default_stream(const CudaContext& context) {
  for (FakeCudaMemory* memory : std::set<FakeCudaMemory*>(unfinished))
    if (memory->context == context)
      finish(memory);
}

const GstVideoInfo& cuda_memory_info(GstMemory*) {
  throw Error(Error::Kind::device, "The fake libgstcuda has no such memory.");
}

GstMapFlags cuda_map_flag() {
  return static_cast<GstMapFlags>(GST_MAP_FLAG_LAST << 1);
}

CudaStream stream_of_cuda_memory(GstMemory* memory) {
  return fake(memory)->stream;
}

void mark_unfinished(GstMemory* memory) {
  if (fake(memory)->stream)
    fake(memory)->marked = true;
}

void mark_finished(GstMemory* memory) {
  fake(memory)->marked = false;
}

bool is_marked_unfinished(GstMemory* memory) {
  return fake(memory)->marked;
}

void synchronize_cuda_memory(GstMemory* memory) {
  if (!std::exchange(fake(memory)->marked, false))
    return;
  ++waits;
  check::finish_fake_stream(fake(memory)->stream);
}

void* allocate_page_locked(gsize) noexcept {
  return nullptr;
}

void free_page_locked(void*) noexcept {}

}  // namespace cudavision
