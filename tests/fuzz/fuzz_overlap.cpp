// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares two elements with the same input, one of them with several frames in flight; see life.h.
#include <gst/video/gstvideometa.h>

#include "tests/check/common/filterharness.h"
#include "tests/fuzz/actions.h"
#include "tests/fuzz/life.h"

using namespace check;

namespace {

constexpr GstClockTime frame_time = 40 * GST_MSECOND;

/// An element, with properties that make frames depend on earlier frames, or cause messages.
struct Subject {
  const char* element;
  Properties properties;
  std::vector<Property> changes;           ///< settings that are changed while playing
  Property mended = {"region-types", ""};  ///< makes all `changes` valid
};

const std::vector<Subject>& subjects() {
  const std::vector<Property> intervals = {{"message-interval", "0"},
                                           {"message-interval", "40000000"},
                                           {"message-interval", "100000000"},
                                           {"message-interval", "18446744073709551615"},
                                           {"post-messages", "true"},
                                           {"post-messages", "false"},
                                           {"use-roi-meta", "true"},
                                           {"use-roi-meta", "false"},
                                           {"region-persistence", "100000000"},
                                           {"regions-missing", "all"}};
  const auto with_intervals = [&](std::vector<Property> changes) {
    changes.insert(changes.end(), intervals.begin(), intervals.end());
    return changes;
  };
  static const std::vector<Subject> all = {
      {"cudahistequalize",
       {{"post-messages", "true"}, {"tiles-x", "2"}, {"tiles-y", "2"}},
       with_intervals({{"smoothing-time", "0"},
                       {"smoothing-time", "200000000"},
                       {"scene-cut-threshold", "0.25"},
                       {"method", "clahe"},
                       {"method", "equalize"},
                       {"strength", "0"},
                       {"strength", "0.5"},
                       {"statistics-region", "regions"}})},
      {"cudadenoise",
       {{"post-messages", "true"}, {"strength", "-1"}, {"search-size", "3"}, {"patch-size", "3"}},
       with_intervals({{"frames", "1"},
                       {"frames", "3"},
                       {"frames", "5"},
                       {"strength", "-1"},
                       {"strength", "10"},
                       {"strength", "0"}})},
      {"cudagaussblur",
       {{"use-roi-meta", "true"}},
       {{"sigma", "0"},
        {"sigma", "3"},
        {"kernel-size", "4"},  // causes a warning
        {"kernel-size", "0"},
        {"use-roi-meta", "false"},
        {"use-roi-meta", "true"},
        {"region-types", "face"},
        {"region-types", ""},
        {"regions-missing", "all"}},
       {"kernel-size", "0"}}};
  return all;
}

/// Returns the part of a message that must be equal for both elements, or an empty text.
std::string text_of_message(GstMessage* message) {
  GError* error = nullptr;
  switch (GST_MESSAGE_TYPE(message)) {
    case GST_MESSAGE_ELEMENT: {
      const Owned<gchar> text(gst_structure_to_string(gst_message_get_structure(message)));
      return text.get();
    }
    case GST_MESSAGE_QOS: {
      guint64 time = 0, processed = 0, dropped = 0;
      gst_message_parse_qos(message, nullptr, nullptr, nullptr, &time, nullptr);
      gst_message_parse_qos_stats(message, nullptr, &processed, &dropped);
      return "skipped " + std::to_string(time) + ": " + std::to_string(processed) + ", " +
             std::to_string(dropped);
    }
    case GST_MESSAGE_WARNING:
      gst_message_parse_warning(message, &error, nullptr);
      break;
    case GST_MESSAGE_ERROR:
      gst_message_parse_error(message, &error, nullptr);
      break;
    default:
      return "";
  }
  return Owned<GError>(error)->message;
}

class OverlapLife final : public fuzz::Life {
 public:
  OverlapLife(unsigned seed, BufferCount& buffers)
      : Life(seed, buffers),
        subject_(subjects()[seed % subjects().size()]),
        one_(subject_.element, subject_.properties),
        many_(subject_.element, subject_.properties) {
    one_.set("frames-in-flight", "1");
    many_.set("frames-in-flight", std::to_string(2 + below(7)));
  }

  void run() override {
    new_caps();
    for (int step = 0; step < 80; ++step)
      do_something();
    drain_and_judge();
  }

 private:
  void do_something() {
    static const fuzz::Action<OverlapLife> actions[] = {
        {"the same frame for both", 20, &OverlapLife::frame},
        {"the same setting for both", 4, &OverlapLife::change_setting},
        {"the same bad frame for both", 1, &OverlapLife::bad_frame},
        {"the same segment for both", 1, &OverlapLife::segment},
        {"the same gap for both", 1, &OverlapLife::gap},
        {"the same caps for both", 1, &OverlapLife::new_caps},
        {"the same QoS event for both", 1, &OverlapLife::qos},
        {"the same flush for both", 1, &OverlapLife::flush},
        {"the same end for both", 1, &OverlapLife::end}};
    fuzz::act(*this, *this, actions);
  }

  template <class Do>
  void both(const Do& act) {
    act(one_);
    act(many_);
  }

