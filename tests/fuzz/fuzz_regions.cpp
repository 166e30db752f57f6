// SPDX-License-Identifier: LGPL-2.1-or-later
// Gives filters frames with region metas that the frame's edges clip, that have wrong labels, or
// that are missing for a while; see life.h. Every output must match an oracle, which follows
// docs/elements/common.md.
#include <gst/video/gstvideometa.h>

#include <algorithm>
#include <deque>
#include <vector>

#include "tests/check/common/definitions/regiondefinition.h"
#include "tests/check/common/filterharness.h"
#include "tests/fuzz/actions.h"
#include "tests/fuzz/life.h"

using namespace check;

namespace {

constexpr GstClockTime frame_time = 40 * GST_MSECOND;  // at the frame rate of the caps
constexpr int too_many = Regions::max_count + 1;

struct Labelled {
  Box box;
  const char* label;
  double confidence = 1;  ///< 1: the meta has no confidence
};

/// The settings that determine which regions of a frame are used.
struct Settings {
  std::vector<Box> boxes;  ///< boxes of the property `regions`
  bool named = false;      ///< the property `regions` is not empty
  bool metas = true;
  std::vector<std::string> types;  ///< in lower case
  double confidence = 0;
  RegionShape shape = RegionShape::rectangle;
  int margin = 0, feather = 0;
  bool invert = false, all_if_missing = false;
  guint64 persistence = 0;

  bool accepts(const Labelled& meta) const {
    return meta.confidence >= confidence &&
           (types.empty() || std::count(types.begin(), types.end(), lower_case(meta.label)) > 0);
  }

  static std::string lower_case(const char* text) {
    std::string lower = text;
    for (char& c : lower)
      c = g_ascii_tolower(c);
    return lower;
  }
};

/// Computes the regions of a stream's frames, independently of the elements.
class Oracle {
 public:
  explicit Oracle(int width, int height) : width_(width), height_(height) {}

  struct Selection {
    bool whole = false;
    Regions regions;  ///< if there are none, the frame passes unchanged
  };

  /// `time` and `duration` may be GST_CLOCK_TIME_NONE.
  Selection select(const Settings& settings, const std::vector<Labelled>& metas, GstClockTime time,
                   GstClockTime duration) {
    age_ += elapsed(time, duration);
    if (!settings.metas && !settings.named) {
      last_.clear();
      return {true, {}};
    }
    std::vector<Box> boxes = settings.boxes, seen;
    if (settings.metas)
      for (const Labelled& meta : metas)
        if (settings.accepts(meta))
          seen.push_back(meta.box);
    const std::vector<Box> known = settings.metas ? seen : boxes;
    // Keeps regions outside the frame, because their feather may reach into the frame.
    boxes.insert(boxes.end(), seen.begin(), seen.end());
    if (std::any_of(known.begin(), known.end(),
                    [&](const Box& box) { return in_frame(grown(box, settings.margin), box); })) {
      last_ = settings.persistence > 0 ? known : std::vector<Box>();
      age_ = 0;
      return {false, parameters(settings, boxes)};
    }
    if (!last_.empty() && age_ <= settings.persistence) {
      for (const Box& box : last_)
        if (!box.empty())
          boxes.push_back(grown(box, settings.invert ? 0 : settings.margin));
      return {false, parameters(settings, boxes)};
    }
    if (settings.all_if_missing || (boxes.empty() && settings.invert))
      return {true, {}};
    return {false, parameters(settings, boxes)};
  }

  /// Forgets earlier frames. Call this at a new segment, because regions do not outlast segments.
  void forget() {
    last_.clear();
    last_time_ = GST_CLOCK_TIME_NONE;
  }

 private:
  GstClockTime elapsed(GstClockTime time, GstClockTime duration) {
    const GstClockTime last = std::exchange(last_time_, time);
    if (GST_CLOCK_TIME_IS_VALID(last) && GST_CLOCK_TIME_IS_VALID(time))
      return time > last ? time - last : 0;
    return GST_CLOCK_TIME_IS_VALID(duration) ? duration : frame_time;
  }

  bool in_frame(const Box& grown_box, const Box& box) const {
    return !box.empty() && overlap(grown_box, {0, 0, width_, height_});
  }

  static Regions parameters(const Settings& settings, const std::vector<Box>& boxes) {
    Regions regions = rectangles(boxes);
    regions.shape = settings.shape;
    regions.margin = settings.margin;
    regions.feather = settings.feather;
    regions.invert = settings.invert;
    return regions;
  }

