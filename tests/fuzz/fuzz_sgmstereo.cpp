// SPDX-License-Identifier: LGPL-2.1-or-later
// Fuzzes cudasgmstereo with two cameras or packed frames, with or without calibration; see life.h.
#include <gst/video/video.h>

#include "tests/check/common/stereoharness.h"
#include "tests/fuzz/actions.h"
#include "tests/fuzz/stereosettings.h"
#ifdef CUDAVISION_TEST_HAVE_MASKS
#include "tests/fuzz/hostile/hostilemasks.h"
#endif

using namespace check;

namespace {

constexpr GstClockTime frame_time = 40 * GST_MSECOND;

class StereoEpisode final : public fuzz::StereoSettings {
 public:
  StereoEpisode(unsigned seed, BufferCount& buffers) : StereoSettings(seed, buffers) {
    detects_ = below(2) == 0;
    set("detections", detects_ ? "true" : "false");
    stereo_ = std::make_unique<StereoHarness>(all(), !packed_);
    if (packed_)
      gst_harness_set_live(stereo_->left(), below(2) == 0);
  }

  void run() override {
    new_caps();
    for (int step = 0; step < 40; ++step) {
      do_something();
      stereo_->messages().clear();
    }
  }

 private:
  void do_something() {
    static const fuzz::Action<StereoEpisode> actions[] = {
        {"caps", 1, &StereoEpisode::new_caps},
        {"change properties", 1, &StereoEpisode::change_properties},
        {"impossible properties", 1, &StereoEpisode::impossible_properties},
        {"flush", 1, &StereoEpisode::flush},
        {"restart", 1, &StereoEpisode::restart},
        {"a frame without a partner", 1, &StereoEpisode::lonely_frame},
        {"a gap", 1, &StereoEpisode::gap},
        {"ask", 1, &StereoEpisode::ask},
        {"other wishes downstream", 1, &StereoEpisode::downstream_changes},
        {"caps of one pad", 1, &StereoEpisode::change_one_after_the_other},
        {"open or close a pad", 1, &StereoEpisode::open_or_close_a_pad},
        {"a pair", 3, &StereoEpisode::judged_pair}};
    fuzz::act(*this, *this, actions);
  }

  void judged_pair() { pair(true); }

  /// Sends both pads caps with the same size and depth. The formats may differ.
  void new_caps() {
    left_ = &any_format();
    do
      right_ = &any_format();
    while (right_->bits != left_->bits);
    width_ = 1 + below(50);
    height_ = 1 + below(30);
    if (rectified_) {  // the aspect ratio of the calibration
      const int scale = 2 + below(12);
      width_ = 4 * scale;
      height_ = 3 * scale;
    }
    resend_caps();
  }

  void send_current_caps(StereoHarness& to) const {
    fail_unless(to.send_caps(to.left(), caps_of(*left_, packed_ ? 2 * width_ : width_, height_)),
                "episode %u: the element refuses %s", seed(), left_->name);
    if (!packed_)
      fail_unless(to.send_caps(to.right(), caps_of(*right_, width_, height_)),
                  "episode %u: the element refuses %s", seed(), right_->name);
  }

  void resend_caps() {
    send_current_caps(*stereo_);
    time_ = 0;
  }

  void change_properties() {
    for (int i = below(4); i >= 0; --i) {
      const auto [name, value] = change_property();
      stereo_->set(name, value);
    }
  }

  // The last valid settings stay in effect. New caps would cause an error, so mend() restores valid
  // settings before any other action.
  void impossible_properties() {
    stereo_->set("diagnostics-interval", "0");  // inspections may warn, too
    pair(true);
    stereo_->messages().clear();
    stereo_->set("p1", "254");
    pair(false);
    fail_unless_equals_int(stereo_->messages().count(GST_MESSAGE_WARNING), 1);
    mend();
  }

  void mend() {
    stereo_->set("p1", "0");  // automatic, as in an element whose p1 was never set
    for (const Property& property : properties_)
      if (std::string(property.first) == "p1")
        stereo_->set("p1", property.second);
  }

