// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_CUDA_GAUSS_BLUR (gst_cuda_gauss_blur_get_type())
GType gst_cuda_gauss_blur_get_type(void);

GST_ELEMENT_REGISTER_DECLARE(cudagaussblur)

G_END_DECLS
