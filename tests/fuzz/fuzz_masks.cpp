// SPDX-License-Identifier: LGPL-2.1-or-later
// Gives cudapixelate frames with random segmentation masks and rotated detections; see life.h. The
// element must continue or post an error. Without detections or inversion, output frames must hide
// every pixel that a readable mask selects, unless masks are ignored.
#include <gst/analytics/analytics.h>

#include <vector>

#include "tests/check/common/filterharness.h"
#include "tests/check/common/pictures/picture.h"
#include "tests/fuzz/actions.h"
#include "tests/fuzz/hostile/hostilemasks.h"
#include "tests/fuzz/life.h"

using namespace check;

namespace {

/// cudapixelate paints black frames white where masks or detections select pixels.
class MasksLife final : public fuzz::Life {
 public:
  MasksLife(unsigned seed, BufferCount& buffers)
      : Life(seed, buffers),
        filter_("cudapixelate", {{"method", "solid"},
                                 {"color", "0xffffffff"},
                                 {"use-roi-meta", "true"},
                                 {"frames-in-flight", "1"}}),
        width_(1 + below(60)),
        height_(1 + below(40)) {}

  void run() override {
    filter_.accept_caps(format_named("GRAY8"), width_, height_);
    for (int i = 0; i < 60; ++i)
      do_something();
  }

 private:
  void do_something() {
    static const fuzz::Action<MasksLife> actions[] = {
        {"a frame with masks", 12, &MasksLife::frame_with_masks},
        {"a frame without any", 2, &MasksLife::frame_without_masks},
        {"change the settings", 4, &MasksLife::change_settings},
        {"a new segment", 1, &MasksLife::new_segment}};
    fuzz::act(*this, *this, actions);
  }

  void frame_without_masks() { push({}, 0); }

  void frame_with_masks() {
    std::vector<fuzz::Mask> masks(static_cast<std::size_t>(below(30) == 0 ? 70 : 1 + below(4)));
    for (fuzz::Mask& mask : masks)
      mask = fuzz::any_mask(*this, width_, height_);
    push(masks, below(3) == 0 ? below(6) : 0);
  }

  void push(std::vector<fuzz::Mask> masks, int objects) {
    const Picture black =
        picture_with(format_named("GRAY8"), width_, height_, [](int, int, int) { return 0; });
    GstBuffer* buffer = at(time_, to_buffer(black));
    time_ += 40 * GST_MSECOND;
    GstAnalyticsRelationMeta* meta = gst_buffer_add_analytics_relation_meta(buffer);
    std::vector<guint> related;
    for (int i = 0; i < objects; ++i) {
      GstAnalyticsODMtd object;
      const float radians = static_cast<float>(below(1000)) / static_cast<float>(1 + below(50)) - 9;
      gst_analytics_relation_meta_add_oriented_od_mtd(
          meta, g_quark_from_static_string("face"), below(90) - 30, below(90) - 30, below(60) - 5,
          below(60) - 5, radians, static_cast<float>(below(12)) / 10, &object);
      related.push_back(object.id);
    }
    for (fuzz::Mask& mask : masks) {
      const GstAnalyticsSegmentationMtd added = mask.add_to(meta);
      if (!related.empty() && below(2) == 0)
        gst_analytics_relation_meta_set_relation(
            meta, GST_ANALYTICS_REL_TYPE_RELATE_TO,
            related[static_cast<std::size_t>(below(static_cast<int>(related.size())))], added.id);
    }
    judge(filter_.push(tracked(buffer)), masks, objects > 0);
  }

  void judge(GstFlowReturn flow, const std::vector<fuzz::Mask>& masks, bool related) {
    if (flow != GST_FLOW_OK) {
      fail_unless(filter_.messages().count(GST_MESSAGE_ERROR) == 1, "episode %u: no error", seed());
      filter_.messages().clear();
      filter_.restart();
      filter_.accept_caps(format_named("GRAY8"), width_, height_);
      time_ = 0;
      return;
    }
    const Owned<GstBuffer> out = filter_.pull();
    fail_unless(out != nullptr, "episode %u: a frame was lost", seed());
    const Picture picture = from_buffer(out, format_named("GRAY8"), width_, height_);
    // Frames with detections are not checked, because labels and confidences affect their masks.
    if (!uses_masks_ || related || invert_)
      return;
    for (const fuzz::Mask& mask : masks) {
      if (!mask.is_readable() || mask.columns == 0 || mask.rows == 0)
        continue;
      for (int y = 0; y < height_; ++y)
        for (int x = 0; x < width_; ++x)
          if (const int id = id_at(mask, x, y); id > 0)
            fail_unless(picture.sample(0, x, y) == 255,
                        "episode %u: pixel %d, %d of the region %d is not hidden", seed(), x, y,
                        id);
    }
  }

  // Returns the mask's id at a pixel of the frame, or 0 outside the mask.
  static int id_at(const fuzz::Mask& mask, gint64 x, gint64 y) {
    x -= mask.x;
    y -= mask.y;
    if (x < 0 || y < 0 || x >= mask.columns || y >= mask.rows)
      return 0;
    return mask.id(static_cast<int>((2 * x + 1) * mask.width / (2 * gint64{mask.columns})),
                   static_cast<int>((2 * y + 1) * mask.height / (2 * gint64{mask.rows})));
  }

  void change_settings() {
    switch (below(5)) {
      case 0:
        uses_masks_ = below(4) != 0;
        return filter_.set("region-masks", uses_masks_ ? one_of({"prefer", "only"}) : "ignore");
      case 1:
        return filter_.set({{"region-margin", one_of({"0", "3", "300"})},
                            {"region-feather", one_of({"0", "5", "65535"})}});
      case 2:
        invert_ = below(4) == 0;
        return filter_.set("region-invert", invert_ ? "true" : "false");
      case 3:
        return filter_.set("region-persistence", one_of({"0", "90000000"}));
      default:
        return filter_.set("region-confidence", one_of({"0", "0.5"}));
    }
  }

  void new_segment() { filter_.send_segment(check::new_segment()); }

  FilterHarness filter_;
  int width_, height_;
  bool uses_masks_ = true, invert_ = false;
  GstClockTime time_ = 0;
};

}  // namespace

TEST(fuzz_masks) {
  fuzz::run_episodes<MasksLife>();
}
