// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/fuzz/races/upstream.h"

#include <gst/base/gstbasetransform.h>

#include <string>

#include "tests/check/common/filterharness.h"
#include "tests/fuzz/actions.h"
#include "tests/fuzz/hostile/hostilebuffers.h"
#include "tests/fuzz/hostile/hostilepeers.h"
#include "tests/fuzz/hostile/hostiletimes.h"
#include "tests/fuzz/races/testpads.h"

namespace fuzz {

using namespace check;

namespace {

constexpr GstClockTime frame_time = 10 * GST_MSECOND;

}  // namespace

Upstream::Upstream(unsigned seed, BufferCount& buffers, GstElement* element, const char* pad,
                   const std::atomic<unsigned>& errors)
    : Random(seed),
      buffers_(buffers),
      element_(GST_ELEMENT(gst_object_ref(element))),
      sink_(gst_element_get_static_pad(element, pad)),
      pad_(new_any_pad("upstream", GST_PAD_SRC)),
      errors_(errors) {
  gst_pad_set_event_function_full(pad_, handle_event, this, nullptr);
  gst_pad_set_query_function_full(pad_, handle_query, this, nullptr);
  gst_pad_set_active(pad_, TRUE);
  gst_pad_link(pad_, sink_);
}

Upstream::~Upstream() {
  stop();
  leave_pool();
  gst_pad_unlink(pad_, sink_);
  gst_pad_set_active(pad_, FALSE);
}

void Upstream::start(bool live) {
  live_ = live;
  stopping_ = false;
  begun_ = false;
  time_ = 0;
  accepts_ = true;
  errors_before_ = errors_;
  hostile_ = below(6) == 0;
  thread_ = std::thread([this] { run(); });
}

void Upstream::stop() {
  if (!thread_.joinable())
    return;
  stopping_ = true;
  gst_pad_push_event(pad_, gst_event_new_flush_start());
  thread_.join();
  gst_pad_push_event(pad_, gst_event_new_flush_stop(TRUE));
}

void Upstream::run() {
  static const Action<Upstream> actions[] = {
      {"send a frame", 40, &Upstream::good_frame},
      {"send a frame with hostile times", 20, &Upstream::hostile_frame},
      {"send caps", 2, &Upstream::new_caps},
      {"send a hostile segment", 2, &Upstream::new_segment},
      {"send a gap", 3, &Upstream::gap},
      {"send tags", 2, &Upstream::tags},
      {"send a custom event", 2, &Upstream::custom_event},
      {"end the stream", 1, &Upstream::end},
      {"send nothing for a while", 10, &Upstream::rest}};
  static const Action<Upstream> queries[] = {
      {"send an ALLOCATION query", 2, &Upstream::allocation_query},
      {"send a DRAIN query", 1, &Upstream::drain_query},
      {"send a custom query", 1, &Upstream::custom_query}};
  while (!stopping_) {
    {
      const std::lock_guard held(stream_);
      if (!begun_)
        begin_stream();
      if (!in_segment_.exchange(true)) {
        const GstSegment segment = check::new_segment();
        gst_pad_push_event(pad_, gst_event_new_segment(&segment));
      }
      may_query() && below(5) == 0 ? act(*this, *this, queries) : act(*this, *this, actions);
    }
    while (waiting_ > 0)
      std::this_thread::yield();
  }
}

std::unique_lock<std::recursive_mutex> Upstream::hold() {
  ++waiting_;
  std::unique_lock held(stream_);
  --waiting_;
  return held;
}

void Upstream::begin_stream() {
  begun_ = true;
  gst_pad_push_event(pad_, gst_event_new_stream_start("any stream"));
  new_caps();
  in_segment_ = false;
}

GstBuffer* Upstream::new_frame() {
  GstBuffer* buffer = pooled_frame();
  if (buffer == nullptr && hostile_ && below(8) == 0) {
    count_action("send a frame whose memory cannot be mapped now and then");
    return buffers_.track(new_unreliable_buffer(info_.size));
  }
  if (buffer == nullptr)
    buffer = buffers_.track(gst_buffer_new_allocate(nullptr, info_.size, nullptr));
  gst_buffer_memset(buffer, 0, static_cast<guint8>(below(256)), info_.size);
  return buffer;
}

/// Returns nullptr if no pool is in use, or if the pool has no free buffer.
GstBuffer* Upstream::pooled_frame() {
  GstBufferPoolAcquireParams now{};
  now.flags = GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT;
  GstBuffer* buffer = nullptr;
  if (pool_ == nullptr || gst_buffer_pool_acquire_buffer(pool_, &buffer, &now) != GST_FLOW_OK)
    return nullptr;
  count_action("send a frame from the element's pool");
  return buffer;
}

void Upstream::push(GstBuffer* buffer) {
  if (!accepts_)
    errors_before_ = errors_;
  const GstFlowReturn flow = gst_pad_push(pad_, buffer);
  expect_error_message(flow);
  if (flow == GST_FLOW_FLUSHING && may_query())
    for (int i = 0; i < 20; ++i)
      allocation_query();  // the element may be about to stop
  if (flow != GST_FLOW_OK)
    rest();  // lets other threads run, which may end a flush or an error
}

// A pending event on a flushing src pad makes the push return GST_FLOW_ERROR without a message.
void Upstream::expect_error_message(GstFlowReturn flow) {
  if (flow == GST_FLOW_ERROR && accepts_ && !GST_PAD_HAS_PENDING_EVENTS(pad_.get()))
    fail_unless(errors_ != errors_before_, "a frame failed without an element error");
  accepts_ = flow == GST_FLOW_OK || (accepts_ && flow != GST_FLOW_ERROR);
}

// GstAggregator frees queued frames under a lock, so their memory must not call the element.
void Upstream::good_frame() {
  GstBuffer* buffer = at(time_ += frame_time, new_frame(), frame_time);
  if (GST_IS_BASE_TRANSFORM(element_.get()) && below(4) == 0) {
    with_callback(element_, buffer);
    count_action("send a frame whose memory calls back");
  }
  push(buffer);
}

// A far-future PTS drops all frames of the pair's other pad until a flush, so few pairs get one.
void Upstream::hostile_frame() {
  GstBuffer* buffer = at(time_ += frame_time, new_frame(), frame_time);
  set_hostile_times(*this, buffer);
  if (!GST_IS_BASE_TRANSFORM(element_.get()) && below(12) != 0)
    GST_BUFFER_PTS(buffer) = time_;
  push(buffer);
}

void Upstream::new_caps() {
  // Few formats and sizes, so that the pads of a pair mostly agree.
  const int width = one_of({16, 16, 16, 16, 16, 16, 16, 9}), height = 8;
  const char* format =
      one_of({"GRAY8", "GRAY8", "NV12", "NV12", "RGBA", "RGBA", "RGB", "GRAY16_LE"});
  leave_pool();
  caps_.reset(gst_caps_new_simple("video/x-raw", "format", G_TYPE_STRING, format, "width",
                                  G_TYPE_INT, width, "height", G_TYPE_INT, height, nullptr));
  const std::string rate = hostile_framerate(*this);
  gst_caps_set_simple(caps_, "framerate", GST_TYPE_FRACTION, std::stoi(rate),
                      std::stoi(rate.substr(rate.find('/') + 1)), nullptr);
  gst_video_info_from_caps(&info_, caps_);
  gst_pad_push_event(pad_, gst_event_new_caps(caps_));
}

void Upstream::new_segment() {
  const GstSegment segment = hostile_segment(*this);
  gst_pad_push_event(pad_, gst_event_new_segment(&segment));
  good_frame();
  if (below(2) == 0)
    in_segment_ = false;
}

// GstAggregator loses the segment when downstream refuses a frame, and then takes no GAP event.
void Upstream::gap() {
  const GstClockTime time = below(12) == 0 ? hostile_time(*this) : time_;
  if (!GST_IS_BASE_TRANSFORM(element_.get()))
    return push(at(time, buffers_.track(missing_frame()), hostile_time(*this)));
  gst_pad_push_event(
      pad_, gst_event_new_gap(GST_CLOCK_TIME_IS_VALID(time) ? time : 0, hostile_time(*this)));
}

void Upstream::tags() {
  gst_pad_push_event(pad_, gst_event_new_tag(gst_tag_list_new(GST_TAG_TITLE, "any", nullptr)));
}

void Upstream::custom_event() {
  gst_pad_push_event(
      pad_, gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM, gst_structure_new_empty("any")));
}

