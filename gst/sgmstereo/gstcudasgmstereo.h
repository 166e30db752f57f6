// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_CUDA_SGM_STEREO (gst_cuda_sgm_stereo_get_type())
GType gst_cuda_sgm_stereo_get_type(void);

GST_ELEMENT_REGISTER_DECLARE(cudasgmstereo)

G_END_DECLS
