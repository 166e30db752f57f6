// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/streams/overlap.h"

namespace check {

namespace {

constexpr int width = 33, height = 21;

const FormatSpec& format() {
  return format_named("I420");
}

Picture numbered_picture(guint64 number) {
  return make_picture(format(), width, height, Content::natural, static_cast<unsigned>(number));
}

}  // namespace

Overlap::Overlap(int frames_in_flight, const Properties& more)
    : filter_(joined(more, {{"frames-in-flight", std::to_string(frames_in_flight)}})) {
  begin();
  receiver_.forget();
}

GstBuffer* Overlap::numbered_frame(guint64 number) {
  return at(number * frame_duration, to_buffer(numbered_picture(number)), frame_duration);
}

GstBuffer* Overlap::frame(guint64 number) const {
  return numbered_frame(number);
}

void Overlap::push(guint64 number) {
  const GstFlowReturn flow = filter_.push(frame(number));
  fail_unless(flow == GST_FLOW_OK, "frame %d: %s: %s", static_cast<int>(number),
              gst_flow_get_name(flow), filter_.messages().text(GST_MESSAGE_ERROR).c_str());
}

void Overlap::push(guint64 first, guint64 count) {
  for (guint64 i = first; i < first + count; ++i)
    push(i);
}

void Overlap::expect(const std::string& arrivals) {
  comes_true([&] { return receiver_.arrivals().size() >= arrivals.size(); });
  const std::string arrived = receiver_.arrivals();
  fail_unless(arrived == arrivals, "expected: %s\narrived: %s", arrivals.c_str(), arrived.c_str());
}

void Overlap::expect_pictures() {
  for (const Owned<GstBuffer>& out : receiver_.take_frames()) {
    const guint64 number = GST_BUFFER_PTS(out.get()) / frame_duration;
    expect_picture(from_buffer(out, format(), width, height), result(numbered_picture(number)),
                   "frame " + std::to_string(number));
  }
}

void Overlap::drain() {
  const Owned<GstQuery> query(gst_query_new_drain());
  gst_pad_peer_query(filter_.source_pad(), query);
}

void Overlap::begin() {
  gst_pad_push_event(filter_.source_pad(), gst_event_new_stream_start("again"));
  filter_.accept_caps(format(), width, height, colorimetry(format(), false));
}

void Overlap::expect_new_stream() {
  gst_element_set_state(filter_.element(), GST_STATE_PLAYING);
  begin();
  receiver_.forget();
  push(0, 10);
  drain();
  expect(numbers(0, 10) + " drain");
  expect_pictures();
}

std::string numbers(guint64 first, guint64 count) {
  std::string text;
  for (guint64 i = first; i < first + count; ++i)
    text += (text.empty() ? "" : " ") + std::to_string(i);
  return text;
}

}  // namespace check