  int width_, height_;
  std::vector<Box> last_;
  GstClockTime age_ = 0, last_time_ = GST_CLOCK_TIME_NONE;
};

class RegionsLife final : public fuzz::Life {
 public:
  RegionsLife(unsigned seed, BufferCount& buffers)
      : Life(seed, buffers),
        spec_(tested_elements()[seed % tested_elements().size()]),
        filter_(spec_.element, spec_.always),
        format_(&any_format()),
        width_(1 + below(40)),
        height_(1 + below(30)),
        oracle_(width_, height_) {
    filter_.set("frames-in-flight", std::to_string(1 + below(8)));
    filter_.set("use-roi-meta", "true");
  }

  void run() override {
    new_stream();
    for (int step = 0; step < 60; ++step)
      do_something();
    drain_and_judge();
  }

 private:
  void do_something() {
    static const fuzz::Action<RegionsLife> actions[] = {
        {"a frame with metas", 12, &RegionsLife::frame_with_metas},
        {"a frame without metas", 8, &RegionsLife::frame_without_metas},
        {"change the settings of regions", 4, &RegionsLife::change_settings},
        {"a new segment", 1, &RegionsLife::new_segment},
        {"a flush", 1, &RegionsLife::flush},
        {"other caps", 1, &RegionsLife::new_caps},
        {"too many regions", 1, &RegionsLife::too_many_regions},
        {"wait for the frames in flight", 1, &RegionsLife::drain_and_judge}};
    fuzz::act(*this, *this, actions);
  }

  void frame_with_metas() {
    std::vector<Labelled> metas;
    for (int i = below(5); i >= 0; --i)
      metas.push_back({any_box(), one_of({"face", "Face", "plate", "person"}),
                       one_of({1.0, 1.0, 0.75, 0.5, 0.0})});
    push(metas);
  }

  void frame_without_metas() { push({}); }

  /// Returns a box inside the frame, clipped by one or several edges, or outside.
  Box any_box() {
    const int w = below(2) == 0 ? below(8) : below(width_ + 20), h = below(height_ + 20);
    const int x = one_of({-w / 2, width_ - w / 2, -w, width_, -1, below(width_), below(width_)});
    const int y =
        one_of({-h / 2, height_ - h / 2, -h, height_, -1, below(height_), below(height_)});
    return {x, y, x + w, y + h};
  }

  // x and y of the meta are guint, but detectors store negative numbers in them.
  static void add(GstBuffer* buffer, const Labelled& meta) {
    auto* added = gst_buffer_add_video_region_of_interest_meta(
        buffer, meta.label, static_cast<guint>(meta.box.x0), static_cast<guint>(meta.box.y0),
        static_cast<guint>(meta.box.x1 - meta.box.x0),
        static_cast<guint>(meta.box.y1 - meta.box.y0));
    if (meta.confidence < 1)
      gst_video_region_of_interest_meta_add_param(
          added,
          gst_structure_new("detection", "confidence", G_TYPE_DOUBLE, meta.confidence, nullptr));
  }

  void push(const std::vector<Labelled>& metas) {
    time_ += static_cast<GstClockTime>(below(4)) * frame_time;
    const GstClockTime time = below(8) == 0 ? GST_CLOCK_TIME_NONE : time_;
    const GstClockTime duration = one_of({frame_time, GST_CLOCK_TIME_NONE, 3 * frame_time});
    const Picture picture = with_valid_chroma(
        make_picture(*format_, width_, height_, one_of(all_contents), any_seed()));
    GstBuffer* buffer = at(time, to_buffer(picture, any_layout()), duration);
    for (const Labelled& meta : metas)
      add(buffer, meta);
    const Oracle::Selection selection = oracle_.select(settings_, metas, time, duration);
    expected_.push_back(expected(picture, selection));
    const GstFlowReturn flow = filter_.push(tracked(buffer));
    fail_unless(flow == GST_FLOW_OK, "episode %u: a frame returned %s: %s", seed(),
                gst_flow_get_name(flow), filter_.messages().text(GST_MESSAGE_ERROR).c_str());
    judge_arrived();
  }

  Picture expected(const Picture& picture, const Oracle::Selection& selection) const {
    const auto process = [&](const Picture& part) { return spec_.result(part, false); };
    if (selection.whole)
      return process(picture);
    return selects_nothing(selection.regions)
               ? picture
               : in_regions(picture, process, selection.regions, spec_.equalizes);
  }

  // If no pixel is selected, the element pushes the frame unchanged, including all unused bits.
  bool selects_nothing(const Regions& regions) const {
    const auto flat = [&](int value) {
      return picture_with(gray(), width_, height_, [=](int, int, int) { return value; });
    };
    return difference(in_regions(flat(0), flat(255), regions), flat(0)).empty();
  }

