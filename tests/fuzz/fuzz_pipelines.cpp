// SPDX-License-Identifier: LGPL-2.1-or-later
// Runs pipelines with branches of a tee, with seeks, pauses and EOS; see life.h. Each frame of a
// filter must equal the frame at the same PTS in a pipeline that has only this branch.
#include <gst/video/video.h>

#include <map>
#include <mutex>

#include "tests/check/common/filterharness.h"
#include "tests/check/common/pipelines.h"
#include "tests/fuzz/actions.h"
#include "tests/fuzz/life.h"

using namespace check;

namespace {

constexpr int frames = 12;

/// Hashes of the frames that arrive at a sink, by PTS.
class Outputs {
 public:
  explicit Outputs(GstElement* sink) {
    g_object_set(sink, "signal-handoffs", TRUE, nullptr);
    g_signal_connect(sink, "handoff",
                     G_CALLBACK(+[](GstElement*, GstBuffer* buffer, GstPad* pad, Outputs* self) {
                       self->take(buffer, pad);
                     }),
                     this);
  }

  std::map<GstClockTime, std::size_t> hashes() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return hashes_;
  }

 private:
  void take(GstBuffer* buffer, GstPad* pad) {
    const std::size_t hash = hash_of(buffer, pad);
    const std::lock_guard<std::mutex> lock(mutex_);
    hashes_[GST_BUFFER_PTS(buffer)] = hash;
  }

  static std::size_t hash_of(GstBuffer* buffer, GstPad* pad) {
    const Owned<GstCaps> caps = current_caps(pad);
    const std::hash<std::string_view> hash;
    GstVideoInfo info;
    GstVideoFrame frame;
    if (!gst_video_info_from_caps(&info, caps)) {
      const std::vector<std::uint8_t> bytes = bytes_of(buffer);
      return hash({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    }
    fail_unless(gst_video_frame_map(&frame, &info, buffer, GST_MAP_READ));
    std::size_t all = 0;
    for (guint p = 0; p < GST_VIDEO_FRAME_N_PLANES(&frame); ++p) {
      gint component[GST_VIDEO_MAX_COMPONENTS];
      gst_video_format_info_component(info.finfo, p, component);
      const auto row_bytes =
          static_cast<std::size_t>(GST_VIDEO_FRAME_COMP_WIDTH(&frame, component[0])) *
          static_cast<std::size_t>(GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, component[0]));
      for (int y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT(&frame, component[0]); ++y) {
        const char* const row =
            static_cast<const char*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, p)) +
            static_cast<std::ptrdiff_t>(y) * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, p);
        all = all * 31 + hash({row, row_bytes});
      }
    }
    gst_video_frame_unmap(&frame);
    return all;
  }

  std::mutex mutex_;
  std::map<GstClockTime, std::size_t> hashes_;
};

const std::vector<std::string>& branches() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> launches;
    for (const char* element :
         {"cudagaussblur sigma=3", "cudapixelate block-size=4 regions=3,4,20,9", "cudahistequalize",
          "cudahistequalize method=clahe tiles-x=3 tiles-y=2 post-messages=true", "cudaintegral",
          "cudathreshold radius=3", "cudadenoise search-size=3 patch-size=3",
          "cudaguidedfilter radius=2"})
      launches.push_back(std::string(element) + " backend=" + test_backend());
    return launches;
  }();
  return all;
}

std::string source(int pattern) {
  return "videotestsrc num-buffers=" + std::to_string(frames) +
         " pattern=" + std::to_string(pattern) +
         " ! video/x-raw, format=I420, width=64, height=48, framerate=25/1";
}

std::map<GstClockTime, std::size_t> alone(int pattern, const std::string& branch) {
  static std::map<std::pair<int, std::string>, std::map<GstClockTime, std::size_t>> known;
  auto& hashes = known[{pattern, branch}];
  if (hashes.empty()) {
    const Owned<GstElement> pipeline =
        new_pipeline(source(pattern) + " ! " + branch + " ! fakesink name=k");
    Outputs outputs(element_in(pipeline, "k").get());
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    const Owned<GstBus> bus(gst_element_get_bus(pipeline));
    const Owned<GstMessage> message(gst_bus_timed_pop_filtered(
        bus, GST_CLOCK_TIME_NONE,
        static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR)));
    fail_unless(GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS, "%s fails", branch.c_str());
    gst_element_set_state(pipeline, GST_STATE_NULL);
    hashes = outputs.hashes();
    fail_unless_equals_int(hashes.size(), frames);
  }
  return hashes;
}

class Tee : private Random {
 public:
  explicit Tee(unsigned seed) : Random(seed), pattern_(one_of({13, 14, 18})) {
    std::string launch = source(pattern_) + " ! tee name=t";
    for (int i = below(3); i >= 0; --i) {
      chosen_.push_back(one_of(branches()));
      launch += " t. ! queue max-size-buffers=" + std::to_string(1 + below(4)) + " ! " +
                chosen_.back() + " frames-in-flight=" + std::to_string(1 + below(4)) +
                " ! fakesink async=false name=k" + std::to_string(i);
      names_.push_back("k" + std::to_string(i));
    }
    if (below(3) == 0)
      launch += " cudasgmstereo name=s num-disparities=32 backend=" + test_backend() +
                " ! fakesink async=false t. ! queue ! s.sink_left t. ! queue ! s.sink_right";
    pipeline_ = new_pipeline(launch);
    for (const std::string& name : names_)
      outputs_.push_back(std::make_unique<Outputs>(element_in(pipeline_, name.c_str()).get()));
    set_state(GST_STATE_PLAYING);
  }
  ~Tee() { set_state(GST_STATE_NULL); }

