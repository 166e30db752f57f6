// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests masks of detections: ids, unreadable masks, CUDA memory, and packed and rectified frames.
#include <algorithm>
#include <cmath>

#include "tests/check/common/analysedframe.h"
#include "tests/check/common/backend.h"
#include "tests/check/common/pictures/cudaframes.h"
#include "tests/check/sgmstereo/cameras/photographedplanes.h"
#include "tests/check/sgmstereo/detectedboxes.h"
#include "tests/check/sgmstereo/wallpairs.h"

using namespace check;
using cudavision::test::MaskPicture;

namespace {

constexpr int wall_disparity = 8, object_disparity = 20;
/// The object fills the first columns of the box, so that the box's middle half shows the wall.
constexpr Box object_box{100, 30, 200, 130};
constexpr int object_columns = 22;

Pair scene() {
  const Picture left = noise_picture(gray(), width, height, 1);
  return {left, picture_with(gray(), width, height, [&](int, int x, int y) {
            const int column = x + object_disparity - object_box.x0;
            const bool near =
                column >= 0 && column < object_columns && y >= object_box.y0 && y < object_box.y1;
            return left.sample(
                0, std::min(x + (near ? object_disparity : wall_disparity), width - 1), y);
          })};
}

MaskPicture object_mask(int object, int others, const Box& box = object_box) {
  return mask_of(box.x1 - box.x0, box.y1 - box.y0, box,
                 [=](int x, int) { return x < object_columns ? object : others; });
}

/// The detection of the scene, in a frame that shows the left picture at (x, y).
struct Scene : AnalysedFrame {
  explicit Scene(const Picture& frame, const char* label = "person", int x = 0, int y = 0)
      : AnalysedFrame(frame),
        object(detect({object_box.x0 + x, object_box.y0 + y, object_box.x1 + x, object_box.y1 + y},
                      1, label)) {}

  void relate_mask(const GstAnalyticsSegmentationMtd& mask) const { relate(object.id, mask.id); }

  GstAnalyticsODMtd object;
};

bool is_masked(const GstStructure* object) {
  gboolean masked = FALSE;
  fail_unless(gst_structure_get_boolean(object, "masked", &masked));
  return masked != 0;
}

void expect_disparity(StereoHarness& stereo, int expected, bool masked, const std::string& what) {
  const auto messages = messages_of(stereo);
  const GstStructure* object = objects_in(messages.at(0)).at(0);
  fail_unless(std::abs(number_in(object, "disparity") - expected) < 0.3, "%s: %f", what.c_str(),
              number_in(object, "disparity"));
  fail_unless(is_masked(object) == masked, "%s", what.c_str());
}

struct MaskedStereo : StereoHarness {
  MaskedStereo() : StereoHarness(detecting()) { accept_gray(width, height); }

  void expect(const Scene& frame, int disparity, bool masked, const std::string& what) {
    const Map map = process(frame.buffer, to_buffer(pair.right));
    expect_disparity(*this, disparity, masked, what);
    gpointer state = nullptr;
    GstAnalyticsClsMtd levels;
    fail_unless(gst_analytics_relation_meta_get_direct_related(
        gst_buffer_get_analytics_relation_meta(map), frame.object.id,
        GST_ANALYTICS_REL_TYPE_RELATE_TO, gst_analytics_cls_mtd_get_mtd_type(), &state, &levels));
    const gint index =
        gst_analytics_cls_mtd_get_index_by_quark(&levels, g_quark_from_static_string("masked"));
    fail_unless((index >= 0) == masked, "%s", what.c_str());
    fail_unless(index < 0 ||
                gst_analytics_cls_mtd_get_level(&levels, static_cast<gsize>(index)) == 1);
  }

  const Pair pair = scene();
};

}  // namespace

TEST(test_ids_and_labels) {
  MaskedStereo stereo;
  const Picture& left = stereo.pair.left;
  stereo.expect(Scene(left), wall_disparity, false, "no mask");
  struct Case {
    const char* label;
    int others;
    std::vector<guint> ids;
    std::vector<const char*> classes;
    int disparity;
    const char* what;
  };
  const Case cases[] = {
      {"person", 0, {}, {}, object_disparity, "id 0 is the background"},
      {"person", 0, {3, 300}, {}, object_disparity, "listed, without classes"},
      {"person", 5, {3, 5}, {"Person", "wall"}, object_disparity, "the class of the label"},
      {"person", 0, {0, 3}, {"wall", "person"}, object_disparity, "id 0 has another class"},
      {"car", 5, {3, 5}, {"person", "wall"}, wall_disparity, "no class matches: all are used"},
      {"wall", 0, {0, 3}, {"wall", "person"}, wall_disparity, "id 0 has the class of the label"},
  };
  for (const Case& c : cases) {
    const Scene frame(left, c.label);
    frame.relate_mask(frame.add_mask(object_mask(3, c.others), c.ids, c.classes));
    stereo.expect(frame, c.disparity, true, c.what);
  }
  const Scene unrelated(left);
  unrelated.add_mask(object_mask(3, 0), {3});
  stereo.expect(unrelated, wall_disparity, false, "a mask that is not related to the detection");
}

