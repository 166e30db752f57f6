// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gst/memory/libgstcuda.h"

/// Stands for libgstcuda and the driver in tests of gst/memory that need no GPU. Link
/// fakelibgstcuda.cpp in place of gst/memory/libgstcuda.cpp.
namespace check {

/// Makes a context, which belongs to no device.
cudavision::CudaContext new_fake_context();
/// Returns how many references to a context there are.
int references_to(const cudavision::CudaContext& context);
/// Returns the context that is current in this thread, or nullptr.
GstObject* current_fake_context();

}  // namespace check
