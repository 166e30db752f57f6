// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gst/memory/libgstcuda.h"

/// A fake of libgstcuda and the driver. It is linked instead of libgstcuda.cpp and cudastream.cpp.
namespace check {

/// Context creation fails for device ids ≥ fake_usable_devices.
inline int fake_devices = 1, fake_usable_devices = 1;

cudavision::CudaContext new_fake_context(int device = 0);
/// Wraps the context in a GstContext, as an application does. The caller owns the GstContext.
GstContext* new_fake_gst_context(const cudavision::CudaContext& context);
int references_to(const cudavision::CudaContext& context);
/// Returns this thread's current context, or nullptr.
GstObject* current_fake_context();

/// Lets `context` copy from memory of `other`, but not vice versa.
void let_copy_from(const cudavision::CudaContext& context, const cudavision::CudaContext& other);

/// Makes CUDA memory whose bytes become `value` once the default stream has finished.
GstMemory* new_fake_cuda_memory(const cudavision::CudaContext& context, gsize bytes, guint8 value);
/// Makes zeroed CUDA memory that carries a stream of fakestreams.h.
GstMemory* new_fake_cuda_memory(const cudavision::CudaContext& context, gsize bytes,
                                cudavision::CudaStream stream);
/// Returns how often the host has waited for unfinished memory since the last call.
int waits_for_fake_cuda_memory();
/// Returns how often CUDA memory was mapped on the host since the last call.
int host_maps_of_fake_cuda_memory();

}  // namespace check
