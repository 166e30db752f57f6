// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gst/memory/libgstcuda.h"

/// Replaces libgstcuda and the driver: link fakelibgstcuda.cpp instead of libgstcuda.cpp and
/// cudastream.cpp.
namespace check {

/// The number of devices. Those from fake_usable_devices on cannot make a context.
inline int fake_devices = 1, fake_usable_devices = 1;

cudavision::CudaContext new_fake_context(int device = 0);
/// Returns the context as an application sets it on elements. The caller owns it.
GstContext* new_fake_gst_context(const cudavision::CudaContext& context);
int references_to(const cudavision::CudaContext& context);
/// Returns the context that is current in this thread, or nullptr.
GstObject* current_fake_context();

/// Lets `context` copy from memory of `other`, but not the other way round.
void let_copy_from(const cudavision::CudaContext& context, const cudavision::CudaContext& other);

/// Makes CUDA memory whose bytes are `value` once the default stream has been finished.
GstMemory* new_fake_cuda_memory(const cudavision::CudaContext& context, gsize bytes, guint8 value);
/// Makes CUDA memory of a context that carries a stream of fakestreams.h. Its bytes are 0.
GstMemory* new_fake_cuda_memory(const cudavision::CudaContext& context, gsize bytes,
                                cudavision::CudaStream stream);
/// Returns how often the host has waited for unfinished memory since the last call.
int waits_for_fake_cuda_memory();
/// Returns how many times CUDA memory has been mapped on the host since the last call.
int host_maps_of_fake_cuda_memory();

}  // namespace check
