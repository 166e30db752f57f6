// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/fuzz/races/race.h"

#include "tests/check/common/filterharness.h"
#include "tests/check/common/gstcheck.h"
#include "tests/fuzz/hostile/hostilecontrols.h"
#include "tests/fuzz/propertyextremes.h"
#include "tests/fuzz/races/testpads.h"

namespace fuzz {

using namespace check;

Race::Race(unsigned seed, BufferCount& buffers, Owned<GstElement> element,
           std::initializer_list<const char*> sink_pads)
    : Life(seed, buffers),
      element_(std::move(element)),
      messages_(element_),
      source_(gst_element_get_static_pad(element_, "src")) {
  const Owned<GstClock> clock(gst_system_clock_obtain());
  gst_element_set_clock(element_, clock);
  messages_.on_message([this](GstMessage* message) {
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR)
      ++errors_;
  });
  for (const char* pad : sink_pads)
    upstreams_.push_back(std::make_unique<Upstream>(any_seed(), buffers, element_, pad, errors_));
}

Race::~Race() {
  gst_element_set_state(element_, GST_STATE_NULL);
  downstream_.reset();
  upstreams_.clear();
}

void Race::run() {
  for (int round = 0; round < 8; ++round) {
    start();
    for (int step = below(30); step >= 0; --step)
      act_as_application();
    stop();
    messages_.clear();
  }
}

void Race::act_as_application() {
  static const Action<Race, bool> exclusive[] = {
      {"restart", 4, &Race::restart},
      {"pause and go on", 4, &Race::pause},
      {"seek with a flush", 12, &Race::flushing_seek},
      {"relink before the element", 4, &Race::relink_before},
      {"relink downstream", 4, &Race::relink_downstream},
      {"unlink downstream for a moment", 2, &Race::unlink_for_a_moment}};
  static const Action<Race> others[] = {
      {"set a property to an extreme", 4, &Race::change_property},
      {"set the properties' defaults", 8, &Race::mend_properties},
      {"read all properties", 3, &Race::read},
      {"query from downstream", 3, &Race::query},
      {"seek without a flush", 2, &Race::plain_seek},
      {"reconfigure", 2, &Race::reconfigure},
      {"restart from another thread", 2, &Race::restart_elsewhere},
      {"wait", 10, &Race::rest}};
  below(2) == 0 ? act(*this, *this, exclusive) : act(*this, *this, others);
}

void Race::start() {
  set_property(element_, "frames-in-flight", one_of({"0", "1", "2", "4", "8"}));
  // GStreamer allows no change of bindings while frames use them.
  if (below(6) == 0) {
    control_property(*this, element_);
    count_action("let a curve control a property");
  }
  play();
  const bool linked = below(4) != 0;
  downstream_ = std::make_unique<Downstream>(source_, linked, [this] {
    return frame_leaves([this](Random& random) { act_downstream(random); });
  });
  const bool live = below(2) == 0;
  for (const auto& upstream : upstreams_)
    upstream->start(live);
  round_begins();
}

bool Race::frame_leaves(const std::function<void(Random&)>& acts) {
  count_action("a frame leaves the element");
  const unsigned before = breaks_;
  Random random = new_random();
  acts(random);
  return breaks_ == before;
}

// Stops sources last, as pipelines do, or first, as applications may do.
void Race::stop() {
  round_ends();
  {
    std::unique_lock<std::mutex> lock(elsewhere_mutex_);
    elsewhere_done_.wait(lock, [this] { return elsewhere_ == 0; });
  }
  const std::lock_guard<std::mutex> gate(gate_);
  const bool sources_first = below(3) == 0;
  if (!sources_first)
    gst_element_set_state(element_, one_of({GST_STATE_READY, GST_STATE_NULL}));
  for (const auto& upstream : upstreams_)
    upstream->stop();
  if (sources_first)
    gst_element_set_state(element_, one_of({GST_STATE_READY, GST_STATE_NULL}));
  downstream_.reset();
  remove_controls(element_);
}