  GstBuffer* stamped(GstBuffer* buffer) {
    constexpr GstClockTime half = GstClockTime(1) << 63;
    const GstClockTime duration =
        one_of({frame_time, frame_time, frame_time, GstClockTime(0), GST_CLOCK_TIME_NONE, half / 2,
                half - 1, half, GST_CLOCK_TIME_NONE - 1});
    return tracked(at(time_, buffer, duration));
  }

  /// Adds up to 127 boxes, many of them empty, huge or outside the frame, and masks if available.
  GstBuffer* with_any_regions(GstBuffer* buffer) {
    const auto number = [this] {
      return one_of({0u, 1u, static_cast<guint>(below(60)), static_cast<guint>(-below(60)),
                     0x7fffffffu, 0x80000000u, 0xffffffffu});
    };
    for (int i = below(one_of({1, 4, 4, 128})); i > 0; --i) {
      const guint x = number(), y = number(), width = number(), height = number();
      gst_buffer_add_video_region_of_interest_meta(buffer, "thing", x, y, width, height);
    }
#ifdef CUDAVISION_TEST_HAVE_MASKS
    add_any_masks(gst_buffer_add_analytics_relation_meta(buffer));
#endif
    return buffer;
  }

#ifdef CUDAVISION_TEST_HAVE_MASKS
  void add_any_masks(GstAnalyticsRelationMeta* meta) {
    for (int i = below(4); i > 0; --i) {
      GstAnalyticsODMtd object;
      gst_analytics_relation_meta_add_od_mtd(meta, g_quark_from_static_string("thing"),
                                             below(60) - 9, below(60) - 9, below(60), below(60), 1,
                                             &object);
      for (int k = below(4); k > 0; --k)
        gst_analytics_relation_meta_set_relation(
            meta, GST_ANALYTICS_REL_TYPE_CONTAIN, object.id,
            fuzz::any_mask(*this, packed_ ? 2 * width_ : width_, height_).add_to(meta).id);
    }
  }
#endif

  void judge_regions(GstBuffer* out) const {
    gpointer state = nullptr;
    while (GstMeta* meta = gst_buffer_iterate_meta_filtered(
               out, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
      auto* region = reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta);
      const GstStructure* distance =
          gst_video_region_of_interest_meta_get_param(region, "distance");
      fail_unless_equals_int(distance != nullptr, detects_);
      gdouble known = 0;
      fail_unless(!distance || (gst_structure_get_double(distance, "known", &known) && known >= 0 &&
                                known <= 1));
    }
  }

  /// The images of a pair; packed frames use only `left`.
  struct Pair {
    Picture left, right;
  };

  Pair new_pictures() {
    const Picture left = make_picture(*left_, packed_ ? 2 * width_ : width_, height_,
                                      one_of(all_contents), any_seed());
    return {left, packed_ || below(2) == 0 || right_ != left_
                      ? make_picture(*right_, width_, height_, one_of(all_contents), any_seed())
                      : shifted(left, below(12))};
  }

  /// Requests or releases a source pad other than src.
  void open_or_close_a_pad() {
    const std::string pad = one_of({"depth", "confidence", "rectified", "points"});
    if (stereo_->opened().count(pad) != 0) {
      stereo_->close(pad);
    } else {
      GstHarness* const harness = stereo_->open(pad);
      if (pad == "rectified")
        gst_harness_set_sink_caps_str(harness, one_of({"ANY", "video/x-raw, format=GRAY8"}));
      else if (pad != "points")
        gst_harness_set_sink_caps_str(harness, one_of({"ANY", "video/x-raw, format={GRAY8, RGB}",
                                                       "video/x-raw, format=BGRx"}));
    }
    pair(true);
  }

  Map output_at(GstHarness* harness, GstClockTime time) {
    Map out = next_output_of(harness);
    while (out.pts() != time)
      out = next_output_of(harness);
    return out;
  }

  Map next_output_of(GstHarness* harness) {
    for (int i = 0; i < 20000; ++i) {
      if (GstBuffer* buffer = gst_harness_try_pull(harness))
        return Map(buffer);
      g_usleep(100);
    }
    ck_abort_msg("episode %u: no map came out: %s", seed(),
                 stereo_->messages().text(GST_MESSAGE_ERROR).c_str());
    return Map(nullptr);
  }