  void frame() {
    // Changes the scene in one of five frames.
    if (below(5) == 0)
      content_ = any_seed();
    time_ += frame_time;
    const Owned<GstBuffer> buffer(
        at(below(12) == 0 ? GST_CLOCK_TIME_NONE : time_,
           to_buffer(make_picture(*format_, width_, height_, Content::natural, content_)),
           frame_time));
    if (below(2) == 0)
      gst_buffer_add_video_region_of_interest_meta(buffer, one_of({"face", "plate"}), 2, 3,
                                                   static_cast<guint>(below(20)), 9);
    both([&](FilterHarness& filter) {
      const GstFlowReturn flow = filter.push(tracked(gst_buffer_copy_deep(buffer)));
      fail_unless(flow == GST_FLOW_OK, "episode %u: a good frame returned %s", seed(),
                  gst_flow_get_name(flow));
    });
  }

  void change_setting() {
    const Property& change = one_of(subject_.changes);
    both([&](FilterHarness& filter) { filter.set(change); });
  }

  // Frames in flight go downstream before the error is posted.
  void bad_frame() {
    const Owned<GstBuffer> small(gst_buffer_new_allocate(nullptr, 1, nullptr));
    both([&](FilterHarness& filter) {
      filter.push(tracked(at(time_ + frame_time, gst_buffer_copy_deep(small))));
    });
    flush();
  }

  void segment() {
    GstSegment segment = new_segment();
    segment.base = static_cast<guint64>(below(10)) * GST_SECOND;
    both([&](FilterHarness& filter) { filter.send_segment(segment); });
    time_ = 0;
  }

  void gap() {
    time_ += frame_time;
    both([&](FilterHarness& filter) { filter.send_event(gst_event_new_gap(time_, frame_time)); });
  }

  void qos() {
    const GstClockTime late = time_ + static_cast<GstClockTime>(below(3)) * frame_time;
    both([&](FilterHarness& filter) {
      gst_harness_push_upstream_event(filter.harness(),
                                      gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 1.0, 0, late));
    });
  }

  void new_caps() {
    drain_and_judge();
    format_ = &any_format();
    width_ = 8 + below(40);
    height_ = 8 + below(30);
    both([&](FilterHarness& filter) {
      filter.set(subject_.mended);
      filter.accept_caps(*format_, width_, height_);
    });
    time_ = 0;
  }

  void flush() {
    drain_and_judge();
    both([&](FilterHarness& filter) {
      filter.flush();
      filter.send_segment(check::new_segment());
    });
    time_ = 0;
  }

  void end() {
    both([&](FilterHarness& filter) { filter.send_eos(); });
    flush();
  }

  static std::vector<std::string> take_messages(FilterHarness& filter) {
    std::vector<std::string> texts;
    for (const Owned<GstMessage>& message : filter.messages().take(GST_MESSAGE_ANY))
      if (std::string text = text_of_message(message); !text.empty())
        texts.push_back(std::move(text));
    filter.messages().clear();
    return texts;
  }

  void drain_and_judge() {
    both([&](FilterHarness& filter) {
      const Owned<GstQuery> query(gst_query_new_drain());
      gst_pad_peer_query(filter.source_pad(), query);
    });
    int number = 0;
    for (;; ++number) {
      const Owned<GstBuffer> one = one_.pull(), other = many_.pull();
      fail_unless((one == nullptr) == (other == nullptr),
                  "episode %u: only one element pushed more than %d frames", seed(), number);
      if (one == nullptr)
        break;
      expect_equal(one, other, number);
    }
    const std::vector<std::string> messages = take_messages(one_), others = take_messages(many_);
    for (std::size_t i = 0; i < std::max(messages.size(), others.size()); ++i) {
      const std::string text = i < messages.size() ? messages[i] : "nothing";
      const std::string other = i < others.size() ? others[i] : "nothing";
      fail_unless(text == other, "episode %u, message %zu: with several frames in flight\n%s\n%s",
                  seed(), i, other.c_str(), text.c_str());
    }
  }

  void expect_equal(GstBuffer* one, GstBuffer* other, int number) {
    const std::string what = "episode " + std::to_string(seed()) + ", " + std::to_string(number);
    fail_unless(GST_BUFFER_PTS(one) == GST_BUFFER_PTS(other), "%s: the PTS differ", what.c_str());
    const auto marks = GST_BUFFER_FLAG_DISCONT | GST_BUFFER_FLAG_GAP;
    fail_unless((GST_BUFFER_FLAGS(one) & marks) == (GST_BUFFER_FLAGS(other) & marks),
                "%s: the flags differ", what.c_str());
    expect_picture(from_buffer(other, *format_, width_, height_),
                   from_buffer(one, *format_, width_, height_), what);
  }

  const Subject& subject_;
  FilterHarness one_, many_;
  const FormatSpec* format_ = nullptr;
  int width_ = 0, height_ = 0;
  unsigned content_ = 0;
  GstClockTime time_ = 0;
};

}  // namespace

TEST(fuzz_overlap) {
  fuzz::run_episodes<OverlapLife>();
}