// An element that refuses to start with invalid properties must start with valid ones.
void Race::play() {
  // With a context for each start, the host of an H200 has time for only 4 episodes a minute.
  share_cuda_context(element_);
  const Owned<GstClock> clock(gst_system_clock_obtain());
  gst_element_set_base_time(element_, gst_clock_get_time(clock));
  if (gst_element_set_state(element_, GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE)
    return;
  gst_element_set_state(element_, GST_STATE_NULL);
  const std::lock_guard<std::mutex> lock(properties_);
  set_good_properties();
  messages_.clear();
  fail_unless(gst_element_set_state(element_, GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE,
              "episode %u: no start with default properties: %s", seed(),
              messages_.text(GST_MESSAGE_ERROR).c_str());
}

bool Race::restart() {
  const std::unique_lock<std::mutex> gate(gate_, std::try_to_lock);
  if (!gate)
    return false;
  ++breaks_;
  Random random = new_random();
  gst_element_set_state(element_, random.one_of({GST_STATE_READY, GST_STATE_NULL}));
  std::vector<std::unique_lock<std::recursive_mutex>> held;
  for (const auto& upstream : upstreams_) {
    held.push_back(upstream->hold());
    upstream->begin_again();
  }
  play();
  return true;
}

// Applications use another thread for actions that the pushing thread must not run itself.
void Race::run_elsewhere(bool (Race::*action)()) {
  {
    const std::lock_guard<std::mutex> lock(elsewhere_mutex_);
    ++elsewhere_;
  }
  struct Task {
    Race& race;
    bool (Race::*action)();
  };
  const auto run_now = +[](GstElement*, gpointer data) {
    const auto* task = static_cast<const Task*>(data);
    (task->race.*task->action)();
    const std::lock_guard<std::mutex> lock(task->race.elsewhere_mutex_);
    --task->race.elsewhere_;
    task->race.elsewhere_done_.notify_all();
  };
  gst_element_call_async(
      element_, run_now, new Task{*this, action},
      +[](gpointer data) { delete static_cast<Task*>(data); });
}

bool Race::pause() {
  const std::unique_lock<std::mutex> gate(gate_, std::try_to_lock);
  if (!gate)
    return false;
  gst_element_set_state(element_, GST_STATE_PAUSED);
  gst_element_set_state(element_, GST_STATE_PLAYING);
  return true;
}

bool Race::flushing_seek() {
  const std::unique_lock<std::mutex> gate(gate_, std::try_to_lock);
  if (!gate)
    return false;
  ++breaks_;
  gst_pad_send_event(source_, gst_event_new_seek(1.0, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH,
                                                 GST_SEEK_TYPE_SET, 0, GST_SEEK_TYPE_NONE, 0));
  return true;
}

void Race::plain_seek() {
  gst_pad_send_event(source_, gst_event_new_seek(1.0, GST_FORMAT_TIME, GST_SEEK_FLAG_NONE,
                                                 GST_SEEK_TYPE_SET, 0, GST_SEEK_TYPE_NONE, 0));
}

bool Race::relink_before() {
  const std::unique_lock<std::mutex> gate(gate_, std::try_to_lock);
  return gate && one_of(upstreams_)->relink();
}

// Replaces elements downstream in the usual way: block, unlink, link, unblock.
bool Race::relink_downstream() {
  const std::unique_lock<std::mutex> gate(gate_, std::try_to_lock);
  return gate && while_blocked(source_, [this] { downstream_->relink(); });
}

bool Race::unlink_for_a_moment() {
  downstream_->unlink();
  rest();
  return relink_downstream();
}

bool Race::relink_here() {
  const std::unique_lock<std::mutex> gate(gate_, std::try_to_lock);
  if (gate)
    downstream_->relink();
  return gate.owns_lock();
}

void Race::change_property() {
  Random random = new_random();
  const std::lock_guard<std::mutex> lock(properties_);
  set_extreme_property(random, element_);
}

void Race::mend_properties() {
  const std::lock_guard<std::mutex> lock(properties_);
  set_good_properties();
}

void Race::set_good_properties() {
  reset_properties(element_);
}

void Race::read() {
  read_properties(element_);
}

void Race::query() {
  for (const Owned<GstQuery>& query : {Owned<GstQuery>(gst_query_new_latency()),
                                       Owned<GstQuery>(gst_query_new_position(GST_FORMAT_TIME)),
                                       Owned<GstQuery>(gst_query_new_caps(nullptr)),
                                       Owned<GstQuery>(gst_query_new_context("gst.cuda.context"))})
    gst_pad_query(source_, query);
}

void Race::reconfigure() {
  gst_pad_send_event(source_, gst_event_new_reconfigure());
}

void Race::rest() {
  g_usleep(static_cast<gulong>(below(2000)));
}

}  // namespace fuzz
