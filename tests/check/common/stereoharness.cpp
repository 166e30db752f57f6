// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/stereoharness.h"

#include <algorithm>
#include <thread>

namespace check {

namespace {

constexpr int small_width = 32, small_height = 16;

}  // namespace

StereoFrames frames_from(GstClockTime first, int count) {
  StereoFrames frames;
  for (int i = 0; i < count; ++i)
    frames.push_back({first + i * 40 * GST_MSECOND});
  return frames;
}

StereoHarness::StereoHarness(const Properties& properties, bool two)
    : element_(make_element("cudasgmstereo", joined({{"diagnostics-interval", "0"}}, properties))),
      messages_(element_),
      left_(gst_harness_new_with_element(element_, "sink_left", "src")),
      right_(two ? gst_harness_new_with_element(element_, "sink_right", nullptr) : nullptr),
      harnesses_{left()} {
  if (two)
    harnesses_.push_back(right());
}

GstHarness* StereoHarness::open(const std::string& pad) {
  Owned<GstHarness>& harness = opened_[pad];
  fail_unless(harness == nullptr, "%s is open already", pad.c_str());
  harness.reset(gst_harness_new_with_element(element_, nullptr, pad.c_str()));
  return harness;
}

void StereoHarness::close(const std::string& pad) {
  fail_unless_equals_int(opened_.erase(pad), 1);
}

guint64 StereoHarness::number(const char* property) const {
  GValue value = G_VALUE_INIT, wide = G_VALUE_INIT;
  g_object_get_property(G_OBJECT(element_.get()), property, &value);
  g_value_init(&wide, G_TYPE_UINT64);
  fail_unless(g_value_transform(&value, &wide), "%s is not a number", property);
  const guint64 number = g_value_get_uint64(&wide);
  g_value_unset(&value);
  g_value_unset(&wide);
  return number;
}

void StereoHarness::accept_caps(const std::string& caps) {
  for (GstHarness* harness : harnesses_)
    fail_unless(send_caps(harness, caps), "refused: %s", caps.c_str());
}

void StereoHarness::accept_gray(int width, int height) {
  accept_caps(caps_of(gray(), width, height));
}

Map StereoHarness::process(GstBuffer* left, GstBuffer* right) {
  for (const auto& [harness, buffer] :
       {std::pair{this->left(), left}, std::pair{this->right(), right}}) {
    if (buffer == nullptr)
      continue;
    const GstFlowReturn flow = gst_harness_push(harness, buffer);
    fail_unless(flow == GST_FLOW_OK, "flow %s: %s", gst_flow_get_name(flow),
                messages_.text(GST_MESSAGE_ERROR).c_str());
  }
  return pull();
}

Map StereoHarness::process(const Picture& left, const Picture& right, GstClockTime time) {
  if (!GST_CLOCK_TIME_IS_VALID(time))
    return process(to_buffer(left), to_buffer(right));
  return process(at(time, to_buffer(left)), at(time, to_buffer(right)));
}

Map StereoHarness::pull() {
  Map map(wait_for_buffer(left_));
  fail_unless(map != nullptr, "no map came out: %s", messages_.text(GST_MESSAGE_ERROR).c_str());
  return map;
}

std::vector<Map> StereoHarness::run(const StereoFrames& left, const StereoFrames& right) {
  accept_gray(small_width, small_height);
  const auto send = [](GstHarness* harness, const StereoFrames& frames) {
    for (const StereoFrame& frame : frames)
      if (gst_harness_push(harness, small_frame(frame)) != GST_FLOW_OK)
        return;
    gst_harness_push_event(harness, gst_event_new_eos());
  };
  std::thread first(send, this->left(), left), second;
  if (right_ != nullptr)
    second = std::thread(send, this->right(), right);
  std::vector<Map> outputs;
  while (GstBuffer* buffer = wait_for_buffer_or_eos(left_))
    outputs.emplace_back(buffer);
  first.join();
  if (second.joinable())
    second.join();
  return outputs;
}

void StereoHarness::push_pair(GstClockTime time) {
  fail_unless_equals_int(gst_harness_push(left_, small_frame({time})), GST_FLOW_OK);
  fail_unless_equals_int(gst_harness_push(right_, small_frame({time})), GST_FLOW_OK);
}

guint32 StereoHarness::send_to_all(const std::function<GstEvent*()>& make, guint32 seqnum) {
  for (GstHarness* harness : harnesses_) {
    GstEvent* event = make();
    gst_event_set_seqnum(event, seqnum);
    gst_harness_push_event(harness, event);
  }
  return seqnum;
}

guint32 StereoHarness::flush() {
  const guint32 seqnum = send_to_all(gst_event_new_flush_start);
  send_to_all([] { return gst_event_new_flush_stop(TRUE); }, seqnum);
  const GstSegment segment = new_segment();
  send_to_all([&] { return gst_event_new_segment(&segment); });
  return seqnum;
}

void StereoHarness::restart(GstState low) {
  gst_element_set_state(element_, low);
  gst_element_set_state(element_, GST_STATE_PLAYING);
  for (GstHarness* harness : harnesses_)
    gst_pad_push_event(harness->srcpad, gst_event_new_stream_start("again"));
}

void StereoHarness::expect_error(const std::vector<std::string>& words) {
  wait_until([&] { return messages_.count(GST_MESSAGE_ERROR) > 0; }, "an error");
  expect_words(messages_.text(GST_MESSAGE_ERROR), words);
}

GstFlowReturn StereoHarness::flow_after_stop() {
  // When an error stops the aggregating thread, the task of src is paused.
  const Owned<GstPad> src(gst_element_get_static_pad(element_, "src"));
  wait_until([&] { return gst_pad_get_task_state(src) == GST_TASK_PAUSED; }, "the element to stop");
  return gst_harness_push(left_, small_frame({40 * ms}));
}

void StereoHarness::expect_end() {
  fail_unless(wait_for_buffer_or_eos(left_) == nullptr, "a buffer comes instead of EOS");
}

std::vector<Owned<GstEvent>> StereoHarness::take_events(GstEventType type) {
  std::vector<Owned<GstEvent>> events;
  while (Owned<GstEvent> event{gst_harness_try_pull_event(left_)})
    if (GST_EVENT_TYPE(event) == type)
      events.push_back(std::move(event));
  return events;
}

std::string start_error(const Properties& properties) {
  return expect_failed_start(make_element("cudasgmstereo", properties).get());
}

GstBuffer* small_frame(const StereoFrame& frame) {
  return at(
      frame.pts,
      frame.gap ? missing_frame() : to_buffer(noise_picture(gray(), small_width, small_height, 1)),
      frame.duration);
}

std::vector<GstClockTime> times_of(const std::vector<Map>& outputs) {
  std::vector<GstClockTime> times;
  for (const Map& output : outputs)
    times.push_back(output.pts());
  return times;
}

Picture noise_picture(const FormatSpec& format, int width, int height, unsigned seed) {
  return make_picture(format, width, height, Content::random, seed);
}

Picture shifted(const Picture& left, int disparity) {
  Picture right(left);
  for (std::size_t place = 0; place < left.format->places.size(); ++place)
    for (int y = 0; y < left.height; ++y)
      for (int x = 0; x < left.width; ++x)
        right.set_sample(
            static_cast<int>(place), x, y,
            left.sample(static_cast<int>(place), std::clamp(x + disparity, 0, left.width - 1), y));
  return right;
}

Picture packed(const Picture& first, const Picture& second, bool side_by_side) {
  Picture frame(*first.format, side_by_side ? 2 * first.width : first.width,
                side_by_side ? first.height : 2 * first.height);
  const auto fits = [&](std::size_t p) {
    return frame.planes[p].bytes.size() == 2 * first.planes[p].bytes.size();
  };
  for (std::size_t p = 0; p < frame.planes.size(); ++p) {
    Picture::Plane& plane = frame.planes[p];
    const Picture::Plane &a = first.planes[p], &b = second.planes[p];
    for (int y = 0; fits(p) && y < a.rows; ++y) {
      std::copy_n(a.row(y), a.row_bytes, plane.row(y));
      std::copy_n(b.row(y), b.row_bytes,
                  side_by_side ? plane.row(y) + a.row_bytes : plane.row(y + a.rows));
    }
  }
  for (const Place& place : first.format->places)
    for (int y = 0; !fits(static_cast<std::size_t>(place.plane)) && y < first.height; ++y)
      for (int x = 0; x < first.width; ++x) {
        frame.set_sample_at(place, x, y, first.sample_at(place, x, y));
        frame.set_sample_at(place, side_by_side ? x + first.width : x,
                            side_by_side ? y : y + first.height, second.sample_at(place, x, y));
      }
  return frame;
}

}  // namespace check
