// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/fuzz/episode.h"

#include <gst/video/video.h>

#include "cuda/regions/regions.h"
#include "tests/fuzz/actions.h"
#include "tests/fuzz/hostile/hostilebuffers.h"
#include "tests/fuzz/hostile/hostiletimes.h"

namespace fuzz {

using namespace check;

void Episode::run() {
  good_caps();  // must come first, because a pad that gets a segment before caps warns
  for (int step = 0; step < 60; ++step)
    do_something();
}

void Episode::do_something() {
  static const Action<Episode> actions[] = {
      {"good caps", 2, &Episode::good_caps},
      {"impossible caps", 1, &Episode::bad_caps},
      {"a bad frame", 1, &Episode::bad_frame},
      {"change properties", 1, &Episode::change_settings},
      {"flush or end", 1, &Episode::flush_or_end},
      {"send an event", 1, &Episode::send_event},
      {"change the state", 1, &Episode::change_state},
      {"ask", 1, &Episode::ask},
      {"restrict downstream", 1, &Episode::restrict_downstream},
      {"unlink, and link again", 1, &Episode::relink},
      {"neighbours that ignore the filters of queries", 1, &Episode::ignore_filters},
      {"pools that fail now and then", 1, &Episode::use_failing_pools},
      {"curves that control properties", 1, &Episode::control_properties},
      {"a good frame", 8, &Episode::good_frame}};
  act(*this, *this, actions);
  if (filter_.messages().count(GST_MESSAGE_ANY) > 500)
    filter_.messages().clear();
}

void Episode::good_caps() {
  drain_and_judge();
  format_ = &any_format();
  width_ = 1 + below(below(4) == 0 ? 300 : 40);
  height_ = 1 + below(below(4) == 0 ? 200 : 40);
  limited_ = format_->family != Family::rgb && below(2) == 0;
  scan_ = one_of({Scan::progressive, Scan::progressive, Scan::interleaved, Scan::mixed});
  const char* const modes[] = {"progressive", "interleaved", "mixed"};
  started_ = filter_.send_caps(caps_of(*format_, width_, height_, colorimetry(*format_, limited_)) +
                               ", interlace-mode=" + modes[static_cast<int>(scan_)]);
  if (!restricted_)
    fail_unless(started_ == possible(*format_), "episode %u: %s %dx%d was %s", seed(),
                format_->name, width_, height_, started_ ? "accepted" : "refused");
}

void Episode::change_settings() {
  drain_and_judge();
  change_properties();
  if (g_object_class_find_property(G_OBJECT_GET_CLASS(filter_.element()), "regions") &&
      below(2) == 0)
    change_regions();
}

void Episode::judge(GstBuffer* out, const Picture& picture, const FrameKind& kind) {
  regions_.fields = kind.interlaced;
  expect_picture(
      from_buffer(out, *picture.format, picture.width, picture.height, picture.interlaced),
      expected(picture, kind), "episode " + std::to_string(seed()));
}

Picture Episode::new_picture(const FormatSpec& format, int width, int height) {
  return make_picture(format, width, height, one_of(all_contents), any_seed());
}

void Episode::change_regions() {
  regions_ = {};
  if (below(3) > 0) {
    regions_.shape = one_of({RegionShape::rectangle, RegionShape::ellipse});
    regions_.margin = one_of({0, 0, 3, 1000});
    regions_.feather = one_of({0, 0, 5, cudavision::regions::Parameters::Ranges::feather.max});
    regions_.invert = below(3) == 0;
    regions_.count = 1 + below(6);
    for (int i = 0; i < regions_.count; ++i) {
      const int x = below(340) - 40, y = below(240) - 40;
      regions_.boxes[i] = {x, y, x + below(100), y + below(60)};
    }
  }
  filter_.set(properties_of(regions_));
}

Picture Episode::in_regions(const Picture& picture, const Process& process, bool idle,
                            bool equalizes) const {
  return regions_.count == 0 || idle ? process(picture)
                                     : check::in_regions(picture, process, regions_, equalizes);
}

void Episode::push(GstBuffer* buffer, std::optional<Sent> sent) {
  filter_.messages().clear();
  const bool good = sent.has_value();
  const GstFlowReturn flow = filter_.push(tracked(buffer));
  if (flow == GST_FLOW_ERROR)
    fail_unless(filter_.messages().count(GST_MESSAGE_ERROR) >= 1,
                "episode %u: a frame failed without an element error", seed());
  if (good && started_ && !restricted_)
    fail_unless(flow == GST_FLOW_OK, "episode %u: a good frame returned %s: %s", seed(),
                gst_flow_get_name(flow), filter_.messages().text(GST_MESSAGE_ERROR).c_str());
  if (flow != GST_FLOW_OK)
    ++interruptions_;
  else if (filter_.messages().count(GST_MESSAGE_QOS) == 0)
    in_flight_.push_back({std::move(sent), interruptions_});
}

Episode::Sequence Episode::sequence_around(std::size_t number) const {
  Sequence sequence{};
  for (std::size_t i = 0; i < in_flight_.size(); ++i) {
    if (i == number)
      sequence.judged = sequence.frames.size();
    if (in_flight_[i].interruptions == in_flight_[number].interruptions)
      sequence.frames.push_back(in_flight_[i].sent ? &in_flight_[i].sent->picture : nullptr);
  }
  return sequence;
}

std::size_t Episode::judge_rest() {
  std::size_t judged = 0;
  for (; const Owned<GstBuffer> out = filter_.pull(); ++judged) {
    fail_unless(judged < in_flight_.size(), "episode %u: more frames came out than went in",
                seed());
    sequence_ = sequence_around(judged);
    if (const std::optional<Sent>& sent = in_flight_[judged].sent)
      judge(out, sent->picture, sent->kind);
    if (below(32) == 0)
      keep_buffer(out);
  }
  const std::size_t lost = in_flight_.size() - judged;
  in_flight_.clear();
  ++interruptions_;
  return lost;
}

void Episode::drain() {
  const Owned<GstQuery> query(gst_query_new_drain());
  gst_pad_peer_query(filter_.source_pad(), query);
}

void Episode::drain_and_judge() {
  drain();
  const std::size_t lost = judge_rest();
  fail_unless(lost == 0, "episode %u: %zu frames were lost without a QoS message", seed(), lost);
}

void Episode::change_frames_in_flight() {
  filter_.set("frames-in-flight", std::to_string(1 + below(8)));
}

// Frames pushed while unlinked may be lost; later frames arrive. A new peer may first refuse the
// current caps, which must have no lasting effect.
void Episode::relink() {
  drain_and_judge();
  restricted_ = false;
  filter_.accept_downstream("ANY");
  good_caps();
  const Owned<GstPad> source(gst_element_get_static_pad(filter_.element(), "src"));
  gst_pad_unlink(source, filter_.sink_pad());
  for (int i = below(4); i > 0; --i)
    filter_.push(tracked(to_buffer(Picture(*format_, width_, height_))));
  const auto drop_frames = [this] {
    drain();
    while (filter_.pull() != nullptr) {
    }
  };
  if (below(2) == 0)
    drop_frames();
  fail_unless_equals_int(gst_pad_link(source, filter_.sink_pad()), GST_PAD_LINK_OK);
  if (below(3) == 0) {
    filter_.accept_downstream("video/x-raw, format=v216");
    for (int i = below(3); i >= 0; --i)
      filter_.push(tracked(to_buffer(Picture(*format_, width_, height_))));
    drop_frames();
    filter_.accept_downstream("ANY");
    gst_pad_push_event(filter_.sink_pad(), gst_event_new_reconfigure());
    good_caps();
  }
  drop_frames();
  good_frame();
}

GstBuffer* Episode::stamped(GstBuffer* buffer) {
  GST_BUFFER_PTS(buffer) = below(8) == 0 ? GST_CLOCK_TIME_NONE : (time_ += 40 * GST_MSECOND);
  GST_BUFFER_FLAG_SET(buffer, below(8) == 0 ? GST_BUFFER_FLAG_GAP : 0);
  if (below(8) == 0)
    set_hostile_times(*this, buffer);
  return buffer;
}

void Episode::good_frame() {
  if (!started_)
    return good_caps();
  Picture picture = new_picture(*format_, width_, height_);
  picture.interlaced = scan_ != Scan::progressive;
  GstBuffer* buffer = stamped(to_buffer(picture, any_layout()));
  if (below(8) == 0)
    with_callback(filter_.element(), buffer);
  const bool flagged = below(2) == 0;
  GST_BUFFER_FLAG_SET(buffer, flagged ? GST_VIDEO_BUFFER_FLAG_INTERLACED : 0);
  FrameKind kind;
  kind.limited = limited_;
  kind.interlaced = scan_ == Scan::interleaved || (scan_ == Scan::mixed && flagged);
  // While properties are invalid, the last valid values apply. The test does not know these values,
  // because QoS may skip frames.
  push(buffer, possible(*format_) ? std::optional(Sent{picture, kind}) : std::nullopt);
}

void Episode::resume_segment() {
  if (below(6) == 0)
    return filter_.send_segment(hostile_segment(*this));
  GstSegment segment = new_segment(below(6) == 0 ? GST_FORMAT_BYTES : GST_FORMAT_TIME);
  if (segment.format == GST_FORMAT_TIME) {
    segment.rate = one_of({1.0, 0.5, 2.0});
    segment.base = static_cast<guint64>(below(1000)) * GST_SECOND;
    segment.time = static_cast<guint64>(below(1000)) * GST_SECOND;
  }
  filter_.send_segment(segment);
}

void Episode::flush_or_end() {
  if (below(2) == 0) {
    filter_.send_eos();
    drain_and_judge();
  }
  filter_.send_event(gst_event_new_flush_start());
  if (started_ && below(2) == 0)
    Owned<GstBuffer>(tracked(to_buffer(Picture(*format_, width_, height_))));
  filter_.send_event(gst_event_new_flush_stop(below(2) == 0));
  judge_rest();
  resume_segment();
}

void Episode::send_event() {
  const int event = below(5);
  if (event < 3)
    ++interruptions_;
  switch (event) {
    case 0:
      resume_segment();
      break;
    case 1:
      filter_.send_event(gst_event_new_gap(time_, below(100) * GST_MSECOND));
      break;
    case 2:
      filter_.send_event(gst_event_new_tag(gst_tag_list_new(GST_TAG_TITLE, "any title", nullptr)));
      break;
    case 3:
      drain_and_judge();
      gst_harness_push_upstream_event(filter_.harness(), gst_event_new_reconfigure());
      break;
    default:
      gst_harness_push_upstream_event(
          filter_.harness(),
          gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 2.0, below(100) * GST_MSECOND, time_));
  }
}