void Upstream::end() {
  gst_pad_push_event(pad_, gst_event_new_eos());
  begun_ = below(4) == 0;  // some sources continue after EOS
}

void Upstream::rest() {
  g_usleep(static_cast<gulong>(below(500)));
}

// Returns false for GstAggregator, because 1.22 uses queries that a flush returned to the caller.
bool Upstream::may_query() const {
  return GST_IS_BASE_TRANSFORM(element_.get());
}

void Upstream::allocation_query() {
  if (below(2) == 0) {
    const Owned<GstPad> out(gst_element_get_static_pad(element_, "src"));
    gst_pad_mark_reconfigure(out);
  }
  const Owned<GstQuery> query(gst_query_new_allocation(caps_, below(2) == 0));
  if (gst_pad_peer_query(pad_, query) && below(2) == 0)
    take_pool(query);
}

// Adopts the offered pool. Buffers in flight, and buffers that the test keeps, outlive the pool.
void Upstream::take_pool(GstQuery* query) {
  leave_pool();
  GstBufferPool* offered = nullptr;
  guint size = 0, min = 0, max = 0;
  if (gst_query_get_n_allocation_pools(query) > 0)
    gst_query_parse_nth_allocation_pool(query, 0, &offered, &size, &min, &max);
  Owned<GstBufferPool> pool(offered);
  if (pool == nullptr || size < info_.size)
    return;
  GstStructure* config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, caps_, size, min, max);
  if (gst_buffer_pool_set_config(pool, config) && gst_buffer_pool_set_active(pool, TRUE))
    pool_ = std::move(pool);
}