  static std::string output_format(const GstHarness* harness) {
    const Owned<GstCaps> caps = current_caps(harness->sinkpad);
    return gst_structure_get_string(gst_caps_get_structure(caps, 0), "format");
  }

  /// Returns the output of a new element. `output`: another value for its property `output`.
  Picture expected(const Pair& pair, const std::string& format,
                   const char* output = nullptr) const {
    StereoHarness fresh(all(), !packed_);
    if (output != nullptr) {
      gst_element_set_state(fresh.element(), GST_STATE_READY);
      fresh.set("output", output);
      gst_element_set_state(fresh.element(), GST_STATE_PLAYING);
      for (GstHarness* harness : fresh.harnesses())
        gst_pad_push_event(harness->srcpad, gst_event_new_stream_start("fresh"));
    }
    fresh.accept_downstream("video/x-raw, format=" + format);
    send_current_caps(fresh);
    const Map out = fresh.process(to_buffer(pair.left), packed_ ? nullptr : to_buffer(pair.right));
    return from_buffer(out, format_named(format.c_str()), width_, height_);
  }

  /// Sends a pair and compares its map if `judged`. If a left frame waits, `right_first` must be
  /// set, because one thread feeds both pads.
  void pair(bool judged, bool right_first = false) {
    time_ += frame_time;
    const Pair pictures = new_pictures();
    GstBuffer* left = stamped(with_any_regions(to_buffer(pictures.left, any_layout())));
    // The expected output comes from a new element, in which the cameras are not corrected.
    judged = judged && !is_corrected();
    if (judged && (stereo_->opened().count("depth") != 0 || depends_on_the_past())) {
      if (below(2) == 0)
        judged = false;
      else
        GST_BUFFER_FLAG_SET(left, GST_BUFFER_FLAG_DISCONT);
    }
    GstBuffer* right = packed_ ? nullptr : stamped(to_buffer(pictures.right, any_layout()));
    if (right != nullptr && right_first)
      gst_harness_push(stereo_->right(), right);
    gst_harness_push(stereo_->left(), left);
    if (right != nullptr && !right_first)
      gst_harness_push(stereo_->right(), right);
    const Map out = next_output_of(stereo_->left());
    fail_unless(out.pts() == time_, "episode %u: this is another frame's map", seed());
    judge_regions(out);
    for (const auto& [pad, harness] : stereo_->opened())
      judge_pad(pad, harness, pictures, judged);
    if (!judged)
      return;
    const std::string format = output_format(stereo_->left());
    expect_picture(from_buffer(out, format_named(format.c_str()), width_, height_),
                   expected(pictures, format), "episode " + std::to_string(seed()));
  }

  /// Takes a pad's output for the current pair. Compares depth and confidence only if `judged`.
  void judge_pad(const std::string& pad, GstHarness* harness, const Pair& pictures, bool judged) {
    const Map out = output_at(harness, time_);
    if (pad == "points") {
      fail_unless_equals_int(gst_buffer_get_size(out), 12 * width_ * height_);
      return;
    }
    const std::string format = output_format(harness);
    const Picture picture = from_buffer(out, format_named(format.c_str()), width_, height_);
    const std::string what = "episode " + std::to_string(seed()) + ", " + pad;
    if (pad == "rectified" && !rectified_ && !packed_ && format == left_->name)
      expect_picture(picture, pictures.left, what);
    else if (pad != "rectified" && judged)
      expect_picture(picture, expected(pictures, format, pad.c_str()), what);
  }

  void lonely_frame() {
    if (packed_)
      return;
    time_ += frame_time;
    const bool left = below(2) == 0;
    gst_harness_push(left ? stereo_->left() : stereo_->right(),
                     stamped(to_buffer(Picture(left ? *left_ : *right_, width_, height_))));
    time_ += frame_time;
    pair(true, left);
  }

