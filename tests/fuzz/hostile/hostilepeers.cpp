// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/fuzz/hostile/hostilepeers.h"

#include <gst/video/video.h>

#include "tests/fuzz/actions.h"

namespace fuzz {

using namespace check;

namespace {

// Thread-safe, because it uses GLib's global random numbers.
bool one_in(guint32 n) {
  return g_random_int() % n == 0;
}

struct UnreliableMemory {
  GstMemory base;
  gpointer data;
};

UnreliableMemory* unreliable(GstMemory* memory) {
  return reinterpret_cast<UnreliableMemory*>(memory);
}

GstMemory* allocate(GstAllocator* allocator, gsize size, GstAllocationParams* params) {
  if (one_in(8))
    return nullptr;
  const gsize prefix = params != nullptr ? params->prefix : 0;
  const gsize padding = params != nullptr ? params->padding : 0;
  const gsize whole = prefix + size + padding;
  auto* const memory = g_new0(UnreliableMemory, 1);
  gst_memory_init(&memory->base, GST_MEMORY_FLAG_NO_SHARE, allocator, nullptr, whole, 0, prefix,
                  size);
  memory->data = g_malloc0(whole + 1);
  return &memory->base;
}

void release(GstAllocator*, GstMemory* memory) {
  g_free(unreliable(memory)->data);
  g_free(memory);
}

gpointer map(GstMemory* memory, gsize, GstMapFlags) {
  return one_in(16) ? nullptr : unreliable(memory)->data;
}

void unmap(GstMemory*) {}

struct UnreliableAllocator {
  GstAllocator base;
};
struct UnreliableAllocatorClass {
  GstAllocatorClass base;
};
G_DEFINE_TYPE(UnreliableAllocator, unreliable_allocator, GST_TYPE_ALLOCATOR)

void unreliable_allocator_class_init(UnreliableAllocatorClass* klass) {
  klass->base.alloc = allocate;
  klass->base.free = release;
}

void unreliable_allocator_init(UnreliableAllocator* self) {
  self->base.mem_type = "fuzz-unreliable";
  self->base.mem_map = map;
  self->base.mem_unmap = unmap;
  GST_OBJECT_FLAG_SET(self, GST_ALLOCATOR_FLAG_CUSTOM_ALLOC);
}

Owned<GstAllocator> new_allocator() {
  return Owned<GstAllocator>(
      GST_ALLOCATOR(gst_object_ref_sink(g_object_new(unreliable_allocator_get_type(), nullptr))));
}

struct UnreliablePool {
  GstBufferPool base;
};
struct UnreliablePoolClass {
  GstBufferPoolClass base;
};
G_DEFINE_TYPE(UnreliablePool, unreliable_pool, GST_TYPE_BUFFER_POOL)

gboolean set_config(GstBufferPool* pool, GstStructure* config) {
  const gboolean set =
      GST_BUFFER_POOL_CLASS(unreliable_pool_parent_class)->set_config(pool, config);
  return set && !one_in(8);
}

gboolean start(GstBufferPool* pool) {
  return !one_in(8) && GST_BUFFER_POOL_CLASS(unreliable_pool_parent_class)->start(pool);
}

GstFlowReturn allocate_buffer(GstBufferPool* pool, GstBuffer** buffer,
                              GstBufferPoolAcquireParams* params) {
  if (one_in(8))
    return GST_FLOW_ERROR;
  const GstFlowReturn flow =
      GST_BUFFER_POOL_CLASS(unreliable_pool_parent_class)->alloc_buffer(pool, buffer, params);
  if (flow == GST_FLOW_OK && *buffer != nullptr && one_in(8))
    gst_buffer_set_size(*buffer, static_cast<gssize>(gst_buffer_get_size(*buffer) / 2));
  return flow;
}

GstFlowReturn acquire_buffer(GstBufferPool* pool, GstBuffer** buffer,
                             GstBufferPoolAcquireParams* params) {
  return one_in(8) ? GST_FLOW_ERROR
                   : GST_BUFFER_POOL_CLASS(unreliable_pool_parent_class)
                         ->acquire_buffer(pool, buffer, params);
}

void unreliable_pool_class_init(UnreliablePoolClass* klass) {
  klass->base.set_config = set_config;
  klass->base.start = start;
  klass->base.alloc_buffer = allocate_buffer;
  klass->base.acquire_buffer = acquire_buffer;
}

void unreliable_pool_init(UnreliablePool*) {}

}  // namespace

void offer_failing_pools(GstQuery* query) {
  GstCaps* caps = nullptr;
  gst_query_parse_allocation(query, &caps, nullptr);
  GstVideoInfo info;
  const bool video = caps != nullptr && gst_video_info_from_caps(&info, caps);
  const guint right_size = video ? static_cast<guint>(info.size) : 4096;
  if (!one_in(3)) {
    const Owned<GstAllocator> allocator = new_allocator();
    GstAllocationParams params;
    gst_allocation_params_init(&params);
    params.align = one_in(2) ? 0 : 255;
    params.padding = one_in(2) ? 0 : 31;
    gst_query_add_allocation_param(query, allocator, &params);
  }
  if (!one_in(3)) {
    const Owned<GstBufferPool> pool(
        GST_BUFFER_POOL(gst_object_ref_sink(g_object_new(unreliable_pool_get_type(), nullptr))));
    const guint sizes[] = {right_size, right_size, right_size, 0, 1, right_size / 2};
    const guint size = sizes[g_random_int() % G_N_ELEMENTS(sizes)];
    // No maximum, because tests keep buffers, and a stopping base class waits for a free buffer.
    gst_query_add_allocation_pool(query, pool, size, g_random_int() % 3, 0);
  }
  if (one_in(2))
    gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
}

GstBuffer* new_unreliable_buffer(gsize size) {
  const Owned<GstAllocator> allocator = new_allocator();
  GstMemory* memory = nullptr;
  while (memory == nullptr)
    memory = gst_allocator_alloc(allocator, size, nullptr);
  GstBuffer* buffer = gst_buffer_new();
  gst_buffer_append_memory(buffer, memory);
  return buffer;
}

namespace {

// Intercepts queries of the element before they reach its peer.
gulong add_query_probe(GstPad* pad, GstPadProbeCallback answer, gpointer data,
                       GDestroyNotify free_data) {
  const auto direction = gst_pad_get_direction(pad) == GST_PAD_SRC
                             ? GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM
                             : GST_PAD_PROBE_TYPE_QUERY_UPSTREAM;
  return gst_pad_add_probe(pad, static_cast<GstPadProbeType>(direction | GST_PAD_PROBE_TYPE_PUSH),
                           answer, data, free_data);
}

GstPadProbeReturn on_caps_query(GstPad*, GstPadProbeInfo* info, gpointer caps) {
  GstQuery* const query = GST_PAD_PROBE_INFO_QUERY(info);
  if (GST_QUERY_TYPE(query) != GST_QUERY_CAPS)
    return GST_PAD_PROBE_OK;
  gst_query_set_caps_result(query, static_cast<GstCaps*>(caps));
  return GST_PAD_PROBE_HANDLED;
}

GstPadProbeReturn on_allocation_query(GstPad*, GstPadProbeInfo* info, gpointer) {
  GstQuery* const query = GST_PAD_PROBE_INFO_QUERY(info);
  if (GST_QUERY_TYPE(query) != GST_QUERY_ALLOCATION)
    return GST_PAD_PROBE_OK;
  offer_failing_pools(query);
  return GST_PAD_PROBE_HANDLED;
}

}  // namespace

bool answer_caps_query(GstQuery* query) {
  static const char* const answers[] = {
      "ANY",
      "ANY",
      "video/x-raw",
      "video/x-raw(ANY)",
      "video/x-raw, format=v216",
      "video/x-raw, height=[2, 8], format={NV12, GRAY8}",
      "video/x-raw, format=GRAY8, width=16, height=8, framerate=25/1",
      "other/tensors; video/x-raw",
      "other/tensors(memory:CUDAMemory)",
      "audio/x-raw",
      "EMPTY"};
  if (GST_QUERY_TYPE(query) != GST_QUERY_CAPS || g_random_int() % 4 != 0)
    return false;
  const Owned<GstCaps> caps(gst_caps_from_string(answers[g_random_int() % G_N_ELEMENTS(answers)]));
  gst_query_set_caps_result(query, caps);
  count_action("answer a CAPS query without a look at its filter");
  return true;
}

UnfilteredPeer::UnfilteredPeer(GstPad* pad, const char* caps)
    : pad_(GST_PAD(gst_object_ref(pad))),
      probe_(add_query_probe(
          pad, on_caps_query, gst_caps_from_string(caps),
          +[](gpointer data) { gst_caps_unref(static_cast<GstCaps*>(data)); })) {}

UnfilteredPeer::~UnfilteredPeer() {
  gst_pad_remove_probe(pad_, probe_);
}

FailingPools::FailingPools(GstPad* pad)
    : pad_(GST_PAD(gst_object_ref(pad))),
      probe_(add_query_probe(pad, on_allocation_query, nullptr, nullptr)) {}

FailingPools::~FailingPools() {
  gst_pad_remove_probe(pad_, probe_);
}

}  // namespace fuzz
