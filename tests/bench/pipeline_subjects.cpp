// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/pipeline_subjects.h"

#include <gst/gst.h>

#include <algorithm>

namespace cudavision::bench {
namespace {

struct Size {
  int width, height;
};
constexpr Size full_hd{1920, 1080}, ultra_hd{3840, 2160};

std::string video_caps(FrameMemory memory, const std::string& format) {
  return std::string("video/x-raw") + (memory == FrameMemory::cuda ? "(memory:CUDAMemory)" : "") +
         ", format=" + format;
}

/// Collects the subjects of one group. Their output is video in the memory of the input.
class Group {
 public:
  Group(std::vector<PipelineSubject>& subjects, const char* name)
      : subjects_(subjects), name_(name) {}

  /// The output has the format of the input.
  void add(const std::string& chain, const std::string& format, Size size, FrameMemory memory) {
    add(chain, format, size, memory, video_caps(memory, format));
  }
  void add(const std::string& chain, const std::string& format, Size size, FrameMemory memory,
           const std::string& output_caps) {
    subjects_.push_back({name_, chain, format, size.width, size.height, memory, output_caps});
  }

 private:
  std::vector<PipelineSubject>& subjects_;
  const char* name_;
};

constexpr FrameMemory all_memories[] = {FrameMemory::system, FrameMemory::proposed,
                                        FrameMemory::cuda};

void add_equalization(Group group) {
  for (const char* format : {"GRAY8", "NV12"})
    for (const FrameMemory memory : all_memories)
      group.add("cudahistequalize", format, full_hd, memory);
  group.add("cudahistequalize", "BGRx", full_hd, FrameMemory::proposed);
  group.add("cudahistequalize", "NV12", ultra_hd, FrameMemory::cuda);
  group.add("cudahistequalize method=clahe", "NV12", full_hd, FrameMemory::cuda);
}

void add_blur(Group group) {
  for (const char* properties :
       {"sigma=1.2", "sigma=0 kernel-size=5", "sigma=0 kernel-size=15", "sigma=0 kernel-size=31"})
    for (const char* format : {"GRAY8", "NV12"})
      for (const FrameMemory memory : all_memories)
        group.add(std::string("cudagaussblur ") + properties, format, full_hd, memory);
  for (const FrameMemory memory : {FrameMemory::proposed, FrameMemory::cuda})
    for (const char* format : {"GRAY8", "NV12"})
      group.add("cudagaussblur sigma=0 kernel-size=15", format, ultra_hd, memory);
}

void add_integral(Group group) {
  for (const FrameMemory memory : all_memories)
    group.add("cudaintegral", "GRAY8", full_hd, memory,
              memory == FrameMemory::cuda ? "other/tensors(memory:CUDAMemory)" : "other/tensors");
  for (const FrameMemory memory : all_memories)
    group.add("cudaintegral output=mean", "GRAY8", full_hd, memory);
}

void add_threshold(Group group) {
  for (const FrameMemory memory : all_memories)
    group.add("cudathreshold radius=20", "NV12", full_hd, memory, video_caps(memory, "GRAY8"));
}

void add_stereo(Group group) {
  for (const char* chain :
       {"cudasgmstereo preset=fast diagnostics-interval=0", "cudasgmstereo diagnostics-interval=0"})
    for (const FrameMemory memory : all_memories)
      group.add(chain, "NV12", full_hd, memory, video_caps(memory, "GRAY16_LE"));
}

void add_chains(Group group) {
  const std::string two = "cudahistequalize ! cudagaussblur sigma=1.2 ! ";
  for (const FrameMemory memory : all_memories)
    group.add(two + "cudathreshold radius=20", "NV12", full_hd, memory,
              video_caps(memory, "GRAY8"));
  for (const FrameMemory memory : all_memories)
    group.add(two + "cudadenoise search-size=5 patch-size=3", "NV12", full_hd, memory);
}

std::string blur_with_frames_in_flight(const char* number) {
  return std::string("cudagaussblur sigma=0 kernel-size=5 frames-in-flight=") + number;
}

/// Shows the gain of frames in flight, and how many are enough; 0 is the automatic number.
void add_frames_in_flight(Group group) {
  for (const char* format : {"GRAY8", "NV12"})
    for (const FrameMemory memory : all_memories)
      for (const char* number : {"0", "1", "2", "3", "4", "6"})
        group.add(blur_with_frames_in_flight(number), format, full_hd, memory);
  for (const char* format : {"GRAY8", "NV12"})
    for (const char* number : {"0", "1", "2", "3", "4"})
      group.add(std::string("cudasgmstereo preset=fast diagnostics-interval=0 "
                            "frames-in-flight=") +
                    number,
                format, full_hd, FrameMemory::system, video_caps(FrameMemory::system, "GRAY16_LE"));
}

/// Shows the cost of the memory of a source.
void add_sources(Group group) {
  for (const Size size : {full_hd, ultra_hd})
    for (const char* format : {"GRAY8", "NV12"})
      for (const FrameMemory memory :
           {FrameMemory::proposed, FrameMemory::system, FrameMemory::mapped, FrameMemory::fresh})
        for (const char* number : {"0", "1"})
          group.add(blur_with_frames_in_flight(number), format, size, memory);
}

/// Shows what several pipelines in one process cost each other.
void add_streams(std::vector<PipelineSubject>& subjects) {
  constexpr char blur[] = "cudagaussblur sigma=0 kernel-size=5";
  const auto add = [&](int streams, const char* chain, double pace) {
    PipelineSubject subject{"streams",
                            chain,
                            "NV12",
                            full_hd.width,
                            full_hd.height,
                            FrameMemory::system,
                            video_caps(FrameMemory::system, "NV12")};
    subject.streams = streams;
    subject.pace = pace;
    subjects.push_back(subject);
  };
  for (const int streams : {1, 16, 64})
    add(streams, blur, 0);
  for (const int streams : {1, 64}) {
    add(streams, "identity", 30);
    add(streams, blur, 30);
  }
  add(64, "cudadenoise", 30);
}

/// GStreamer's own elements. `identity` shows what it costs to push a frame through no work at all.
/// Each of the others is followed by the element of this project that does similar work on the same
/// frames.
void add_gstreamer(Group group) {
  constexpr FrameMemory memory = FrameMemory::system;
  group.add("identity", "NV12", full_hd, memory);
  group.add("videoconvert", "NV12", full_hd, memory, video_caps(memory, "BGRx"));
  group.add("cvequalizehist", "GRAY8", full_hd, memory);
  group.add("cudahistequalize", "GRAY8", full_hd, memory);
  group.add("cvsmooth kernel-width=5 kernel-height=5", "GRAY8", full_hd, memory);
  group.add("cudagaussblur sigma=0 kernel-size=5", "GRAY8", full_hd, memory);
  group.add("cvsmooth kernel-width=31 kernel-height=31", "RGB", full_hd, memory);
  group.add("cudagaussblur sigma=0 kernel-size=31", "RGB", full_hd, memory);
  group.add("gaussianblur sigma=1.2", "AYUV", full_hd, memory);
  group.add("cudagaussblur sigma=1.2", "Y444", full_hd, memory);
}

/// The plug-in's elements with one input that none of `subjects` begins with, with their defaults.
std::vector<std::string> other_filters(const std::vector<PipelineSubject>& subjects) {
  std::vector<std::string> names;
  GList* features = gst_registry_get_feature_list_by_plugin(gst_registry_get(), "cudavision");
  for (GList* l = features; l != nullptr; l = l->next) {
    const std::string name = GST_OBJECT_NAME(l->data);
    const bool is_filter =
        GST_IS_ELEMENT_FACTORY(l->data) &&
        gst_element_factory_get_num_pad_templates(GST_ELEMENT_FACTORY(l->data)) == 2;
    const bool is_known = std::any_of(subjects.begin(), subjects.end(), [&](const auto& subject) {
      return subject.chain.compare(0, name.size(), name) == 0;
    });
    if (is_filter && !is_known)
      names.push_back(name);
  }
  gst_plugin_feature_list_free(features);
  return names;
}

void add_others(Group group, const std::vector<std::string>& filters) {
  for (const std::string& filter : filters)
    for (const FrameMemory memory : all_memories)
      group.add(filter, "NV12", full_hd, memory);
}

}  // namespace

const char* name_of(FrameMemory memory) {
  switch (memory) {
    case FrameMemory::system:
      return "system";
    case FrameMemory::mapped:
      return "mmap";
    case FrameMemory::fresh:
      return "new memory";
    case FrameMemory::proposed:
      return "proposed pool";
    case FrameMemory::cuda:
      break;
  }
  return "CUDAMemory";
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
         name_of(memory);
}

const std::vector<std::string>& pipeline_groups() {
  static const std::vector<std::string> groups{
      "histequalize", "gaussblur", "integral",  "threshold", "denoise", "guidedfilter", "sgmstereo",
      "others",       "chains",    "in-flight", "sources",   "streams", "gstreamer"};
  return groups;
}

std::vector<PipelineSubject> pipeline_subjects() {
  std::vector<PipelineSubject> subjects;
  add_equalization({subjects, "histequalize"});
  add_blur({subjects, "gaussblur"});
  subjects.push_back({"gaussblur", "cudagaussblur", "NV12", full_hd.width, full_hd.height,
                      FrameMemory::cuda, video_caps(FrameMemory::cuda, "NV12"), true});
  add_integral({subjects, "integral"});
  add_threshold({subjects, "threshold"});
  Group(subjects, "denoise").add("cudadenoise search-size=11", "NV12", full_hd, FrameMemory::cuda);
  Group(subjects, "guidedfilter")
      .add("cudaguidedfilter radius=8", "NV12", full_hd, FrameMemory::cuda);
  add_stereo({subjects, "sgmstereo"});
  add_others({subjects, "others"}, other_filters(subjects));
  add_chains({subjects, "chains"});
  add_frames_in_flight({subjects, "in-flight"});
  add_sources({subjects, "sources"});
  add_streams(subjects);
  add_gstreamer({subjects, "gstreamer"});
  return subjects;
}

}  // namespace cudavision::bench
