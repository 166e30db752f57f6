// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gst/gst.h>

GST_ELEMENT_REGISTER_DECLARE(cudadenoise)
GST_ELEMENT_REGISTER_DECLARE(cudagaussblur)
GST_ELEMENT_REGISTER_DECLARE(cudaguidedfilter)
GST_ELEMENT_REGISTER_DECLARE(cudahistequalize)
GST_ELEMENT_REGISTER_DECLARE(cudaintegral)
GST_ELEMENT_REGISTER_DECLARE(cudapixelate)
GST_ELEMENT_REGISTER_DECLARE(cudasgmstereo)
GST_ELEMENT_REGISTER_DECLARE(cudathreshold)

static gboolean plugin_init(GstPlugin* plugin) {
  return GST_ELEMENT_REGISTER(cudadenoise, plugin) | GST_ELEMENT_REGISTER(cudagaussblur, plugin) |
         GST_ELEMENT_REGISTER(cudaguidedfilter, plugin) |
         GST_ELEMENT_REGISTER(cudahistequalize, plugin) |
         GST_ELEMENT_REGISTER(cudaintegral, plugin) | GST_ELEMENT_REGISTER(cudapixelate, plugin) |
         GST_ELEMENT_REGISTER(cudasgmstereo, plugin) | GST_ELEMENT_REGISTER(cudathreshold, plugin);
}

GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, cudavision,
                  "Image processing and stereo vision on NVIDIA GPUs and CPUs", plugin_init,
                  PACKAGE_VERSION, "LGPL", PACKAGE_NAME, PACKAGE_ORIGIN)
