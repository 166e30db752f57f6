// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests detections=true with packed, rectified and CUDA frames, and with GstAnalytics.
#include <cmath>

#include "tests/check/common/backend.h"
#include "tests/check/common/pictures/cudaframes.h"
#include "tests/check/sgmstereo/cameras/photographedplanes.h"
#include "tests/check/sgmstereo/detectedboxes.h"
#include "tests/check/sgmstereo/wallpairs.h"

#ifdef HAVE_GST_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

using namespace check;

// Boxes are in the packed frame's coordinates. Only parts inside the left picture are measured.
TEST(test_packed_frames) {
  for (const auto& [frame, caps, x, y] : packed_pairs(wall())) {
    StereoHarness stereo(detecting(), false);
    stereo.accept_caps(caps);
    const Region left_box = regions_of_wall[0];
    const std::vector<Region> regions = {
        {left_box.x + x, left_box.y + y, left_box.width, left_box.height},
        {frame.width - width - x + 20, frame.height - height - y + 20, 50, 50}};
    const Map map = stereo.process(with_regions(to_buffer(frame), regions), nullptr);
    const auto messages = messages_of(stereo);
    const auto objects = objects_in(messages.at(0));
    const Box box = visible(left_box, width, height);
    fail_unless(map_box_in(objects.at(0)) == box, "%s", caps.c_str());
    expect_result(objects[0], defined_disparity(map_case(map, width, height), box), box,
                  focal_length, baseline, (width - 1) / 2.0, (height - 1) / 2.0);
    fail_unless(map_box_in(objects.at(1)) == Box(), "%s", caps.c_str());
  }
}

// Boxes on the camera's picture are mapped to the rectified picture, whose distances are metric.
TEST(test_rectified, .unless(unless_built_with_opencv())) {
  for (const bool fisheye : {false, true}) {
    const CalibrationFile file(fisheye);
    StereoHarness stereo(detecting({file.property(), {"focal-length", "0"}, {"baseline", "0"}}));
    const Photographs scene(fisheye, {12});
    stereo.accept_gray(camera_width, camera_height);
    constexpr Region boxes[] = {{140, 100, 40, 40}, {60, 40, 50, 30}, {200, 150, 60, 50}};
    const Map map =
        stereo.process(with_regions(to_buffer(scene.left), boxes), to_buffer(scene.right));
    const auto messages = messages_of(stereo);
    const auto objects = objects_in(messages.at(0));
    const auto test = map_case(map, camera_width, camera_height);
    for (std::size_t i = 0; i < objects.size(); ++i) {
      const Box box = map_box_in(objects[i]);
      // The corners of the mapped bounding box, mapped back, are near the corners of `region`.
      const Region& region = boxes[i];
      for (const auto& [u, v] : {std::pair{box.x0, box.y0}, {box.x1 - 1, box.y1 - 1}}) {
        const auto [x, y] = scene.left_of.source(u, v);
        const bool low = u == box.x0;
        const double left =
            low ? static_cast<double>(region.x) : static_cast<double>(region.x + region.width - 1);
        const double top =
            low ? static_cast<double>(region.y) : static_cast<double>(region.y + region.height - 1);
        fail_unless(std::abs(x - left) < 5 && std::abs(y - top) < 5,
                    "box %zu: (%d, %d) is (%f, %f), not (%f, %f)", i, u, v, x, y, left, top);
      }
      expect_result(objects[i], defined_disparity(test, box), box, rectified_focal_length,
                    rectified_baseline, rectified_center_x, rectified_center_y);
      const double z = rectified_focal_length * rectified_baseline / 12;
      fail_unless(std::abs(number_in(objects[i], "z-mm") / z - 1) < 0.02);
    }
    expect_parameters(map, objects);
  }
}

// Pairs in CUDA memory give the same results as pairs in system memory.
TEST(test_cuda_memory, .unless(unless_testing_cuda())) {
  const Pair pair = wall(format_named("NV12"));
  CudaUploader uploader;
  StereoHarness on_gpu(detecting()), in_system(detecting());
  on_gpu.accept_downstream(cuda_feature);
  on_gpu.accept_caps(cuda_caps_of(pair.left));
  in_system.accept_caps(caps_of(*pair.left.format, width, height));
  for (int i = 0; i < 3; ++i) {
    Owned<GstBuffer> left = uploader.upload(pair.left), right = uploader.upload(pair.right);
    with_regions(left.get(), regions_of_wall);
    const Map map = on_gpu.process(left.release(), right.release());
    in_system.process(with_regions(to_buffer(pair.left), regions_of_wall), to_buffer(pair.right));
    const auto messages = messages_of(on_gpu), expected = messages_of(in_system);
    const auto objects = objects_in(messages.at(0)), others = objects_in(expected.at(0));
    fail_unless_equals_int(objects.size(), others.size());
    for (std::size_t k = 0; k < objects.size(); ++k)
      fail_unless(gst_structure_is_equal(objects[k], others[k]));
    expect_parameters(map, objects);
  }
}

#ifdef HAVE_GST_ANALYTICS
// A detection of GstAnalytics gets a related classification, whose levels hold the results.
TEST(test_analytics) {
  StereoHarness stereo(detecting());
  const Pair pair = wall();
  stereo.accept_gray(width, height);
  GstBuffer* left = to_buffer(pair.left);
  add_region(left, regions_of_wall[0]);
  GstAnalyticsRelationMeta* meta = gst_buffer_add_analytics_relation_meta(left);
  GstAnalyticsODMtd detections[2];
  for (GstAnalyticsODMtd& detection : detections) {
    const int x = &detection == detections ? 100 : 1000;
    fail_unless(gst_analytics_relation_meta_add_od_mtd(meta, g_quark_from_static_string("car"), x,
                                                       40, 60, 80, 0.9F, &detection));
  }
  const Map map = stereo.process(left, to_buffer(pair.right));
  const auto messages = messages_of(stereo);
  const auto objects = objects_in(messages.at(0));
  fail_unless_equals_int(objects.size(), 3);
  GstAnalyticsRelationMeta* copy = gst_buffer_get_analytics_relation_meta(map);
  fail_unless(copy != nullptr);
  for (std::size_t i = 0; i < 2; ++i) {
    const GstStructure* object = objects[i + 1];
    fail_unless_equals_string(gst_structure_get_string(object, "meta"), "analytics");
    fail_unless_equals_string(gst_structure_get_string(object, "label"), "car");
    fail_unless_equals_int(integer_in(object, "id"), static_cast<int>(detections[i].id));
    gpointer state = nullptr;
    GstAnalyticsMtd levels;
    fail_unless(gst_analytics_relation_meta_get_direct_related(
        copy, detections[i].id, GST_ANALYTICS_REL_TYPE_RELATE_TO,
        gst_analytics_cls_mtd_get_mtd_type(), &state, &levels));
    fail_unless_equals_int(gst_analytics_cls_mtd_get_length(&levels), i == 0 ? 7 : 1);
    for (gsize k = 0; k < gst_analytics_cls_mtd_get_length(&levels); ++k) {
      const double number =
          number_in(object, g_quark_to_string(gst_analytics_cls_mtd_get_quark(&levels, k)));
      fail_unless(gst_analytics_cls_mtd_get_level(&levels, k) == static_cast<float>(number));
    }
  }
  expect_near(objects[1], "disparity", number_in(objects[0], "disparity"));
}
#endif