  /// With too many regions, the element must fail. If it dropped regions, faces could stay visible.
  void too_many_regions() {
    drain_and_judge();
    if (!settings_.metas)
      return;
    GstBuffer* buffer = to_buffer(Picture(*format_, width_, height_));
    const char* label = settings_.types.empty() ? "any" : settings_.types.front().c_str();
    for (int i = 0; i < too_many; ++i)
      add(buffer, {{0, 0, 1, 1}, label});
    filter_.messages().clear();
    filter_.push(tracked(buffer));
    drain();
    fail_unless(filter_.messages().count(GST_MESSAGE_ERROR) == 1,
                "episode %u: no error for %d regions", seed(), too_many);
    fail_unless(filter_.pull() == nullptr, "episode %u: a frame with %d regions came out", seed(),
                too_many);
    flush();
  }

  void judge_arrived() {
    while (const Owned<GstBuffer> out = filter_.pull()) {
      fail_unless(!expected_.empty(), "episode %u: more frames came out than went in", seed());
      expect_picture(from_buffer(out, *format_, width_, height_), expected_.front(),
                     "episode " + std::to_string(seed()));
      expected_.pop_front();
    }
  }

  void drain() {
    const Owned<GstQuery> query(gst_query_new_drain());
    gst_pad_peer_query(filter_.source_pad(), query);
  }

  void drain_and_judge() {
    drain();
    judge_arrived();
    fail_unless(expected_.empty(), "episode %u: %zu frames were lost", seed(), expected_.size());
    filter_.messages().clear();
  }

  void new_stream() {
    fail_unless(filter_.send_caps(caps_of(*format_, width_, height_, colorimetry(*format_, false))),
                "episode %u: %s was refused", seed(), format_->name);
    oracle_ = Oracle(width_, height_);
    time_ = 0;
  }

  void new_caps() {
    drain_and_judge();
    format_ = &any_format();
    width_ = 1 + below(40);
    height_ = 1 + below(30);
    new_stream();
  }

  void new_segment() {
    filter_.send_segment(check::new_segment());
    oracle_.forget();
    time_ = 0;
  }

  void flush() {
    drain_and_judge();
    filter_.flush();
    new_segment();
  }

  void change_settings() {
    switch (below(9)) {
      case 0:
        return change_rectangles();
      case 1:
        settings_.metas = below(4) != 0;
        return filter_.set("use-roi-meta", settings_.metas ? "true" : "false");
      case 2:
        return change_types();
      case 7:
        settings_.confidence = one_of({0.0, 0.0, 0.5, 0.8});
        return filter_.set("region-confidence", std::to_string(settings_.confidence));
      case 3:
        settings_.shape = one_of({RegionShape::rectangle, RegionShape::ellipse});
        break;
      case 4:
        settings_.margin = one_of({0, 1, 3, 50});
        settings_.feather = one_of({0, 0, 2, 5});
        break;
      case 5:
        settings_.invert = below(3) == 0;
        break;
      case 6:
        settings_.all_if_missing = below(2) == 0;
        return filter_.set("regions-missing", settings_.all_if_missing ? "all" : "pass");
      default:
        settings_.persistence =
            one_of({guint64{0}, frame_time, 2 * frame_time, 5 * frame_time, GST_CLOCK_TIME_NONE});
        return filter_.set("region-persistence", std::to_string(settings_.persistence));
    }
    Regions regions;
    regions.shape = settings_.shape;
    regions.margin = settings_.margin;
    regions.feather = settings_.feather;
    regions.invert = settings_.invert;
    for (const Property& property : properties_of(regions))
      if (property.first != std::string("regions"))
        filter_.set(property);
  }

  void change_rectangles() {
    settings_.boxes.clear();
    settings_.named = below(2) == 0;
    if (settings_.named)
      for (int i = below(3); i >= 0; --i)
        settings_.boxes.push_back(any_box());
    filter_.set(properties_of(rectangles(settings_.boxes)).front());
  }

  void change_types() {
    const char* const types = one_of({"", "face", "FACE,plate", "person", "nothing,plate"});
    filter_.set("region-types", types);
    settings_.types.clear();
    gchar** const words = g_strsplit(types, ",", -1);
    for (gchar** word = words; *word != nullptr; ++word)
      settings_.types.push_back(Settings::lower_case(*word));
    g_strfreev(words);
  }

  const ElementUnderTest& spec_;
  FilterHarness filter_;
  const FormatSpec* format_;
  int width_, height_;
  Oracle oracle_;
  Settings settings_;
  std::deque<Picture> expected_;
  GstClockTime time_ = 0;
};

}  // namespace

TEST(fuzz_regions) {
  fuzz::run_episodes<RegionsLife>();
}