void Episode::change_state() {
  bool stopped = false;
  change_frames_in_flight();
  for (int i = below(3); i >= 0; --i) {
    const GstState state = one_of({GST_STATE_NULL, GST_STATE_READY, GST_STATE_PAUSED});
    gst_element_set_state(filter_.element(), state);
    stopped = stopped || state < GST_STATE_PAUSED;
  }
  fail_unless(
      gst_element_set_state(filter_.element(), GST_STATE_PLAYING) == GST_STATE_CHANGE_SUCCESS,
      "episode %u: the element does not start again", seed());
  gst_pad_push_event(filter_.source_pad(), gst_event_new_stream_start("again"));
  started_ = false;
  if (stopped) {
    judge_rest();
    restarted();
  } else {
    drain_and_judge();
  }
  mend();
  good_caps();
}

void Episode::ask() {
  const Owned<GstCaps> any(gst_caps_new_any());
  const Owned<GstCaps> some = caps_from(one_of(
      {"video/x-raw", "video/x-raw, format=NV12", "video/x-raw(ANY)", "audio/x-raw",
       "video/x-raw(memory:CUDAMemory)", "EMPTY", "video/x-raw, width=[1, 7]", "other/tensors",
       "other/tensors(memory:CUDAMemory)", "other/tensors, dimensions=(string)1:9:5:1",
       "video/x-raw, format=GRAY8, width=9, height=5, framerate=25/1"}));
  Owned<GstCaps>(
      gst_pad_peer_query_caps(filter_.source_pad(), below(2) == 0 ? some.get() : nullptr));
  Owned<GstCaps>(
      gst_pad_peer_query_caps(filter_.sink_pad(), below(2) == 0 ? some.get() : any.get()));
  if (gst_caps_is_fixed(some))
    gst_pad_peer_query_accept_caps(filter_.source_pad(), some);
  gst_harness_query_latency(filter_.harness());
  const Owned<GstCaps> caps(gst_pad_get_current_caps(filter_.source_pad()));
  const Owned<GstQuery> query(
      gst_query_new_allocation(below(4) == 0 ? nullptr : caps.get(), below(2) == 0));
  gst_pad_peer_query(filter_.source_pad(), query);
}

void Episode::restrict_downstream() {
  drain_and_judge();
  restricted_ = below(3) == 0;
  filter_.accept_downstream(restricted_
                                ? one_of({"video/x-raw, format=NV12", "video/x-raw, width=7",
                                          "video/x-raw, format={ RGBA, GRAY8 }"})
                                : open_downstream());
  good_caps();
}

}  // namespace fuzz
