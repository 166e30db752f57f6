// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/memory/pinnedallocator.h"

#include <cstring>
#include <exception>
#include <new>

using cudavision::CudaContext;
using cudavision::CudaScope;

namespace {

struct GstCudaVisionPinnedAllocator {
  GstAllocator parent;
  CudaContext context;  ///< constructed by init, destroyed by finalize
};

struct GstCudaVisionPinnedAllocatorClass {
  GstAllocatorClass parent_class;
};

struct PinnedMemory {
  GstMemory memory;
  guint8* data;     ///< the allocation; nullptr for shared memory
  guint8* start;    ///< byte 0 of the GstMemory: `data` rounded up to the alignment
  gboolean locked;  ///< page-locked; otherwise from the C library
};

#define pinned_allocator_get_type cudavision_pinned_allocator_get_type
GType pinned_allocator_get_type();
G_DEFINE_TYPE(GstCudaVisionPinnedAllocator, pinned_allocator, GST_TYPE_ALLOCATOR)

constexpr char memory_type[] = "CudaVisionPinnedMemory";

PinnedMemory* pinned(GstMemory* memory) {
  return reinterpret_cast<PinnedMemory*>(memory);
}

// Returns nullptr on failure, and without a context.
void* allocate_locked(GstCudaVisionPinnedAllocator* self, gsize size) {
  if (!self->context)
    return nullptr;
  try {
    const CudaScope scope(self->context);
    void* data = cudavision::allocate_page_locked(size);
    if (data)
      std::memset(data, 0, size);
    return data;
  } catch (const std::exception&) {
    return nullptr;
  }
}

GstMemory* pinned_allocator_alloc(GstAllocator* allocator, gsize size,
                                  GstAllocationParams* params) {
  auto* self = reinterpret_cast<GstCudaVisionPinnedAllocator*>(allocator);
  const gsize align = params->align | gst_memory_alignment;
  const gsize maxsize = params->prefix + size + params->padding;

  auto* memory = g_new0(PinnedMemory, 1);
  memory->data = static_cast<guint8*>(allocate_locked(self, maxsize + align));
  memory->locked = memory->data != nullptr;
  if (!memory->locked) {
    memory->data = static_cast<guint8*>(g_try_malloc0(maxsize + align));
    if (!memory->data) {
      g_free(memory);
      return nullptr;
    }
  }
  const gsize misaligned = reinterpret_cast<gsize>(memory->data) & align;
  memory->start = memory->data + (misaligned ? align + 1 - misaligned : 0);
  gst_memory_init(GST_MEMORY_CAST(memory), params->flags, allocator, nullptr, maxsize, align,
                  params->prefix, size);
  return GST_MEMORY_CAST(memory);
}

void pinned_allocator_free(GstAllocator* allocator, GstMemory* memory) {
  auto* self = reinterpret_cast<GstCudaVisionPinnedAllocator*>(allocator);
  if (guint8* data = pinned(memory)->data) {
    if (pinned(memory)->locked) {
      const cudavision::ReleaseScope scope(self->context);
      cudavision::free_page_locked(data);
    } else {
      g_free(data);
    }
  }
  g_free(memory);
}

// The copy is not page-locked, as locking takes longer than copying and copies are rarely reused.
GstMemory* pinned_memory_copy(GstMemory* memory, gssize offset, gssize size) {
  const gsize bytes =
      size == -1 ? (static_cast<gssize>(memory->size) > offset ? memory->size - offset : 0) : size;
  GstMemory* copy = gst_allocator_alloc(nullptr, bytes, nullptr);
  GstMapInfo map;
  if (!copy || !gst_memory_map(copy, &map, GST_MAP_WRITE)) {
    if (copy)
      gst_memory_unref(copy);
    return nullptr;
  }
  std::memcpy(map.data, pinned(memory)->start + memory->offset + offset, bytes);
  gst_memory_unmap(copy, &map);
  return copy;
}

GstMemory* pinned_memory_share(GstMemory* memory, gssize offset, gssize size) {
  GstMemory* parent = memory->parent ? memory->parent : memory;
  auto* part = g_new0(PinnedMemory, 1);
  part->start = pinned(memory)->start;
  part->locked = pinned(memory)->locked;
  gst_memory_init(GST_MEMORY_CAST(part),
                  static_cast<GstMemoryFlags>(GST_MINI_OBJECT_FLAGS(parent) |
                                              GST_MINI_OBJECT_FLAG_LOCK_READONLY),
                  memory->allocator, parent, memory->maxsize, memory->align,
                  memory->offset + offset, size == -1 ? memory->size - offset : size);
  return GST_MEMORY_CAST(part);
}

void pinned_allocator_finalize(GObject* object) {
  reinterpret_cast<GstCudaVisionPinnedAllocator*>(object)->context.~CudaContext();
  G_OBJECT_CLASS(pinned_allocator_parent_class)->finalize(object);
}

void pinned_allocator_class_init(GstCudaVisionPinnedAllocatorClass* klass) {
  G_OBJECT_CLASS(klass)->finalize = pinned_allocator_finalize;
  klass->parent_class.alloc = pinned_allocator_alloc;
  klass->parent_class.free = pinned_allocator_free;
}

void pinned_allocator_init(GstCudaVisionPinnedAllocator* self) {
  new (&self->context) CudaContext;
  GstAllocator* allocator = &self->parent;
  allocator->mem_type = memory_type;
  allocator->mem_map = [](GstMemory* memory, gsize, GstMapFlags) -> gpointer {
    return pinned(memory)->start;
  };
  allocator->mem_unmap = [](GstMemory*) {};
  allocator->mem_copy = pinned_memory_copy;
  allocator->mem_share = pinned_memory_share;
}

}  // namespace

namespace cudavision {

GstAllocator* new_pinned_allocator(const CudaContext& context) {
  auto* allocator = static_cast<GstCudaVisionPinnedAllocator*>(
      g_object_new(pinned_allocator_get_type(), nullptr));
  gst_object_ref_sink(allocator);
  allocator->context = context;
  return &allocator->parent;
}

bool is_page_locked_memory(GstMemory* memory) {
  return gst_memory_is_type(memory, memory_type) && pinned(memory)->locked;
}

}  // namespace cudavision