  void pause() {
    set_state(GST_STATE_PAUSED);
    set_state(GST_STATE_PLAYING);
  }
  void seek() {
    sought_ = true;
    gst_element_seek_simple(pipeline_, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH,
                            static_cast<gint64>(below(frames)) * 40 * GST_MSECOND);
  }
  void restart() {
    set_state(one_of({GST_STATE_NULL, GST_STATE_READY}));
    // Drops the error that a queue posts if an event met a flushing pad while the queue stopped.
    const Owned<GstBus> bus(gst_element_get_bus(pipeline_));
    gst_bus_set_flushing(bus, TRUE);
    gst_bus_set_flushing(bus, FALSE);
    set_state(GST_STATE_PLAYING);
  }

  void expect_frames(unsigned episode) {
    const Owned<GstBus> bus(gst_element_get_bus(pipeline_));
    const Owned<GstMessage> message(gst_bus_timed_pop_filtered(
        bus, GST_CLOCK_TIME_NONE,
        static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR)));
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
      GError* error = nullptr;
      gst_message_parse_error(message, &error, nullptr);
      ck_abort_msg("episode %u: %s", episode, error->message);
    }
    for (std::size_t i = 0; i < chosen_.size(); ++i) {
      const auto expected = alone(pattern_, chosen_[i]);
      const auto got = outputs_[i]->hashes();
      // A seek may leave no frames, because it drops queued frames, but does not reset num-buffers.
      fail_unless(sought_ || !got.empty(), "episode %u: no frame came out of %s", episode,
                  chosen_[i].c_str());
      for (const auto& [time, hash] : got) {
        const auto found = expected.find(time);
        if (found != expected.end())
          fail_unless(found->second == hash, "episode %u: %s: another frame at %" G_GUINT64_FORMAT,
                      episode, chosen_[i].c_str(), time);
      }
    }
  }

 private:
  void set_state(GstState state) { gst_element_set_state(pipeline_, state); }

  int pattern_;
  bool sought_ = false;
  std::vector<std::string> chosen_, names_;
  std::vector<std::unique_ptr<Outputs>> outputs_;
  Owned<GstElement> pipeline_;
};

class PipelinesLife final : public fuzz::Life {
 public:
  PipelinesLife(unsigned seed, BufferCount& buffers) : Life(seed, buffers) {
    for (int i = 1 + below(4); i >= 0; --i)
      tees_.push_back(std::make_unique<Tee>(any_seed()));
  }

  void run() override {
    static const fuzz::Action<PipelinesLife> actions[] = {
        {"seek in a pipeline", 2, &PipelinesLife::seek},
        {"pause a pipeline and go on", 2, &PipelinesLife::pause},
        {"start a pipeline again", 1, &PipelinesLife::restart},
        {"end a pipeline beside others", 1, &PipelinesLife::end_one},
        {"wait beside the pipelines", 4, &PipelinesLife::wait}};
    for (int step = below(12); step >= 0; --step)
      fuzz::act(*this, *this, actions);
    for (const auto& tee : tees_)
      tee->expect_frames(seed());
  }

 private:
  Tee& any_tee() { return *one_of(tees_); }
  void seek() { any_tee().seek(); }
  void pause() { any_tee().pause(); }
  void restart() { any_tee().restart(); }
  void end_one() {
    if (tees_.size() > 1)
      tees_.pop_back();
  }
  void wait() { g_usleep(static_cast<gulong>(below(5000))); }

  std::vector<std::unique_ptr<Tee>> tees_;
};

}  // namespace

TEST(fuzz_pipelines) {
  fuzz::run_episodes<PipelinesLife>();
}

// Hundreds of elements run at once, and all must output the right frames.
TEST(test_many_elements) {
  constexpr int count = 300;
  const FormatSpec& format = format_named("NV12");
  const Picture picture = with_valid_chroma(make_picture(format, 32, 24, Content::natural, 1));
  std::vector<std::unique_ptr<FilterHarness>> filters;
  for (int i = 0; i < count; ++i) {
    const ElementUnderTest& spec = tested_elements()[i % tested_elements().size()];
    filters.push_back(std::make_unique<FilterHarness>(spec.element, spec.always));
    filters.back()->set("frames-in-flight", std::to_string(1 + i % 4));
    filters.back()->accept_caps(format, 32, 24, colorimetry(format, false));
  }
  for (int number = 0; number < 4; ++number)
    for (const auto& filter : filters)
      fail_unless_equals_int(filter->push(to_buffer(picture)), GST_FLOW_OK);
  for (int i = 0; i < count; ++i) {
    FilterHarness& filter = *filters[i];
    filter.send_eos();
    const ElementUnderTest& spec = tested_elements()[i % tested_elements().size()];
    const Picture expected = spec.result(picture, false);
    for (int number = 0; number < 4; ++number) {
      const Owned<GstBuffer> out = filter.pull();
      fail_unless(out != nullptr, "%s %d lost a frame", spec.element, i);
      expect_picture(from_buffer(out, format, 32, 24), expected, spec.element);
    }
  }
}
