// SPDX-License-Identifier: LGPL-2.1-or-later
// Gives cudasgmstereo damaged metas, failing memory and pools, control curves, and peers that
// ignore filters; see life.h. The element must work, or post an error and work after a restart.
#include "tests/check/common/stereoharness.h"
#include "tests/fuzz/actions.h"
#include "tests/fuzz/hostile/hostilebuffers.h"
#include "tests/fuzz/hostile/hostilecontrols.h"
#include "tests/fuzz/hostile/hostilepeers.h"
#include "tests/fuzz/life.h"

using namespace check;

namespace {

const Properties properties = {
    {"num-disparities", "32"}, {"focal-length", "300"}, {"baseline", "80"}};

class StereoFaultsLife final : public fuzz::Life {
 public:
  StereoFaultsLife(unsigned seed, BufferCount& buffers)
      : Life(seed, buffers),
        stereo_(properties),
        format_(&any_format()),
        width_(1 + below(40)),
        height_(1 + below(24)) {
    stereo_.set("frames-in-flight", one_of({"1", "2", "8"}));
    for (const char* pad : {"depth", "confidence", "rectified", "points"})
      if (below(3) == 0)
        stereo_.open(pad);
  }

  void run() override {
    send_caps();
    for (int step = 0; step < 12; ++step) {
      do_something();
      begin_again();
      expect_good_pair();
    }
  }

 private:
  void do_something() {
    static const fuzz::Action<StereoFaultsLife> actions[] = {
        {"a pair with a damaged meta", 3, &StereoFaultsLife::damaged_pair},
        {"pairs whose memory cannot be mapped now and then", 1,
         &StereoFaultsLife::unreliable_pairs},
        {"stereo: pools that fail now and then", 2, &StereoFaultsLife::failing_pools},
        {"stereo: curves that control properties", 2, &StereoFaultsLife::controlled_pairs},
        {"stereo: neighbours that ignore the filters of queries", 3,
         &StereoFaultsLife::ignored_filters}};
    fuzz::act(*this, *this, actions);
  }

  void send_caps() { stereo_.accept_caps(caps_of(*format_, width_, height_)); }

  Picture new_picture() {
    return make_picture(*format_, width_, height_, one_of(all_contents), any_seed());
  }

  GstBuffer* next(GstBuffer* buffer) { return tracked(at(time_, buffer)); }

  /// Pushes a pair and waits for its map or an error. Returns the map, if there is one.
  Map push(GstBuffer* left, GstBuffer* right) {
    gst_harness_push(stereo_.left(), next(left));
    gst_harness_push(stereo_.right(), next(right));
    Map out;
    const auto pull_map = [&] {
      out.reset(gst_harness_try_pull(stereo_.left()));
      return out != nullptr;
    };
    wait_until([&] { return pull_map() || stereo_.messages().count(GST_MESSAGE_ERROR) > 0; },
               "a map or an error");
    time_ += 40 * GST_MSECOND;
    return out;
  }

  void damaged_pair() {
    GstBuffer* frames[] = {to_buffer(new_picture(), padded_layout),
                           to_buffer(new_picture(), padded_layout)};
    fuzz::damage(*this, gst_buffer_get_video_meta(frames[below(2)]),
                 static_cast<int>(format_->planes.size()));
    push(frames[0], frames[1]);
  }

  void unreliable_pairs() {
    const Owned<GstBuffer> frame(to_buffer(new_picture()));
    const gsize size = gst_buffer_get_size(frame);
    for (int i = below(8); i >= 0 && works(); --i)
      push(fuzz::new_unreliable_buffer(size), fuzz::new_unreliable_buffer(size));
  }

  bool works() { return stereo_.messages().count(GST_MESSAGE_ERROR) == 0; }

  void any_pairs() {
    for (int i = below(4); i >= 0 && works(); --i)
      push(to_buffer(new_picture(), any_layout()), to_buffer(new_picture(), any_layout()));
  }

  Owned<GstPad> any_source_pad() {
    std::vector<const char*> names = {"src"};
    for (const auto& [name, harness] : stereo_.opened())
      names.push_back(name.c_str());
    return Owned<GstPad>(gst_element_get_static_pad(stereo_.element(), one_of(names)));
  }

  void reconfigure(GstPad* pad) { gst_pad_send_event(pad, gst_event_new_reconfigure()); }

  void failing_pools() {
    const Owned<GstPad> pad = any_source_pad();
    {
      const fuzz::FailingPools pools(pad);
      for (int i = below(4); i >= 0; --i) {
        reconfigure(pad);
        any_pairs();
      }
    }
    reconfigure(pad);
  }

  void controlled_pairs() {
    const fuzz::HostileControls controls(*this, stereo_.element());
    any_pairs();
  }

  // Downstream's CAPS answers ignore the filter. The element must work; only `points` may fail.
  void ignored_filters() {
    const Owned<GstPad> pad = any_source_pad();
    {
      const fuzz::UnfilteredPeer peer(pad, one_of({"ANY", "video/x-raw(ANY)", "video/x-raw",
                                                   "video/x-raw(ANY); other/tensors(ANY)"}));
      reconfigure(pad);
      any_pairs();
      const bool may_fail = g_str_has_prefix(GST_OBJECT_NAME(pad.get()), "points");
      fail_unless(may_fail || works(), "episode %u: %s", seed(),
                  stereo_.messages().text(GST_MESSAGE_ERROR).c_str());
    }
    reconfigure(pad);
  }

  void begin_again() {
    gst_element_set_state(stereo_.element(), one_of({GST_STATE_NULL, GST_STATE_READY}));
    gst_element_set_state(stereo_.element(), GST_STATE_PLAYING);
    stereo_.messages().clear();
    while (const Owned<GstBuffer> old{gst_harness_try_pull(stereo_.left())})
      if (below(8) == 0)
        fuzz::keep_buffer(old);
    for (GstHarness* harness : stereo_.harnesses())
      gst_pad_push_event(harness->srcpad, gst_event_new_stream_start("again"));
    send_caps();
    time_ = 0;
  }

  void expect_good_pair() {
    const Picture left = new_picture(), right = new_picture();
    const Map out = push(to_buffer(left), to_buffer(right));
    fail_unless(out != nullptr, "episode %u: no map after a restart: %s", seed(),
                stereo_.messages().text(GST_MESSAGE_ERROR).c_str());
    StereoHarness fresh(properties);
    fresh.accept_caps(caps_of(*format_, width_, height_));
    const Map expected = fresh.process(left, right);
    fail_unless(bytes_of(out) == bytes_of(expected), "episode %u: the map after a restart differs",
                seed());
  }

  StereoHarness stereo_;
  const FormatSpec* format_;
  int width_, height_;
  GstClockTime time_ = 0;
};

}  // namespace

TEST(fuzz_stereo_faults) {
  fuzz::run_episodes<StereoFaultsLife>();
}
