// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/pictures/cudaframes.h"

#include "tests/check/common/pipelines.h"

namespace check {

std::string cuda_caps_of(const Picture& picture) {
  return caps_of(*picture.format, picture.width, picture.height,
                 colorimetry(*picture.format, false))
      .replace(0, std::string("video/x-raw").size(), cuda_feature);
}

CudaUploader::CudaUploader(int gpu)
    : harness_(new_harness_in_own_context(tested_launch() + " backend=cuda cuda-device-id=" +
                                              std::to_string(gpu) + " " + text_of(tested().idle),
                                          static_cast<guint>(gpu))) {
  gst_harness_set_sink_caps_str(harness_, cuda_feature);
}

Owned<GstBuffer> CudaUploader::upload(const Picture& picture) {
  gst_harness_set_src_caps_str(harness_, caps_of(*picture.format, picture.width, picture.height,
                                                 colorimetry(*picture.format, false))
                                             .c_str());
  Owned<GstBuffer> buffer(gst_harness_push_and_pull(harness_, to_buffer(picture)));
  fail_unless(buffer != nullptr && is_cuda_memory(buffer), "%s: no frame in CUDA memory",
              picture.format->name);
  return buffer;
}

}  // namespace check