// Masks that cannot be read are skipped: the next readable mask is used or, without one, the box.
TEST(test_masks_that_cannot_be_read) {
  MaskedStereo stereo;
  const MaskPicture good = object_mask(3, 0);
  const auto with_format = [&](GstVideoFormat format, gsize bytes) {
    GstBuffer* picture = gst_buffer_new_memdup(good.bytes.data(), bytes);
    gst_buffer_add_video_meta(picture, GST_VIDEO_FRAME_FLAG_NONE, format, 60, 60);
    return picture;
  };
  const auto make = [&](int number, const Scene& frame) {
    std::vector<guint> ids = {3};
    MaskPicture mask = good;
    switch (number) {
      case 0:
        return frame.add_picture(with_format(GST_VIDEO_FORMAT_GRAY16_BE, 7200), ids, good.box);
      case 1:
        return frame.add_picture(with_format(GST_VIDEO_FORMAT_GRAY8, 100), ids, good.box);
      case 2:
        mask.box = {0, 0, 9000000, 10};
        break;
      case 3:
        mask.box = {10, 10, 10, 20};
        break;
      case 4:
        return frame.add_mask(mask, {300}, {"person"});  // no 8-bit mask has this id
      default:
        mask.box = {0, 0, 50, 20};  // selects nothing in the detection's box
    }
    return frame.add_mask(mask, ids);
  };
  for (int number = 0; number < 6; ++number) {
    const Scene frame(stereo.pair.left);
    frame.relate_mask(make(number, frame));
    stereo.expect(frame, wall_disparity, false, std::to_string(number));
    const Scene second(stereo.pair.left);
    second.relate_mask(make(number, second));
    second.relate_mask(second.add_mask(good, {3}));
    // The last mask can be read, so it is not skipped, although it selects nothing.
    if (number < 5)
      stereo.expect(second, object_disparity, true, "after " + std::to_string(number));
    else
      stereo.expect(second, wall_disparity, false, "after one that selects nothing");
  }
}

TEST(test_masks_of_packed_frames) {
  for (const PackedPair& pair : packed_pairs(scene())) {
    StereoHarness stereo(detecting(), false);
    stereo.accept_caps(pair.caps);
    const int x = pair.x, y = pair.y;
    const Scene frame(pair.frame, "person", x, y);
    MaskPicture mask = object_mask(3, 0);
    mask.box = {mask.box.x0 + x, mask.box.y0 + y, mask.box.x1 + x, mask.box.y1 + y};
    frame.relate_mask(frame.add_mask(mask, {3}));
    const Map map = stereo.process(frame.buffer, nullptr);
    expect_disparity(stereo, object_disparity, true, pair.caps);
  }
}

// A mask on the camera's picture selects pixels of the rectified picture. The plane is slanted, so
// the left part of the box has other disparities than the middle of the box.
TEST(test_masks_of_rectified_pictures, .unless(unless_built_with_opencv())) {
  for (const bool fisheye : {false, true}) {
    const CalibrationFile file(fisheye);
    StereoHarness stereo(detecting({file.property(), {"focal-length", "0"}, {"baseline", "0"}}));
    const Photographs plane(fisheye, {14, 0.04});
    stereo.accept_gray(camera_width, camera_height);
    constexpr Box box{60, 60, 160, 140};
    const AnalysedFrame frame(plane.left);
    const GstAnalyticsODMtd object = frame.detect(box);
    const MaskPicture mask = selecting(object_mask(3, 0, box), {3});
    frame.relate(object.id, frame.add_mask(mask, {3}).id);
    const Map map = stereo.process(frame.buffer, to_buffer(plane.right));
    const auto messages = messages_of(stereo);
    const GstStructure* found = objects_in(messages.at(0)).at(0);
    fail_unless(is_masked(found));
    const MaskPicture rectified =
        selecting(mask_of(camera_width, camera_height, {0, 0, camera_width, camera_height},
                          [&](int u, int v) {
                            const auto [x, y] = plane.left_of.source(u, v);
                            return mask.selects(static_cast<int>(std::lround(x)),
                                                static_cast<int>(std::lround(y)))
                                       ? 1
                                       : 0;
                          }),
                  {1});
    const auto test = map_case(map, camera_width, camera_height);
    const Box visible_box = map_box_in(found);
    const double disparity = number_in(found, "disparity"),
                 of_mask = defined_disparity(test, visible_box, &rectified).middle / 16.0,
                 of_box = defined_disparity(test, visible_box).middle / 16.0;
    // The element's mapping of the mask may differ from this test's by a pixel in places.
    fail_unless(std::abs(disparity - of_mask) < 0.15 && std::abs(disparity - of_box) > 0.6,
                "%f instead of %f; the box has %f", disparity, of_mask, of_box);
  }
}

// Masks may be in CUDA memory of the element's context or of another context.
TEST(test_masks_in_cuda_memory, .unless(unless_testing_cuda())) {
  const MaskPicture mask = object_mask(3, 0);
  const Picture samples = picture_with(format_named("GRAY8"), 100, 100,
                                       [&](int, int x, int y) { return mask.id(x, y); });
  const Owned<GstHarness> shared =
      new_shared_harness("cudagaussblur backend=cuda sigma=0 frames-in-flight=1");
  gst_harness_set_sink_caps_str(shared, cuda_feature);
  gst_harness_set_src_caps_str(shared, caps_of(format_named("GRAY8"), 100, 100).c_str());
  CudaUploader other;
  MaskedStereo stereo;
  for (int i = 0; i < 9; ++i) {
    const Scene frame(stereo.pair.left);
    std::vector<guint> ids = {3};
    if (i % 3 == 0)
      frame.relate_mask(frame.add_mask(mask, ids));
    else
      frame.relate_mask(
          frame.add_picture(i % 3 == 1 ? gst_harness_push_and_pull(shared, to_buffer(samples))
                                       : other.upload(samples).release(),
                            ids, mask.box));
    stereo.expect(frame, object_disparity, true, "pair " + std::to_string(i));
  }
}