  // Changes the size on one pad first. The next two frames differ in size, so both are dropped.
  void change_one_after_the_other() {
    if (packed_ || rectified_)
      return;
    const bool left_first = below(2) == 0;
    const int old_width = width_;
    width_ = width_ % 50 + 1;
    const auto send_caps = [&](bool left) {
      fail_unless(stereo_->send_caps(left ? stereo_->left() : stereo_->right(),
                                     caps_of(left ? *left_ : *right_, width_, height_)),
                  "episode %u: new caps were refused", seed());
    };
    const guint64 dropped = stereo_->number("dropped-right");
    send_caps(left_first);
    time_ += frame_time;
    gst_harness_push(stereo_->left(),
                     stamped(to_buffer(Picture(*left_, left_first ? width_ : old_width, height_))));
    gst_harness_push(
        stereo_->right(),
        stamped(to_buffer(Picture(*right_, left_first ? old_width : width_, height_))));
    wait_until([&] { return stereo_->number("dropped-right") == dropped + 1; },
               "the unequal pair to be dropped");
    send_caps(!left_first);
    pair(true);
  }

  void gap() {
    time_ += frame_time;
    for (GstHarness* harness : stereo_->harnesses()) {
      if (below(2) == 0)
        gst_harness_push_event(harness, gst_event_new_gap(time_, frame_time));
      else
        gst_harness_push(harness,
                         stamped(to_buffer(Picture(harness == stereo_->left() ? *left_ : *right_,
                                                   packed_ ? 2 * width_ : width_, height_))));
    }
    time_ += frame_time;
    const GstClockTime next = time_ + frame_time;
    const Pair pictures = new_pictures();
    time_ = next;
    gst_harness_push(stereo_->left(), stamped(to_buffer(pictures.left)));
    if (!packed_)
      gst_harness_push(stereo_->right(), stamped(to_buffer(pictures.right)));
    output_at(stereo_->left(), next);
    for (const auto& [pad, harness] : stereo_->opened())
      output_at(harness, next);
  }

  void flush() {
    if (below(2) == 0)
      stereo_->send_to_all(gst_event_new_eos);
    else if (!packed_ && below(2) == 0)
      gst_harness_push(stereo_->left(), stamped(to_buffer(Picture(*left_, width_, height_))));
    stereo_->flush();
    resend_caps();
  }

  void restart() {
    gst_element_set_state(stereo_->element(), one_of({GST_STATE_NULL, GST_STATE_READY}));
    gst_element_set_state(stereo_->element(), GST_STATE_PLAYING);
    for (GstHarness* harness : stereo_->harnesses())
      gst_pad_push_event(harness->srcpad, gst_event_new_stream_start("again"));
    new_caps();
  }

  void ask() {
    const Owned<GstCaps> some = caps_from(
        one_of({"video/x-raw", "video/x-raw, format=NV12", "video/x-raw(ANY)", "audio/x-raw",
                "video/x-raw(memory:CUDAMemory)", "EMPTY", "ANY", "video/x-raw, width=[1, 7]"}));
    for (GstPad* pad : {stereo_->left()->srcpad, stereo_->left()->sinkpad})
      Owned<GstCaps>(gst_pad_peer_query_caps(pad, below(2) == 0 ? some.get() : nullptr));
    gst_harness_query_latency(stereo_->left());
    const Owned<GstCaps> caps = current_caps(stereo_->left()->srcpad);
    const Owned<GstQuery> query(
        gst_query_new_allocation(below(4) == 0 ? nullptr : caps.get(), below(2) == 0));
    gst_pad_peer_query(stereo_->left()->srcpad, query);
  }

  void downstream_changes() {
    gst_harness_set_sink_caps_str(
        stereo_->left(), one_of({"ANY", "video/x-raw", "video/x-raw, format={GRAY16_LE, GRAY8}",
                                 "video/x-raw, format={GRAY8, GRAY16_LE, RGBA}"}));
    gst_harness_push_upstream_event(stereo_->left(), gst_event_new_reconfigure());
    pair(true);
  }

  bool detects_ = false;
  std::unique_ptr<StereoHarness> stereo_;
  const FormatSpec* left_ = nullptr;
  const FormatSpec* right_ = nullptr;
  int width_ = 1, height_ = 1;
  GstClockTime time_ = 0;
};

}  // namespace

TEST(fuzz_sgmstereo) {
  fuzz::run_episodes<StereoEpisode>();
}
