// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/pipeline_subjects.h"

namespace cudavision::bench {
namespace {

using enum FrameMemory;
struct Size {
  int width, height;
};
using Sizes = std::vector<Size>;
using Chains = std::vector<std::string>;
using Memories = std::vector<FrameMemory>;

/// Table entry, which expands to all combinations of its sizes, chains, formats and memories.
struct Entry {
  const char* group;
  Chains chains;
  Chains formats;
  Memories memories;
  Sizes sizes;
  const char* output = nullptr;  ///< a format, "tensors", or nullptr: the input's format

  int streams = 0;
  double pace = 0;
  bool sweeps_sigma = false;
};

const Sizes hd{{1920, 1080}}, uhd{{3840, 2160}}, both{{1920, 1080}, {3840, 2160}};
const Chains gray_and_nv12{"GRAY8", "NV12"}, nv12{"NV12"}, gray{"GRAY8"};
const Memories usual{system, proposed, cuda}, of_sources{proposed, system, mapped, fresh};
const std::string blur = "cudagaussblur sigma=1.2", blur5 = "cudagaussblur sigma=0 kernel-size=5",
                  blur15 = "cudagaussblur sigma=0 kernel-size=15",
                  blur31 = "cudagaussblur sigma=0 kernel-size=31",
                  smooth31 = "cvsmooth kernel-width=31 kernel-height=31",
                  stereo = "cudasgmstereo diagnostics-interval=0",
                  fast_stereo = "cudasgmstereo preset=fast diagnostics-interval=0",
                  two_filters = "cudahistequalize ! cudagaussblur sigma=1.2 ! ";

Chains in_flight(const std::string& chain, const std::vector<int>& numbers) {
  Chains chains;
  for (const int number : numbers)
    chains.push_back(chain + " frames-in-flight=" + std::to_string(number));
  return chains;
}

Chains on_gpus(const std::string& element, const std::vector<std::vector<int>>& chains_of_gpus) {
  Chains chains;
  for (const std::vector<int>& gpus : chains_of_gpus) {
    std::string chain;
    for (const int gpu : gpus)
      chain += (chain.empty() ? "" : " ! ") + element + " cuda-device-id=" + std::to_string(gpu);
    chains.push_back(chain);
  }
  return chains;
}

// All pipelines on GPU 0, all on GPU 1, or about half on each (-2 selects the least used GPU).
const std::vector<std::vector<int>> either{{0}, {1}}, shared{{0}, {1}, {-2}};

const Entry table[] = {
    {"bus", {copy_to_gpu, copy_from_gpu}, gray_and_nv12, {page_locked}, hd},
    {"histequalize", {"cudahistequalize"}, gray_and_nv12, usual, hd},
    {"histequalize", {"cudahistequalize"}, {"BGRx"}, {proposed}, hd},
    {"histequalize", {"cudahistequalize"}, nv12, {cuda}, uhd},
    {"histequalize", {"cudahistequalize method=clahe"}, nv12, {cuda}, hd},
    {"gaussblur", {blur, blur5, blur15, blur31}, gray_and_nv12, usual, hd},
    {"gaussblur", {blur15}, gray_and_nv12, {proposed, cuda}, uhd},
    {"gaussblur", {"cudagaussblur"}, nv12, {cuda}, hd, nullptr, 0, 0, true},
    {"integral", {"cudaintegral"}, gray, usual, hd, "tensors"},
    {"integral", {"cudaintegral output=mean"}, gray, usual, hd},
    {"threshold", {"cudathreshold radius=20"}, nv12, usual, hd, "GRAY8"},
    {"denoise", {"cudadenoise search-size=11"}, nv12, {cuda}, hd},
    {"guidedfilter", {"cudaguidedfilter radius=8"}, nv12, {cuda}, hd},
    {"sgmstereo", {fast_stereo, stereo}, nv12, usual, hd, "GRAY16_LE"},
    {"pixelate", {"cudapixelate"}, nv12, usual, hd},
    {"chains", {two_filters + "cudathreshold radius=20"}, nv12, usual, hd, "GRAY8"},
    {"chains", {two_filters + "cudadenoise search-size=5 patch-size=3"}, nv12, usual, hd},
    {"in-flight", in_flight(blur5, {0, 1, 2, 3, 4, 6}), gray_and_nv12, usual, hd},
    {"in-flight",
     in_flight(fast_stereo, {0, 1, 2, 3, 4}),
     gray_and_nv12,
     {system},
     hd,
     "GRAY16_LE"},
    {"sources", in_flight(blur5, {0, 1}), gray_and_nv12, of_sources, both},
    {"streams", {blur5}, nv12, {system}, hd, nullptr, 1},
    {"streams", {blur5}, nv12, {system}, hd, nullptr, 16},
    {"streams", {blur5}, nv12, {system}, hd, nullptr, 64},
    {"streams", {"identity", blur5}, nv12, {system}, hd, nullptr, 1, 30},
    {"streams", {"identity", blur5, "cudadenoise"}, nv12, {system}, hd, nullptr, 64, 30},
    // Frames stay on one GPU, move to the other GPU, or move there and back.
    {gpus_group,
     on_gpus(blur5, {{0, 0}, {0, 1}, {0, 0, 0}, {0, 1, 0}}),
     {"NV12", "P010_10LE", "RGBA"},
     {cuda},
     hd},
    {gpus_group, on_gpus(blur5, either), nv12, {system}, hd, nullptr, 1},
    {gpus_group, on_gpus(blur5, shared), nv12, {system}, hd, nullptr, 16},
    {gpus_group, on_gpus(blur5, shared), nv12, {system}, hd, nullptr, 64},
    {gpus_group, on_gpus("cudadenoise", either), nv12, {system}, hd, nullptr, 1},
    {gpus_group, on_gpus("cudadenoise", shared), nv12, {system}, hd, nullptr, 16},
    {gpus_group, on_gpus("cudadenoise", shared), nv12, {system}, hd, nullptr, 64},
    // GStreamer's elements; most are followed by this project's counterpart.
    {"gstreamer", {"identity"}, nv12, {system}, hd},
    {"gstreamer", {"videoconvert"}, nv12, {system}, hd, "BGRx"},
    {"gstreamer", {"cvequalizehist", "cudahistequalize"}, gray, {system}, hd},
    {"gstreamer", {"cvsmooth kernel-width=5 kernel-height=5", blur5}, gray, {system}, hd},
    {"gstreamer", {smooth31, blur31}, {"RGB"}, {system}, hd},
    {"gstreamer", {"gaussianblur sigma=1.2"}, {"AYUV"}, {system}, hd},
    {"gstreamer", {blur}, {"Y444"}, {system}, hd},
};

std::string output_caps(const Entry& entry, const std::string& format, FrameMemory memory) {
  const std::string features = memory == cuda ? "(memory:CUDAMemory)" : "";
  const std::string output = entry.output ? entry.output : format;
  return output == "tensors" ? "other/tensors" + features
                             : "video/x-raw" + features + ", format=" + output;
}

}  // namespace

std::string PipelineSubject::memory_name() const {
  constexpr const char* names[] = {"system",        "mmap",       "new memory",
                                   "proposed pool", "CUDAMemory", "page-locked"};
  return names[static_cast<int>(memory)];
}

std::string PipelineSubject::title() const {
  const std::string settings = sweeps_sigma ? chain + " sigma=0..60" : chain;
  if (streams == 0)
    return settings;
  return std::to_string(streams) + " × " + settings +
         (pace > 0 ? " at " + std::to_string(static_cast<int>(pace)) + "/s" : "");
}

std::string PipelineSubject::name() const {
  return title() + "/" + format + "/" + std::to_string(width) + "x" + std::to_string(height) + "/" +
         memory_name();
}

std::vector<std::string> pipeline_groups() {
  std::vector<std::string> groups;
  for (const Entry& entry : table)
    if (groups.empty() || groups.back() != entry.group)
      groups.emplace_back(entry.group);
  return groups;
}

std::vector<PipelineSubject> pipeline_subjects() {
  std::vector<PipelineSubject> subjects;
  for (const Entry& entry : table)
    for (const Size& size : entry.sizes)
      for (const std::string& chain : entry.chains)
        for (const std::string& format : entry.formats)
          for (const FrameMemory memory : entry.memories)
            subjects.push_back({entry.group, chain, format, size.width, size.height, memory,
                                output_caps(entry, format, memory), entry.streams, entry.pace,
                                entry.sweeps_sigma});
  return subjects;
}

}  // namespace cudavision::bench
