// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <vector>

namespace cudavision::bench {

enum class FrameMemory {
  system,       ///< recycled blocks of malloc(), as in the pools of decoders or videotestsrc
  mapped,       ///< recycled mappings, like the driver's buffers that v4l2src maps
  fresh,        ///< a new GstMemory for each frame, as from filesrc
  proposed,     ///< buffers of the pool that the first element proposes
  cuda,         ///< like proposed, in CUDA memory
  page_locked,  ///< page-locked memory, for bus copies
};

struct PipelineSubject {
  std::string group;
  std::string chain;  ///< as for gst-launch-1.0, without the property backend
  std::string format;
  int width, height;
  FrameMemory memory;
  std::string output_caps;

  int streams = 0;  ///< concurrent pipelines, whose start time is also measured; 0: one pipeline
  double pace = 0;  ///< frames per second of each pipeline; 0: as fast as possible
  bool sweeps_sigma = false;  ///< changes sigma before each frame

  std::string title() const;
  std::string memory_name() const;
  /// For example "cudagaussblur sigma=1.2/NV12/1920x1080/CUDAMemory".
  std::string name() const;
};

/// The group whose rows need two GPUs.
constexpr char gpus_group[] = "gpus";

/// The chains of the group "bus": copies of one frame's bytes.
constexpr char copy_to_gpu[] = "copy to the GPU", copy_from_gpu[] = "copy from the GPU";

std::vector<std::string> pipeline_groups();

std::vector<PipelineSubject> pipeline_subjects();

}  // namespace cudavision::bench