void Upstream::leave_pool() {
  if (pool_ != nullptr)
    gst_buffer_pool_set_active(pool_, FALSE);
  pool_.reset();
}

void Upstream::drain_query() {
  const Owned<GstQuery> query(gst_query_new_drain());
  gst_pad_peer_query(pad_, query);
}

void Upstream::custom_query() {
  const auto type = static_cast<GstQueryType>(
      GST_QUERY_MAKE_TYPE(4000, GST_QUERY_TYPE_BOTH | GST_QUERY_TYPE_SERIALIZED));
  const Owned<GstQuery> query(gst_query_new_custom(type, gst_structure_new_empty("any")));
  gst_pad_peer_query(pad_, query);
}

gboolean Upstream::handle_event(GstPad* pad, GstObject*, GstEvent* event) {
  if (GST_EVENT_TYPE(event) == GST_EVENT_SEEK) {
    GstSeekFlags flags = GST_SEEK_FLAG_NONE;
    gst_event_parse_seek(event, nullptr, nullptr, &flags, nullptr, nullptr, nullptr, nullptr);
    static_cast<Upstream*>(pad->eventdata)->seek((flags & GST_SEEK_FLAG_FLUSH) != 0);
  }
  gst_event_unref(event);
  return TRUE;
}

// Seeks like GstBaseSrc, except that a seek without a flush does not wait for the stream lock.
void Upstream::seek(bool flush) {
  if (!flush) {
    in_segment_ = false;
    return;
  }
  gst_pad_push_event(pad_, gst_event_new_flush_start());
  const auto held = hold();
  gst_pad_push_event(pad_, gst_event_new_flush_stop(TRUE));
  in_segment_ = false;
}

gboolean Upstream::handle_query(GstPad* pad, GstObject* parent, GstQuery* query) {
  if (static_cast<Upstream*>(pad->querydata)->hostile_ && answer_caps_query(query))
    return TRUE;
  if (GST_QUERY_TYPE(query) != GST_QUERY_LATENCY)
    return gst_pad_query_default(pad, parent, query);
  gst_query_set_latency(query, static_cast<Upstream*>(pad->querydata)->live_, GST_MSECOND,
                        GST_CLOCK_TIME_NONE);
  return TRUE;
}

bool Upstream::relink() {
  return while_blocked(pad_, [this] {
    gst_pad_unlink(pad_, sink_);
    gst_pad_link(pad_, sink_);
  });
}

}  // namespace fuzz
