// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests segmentation masks of GstAnalytics: their ids, classes, positions, formats and memory.
#include <cmath>

#include "tests/check/common/analysedframe.h"
#include "tests/check/common/filterharness.h"
#include "tests/check/common/pictures/cudaframes.h"
#include "tests/check/common/pictures/photographs.h"
#include "tests/check/common/pipelines.h"

using namespace check;
using cudavision::test::MaskPicture;
using cudavision::test::MasksCase;

namespace {

constexpr int width = 71, height = 53;

Picture random_picture(const FormatSpec& format, unsigned seed) {
  return with_valid_chroma(make_picture(format, width, height, Content::random, seed));
}

void start(FilterHarness& filter, const FormatSpec& format) {
  filter.accept_caps(format, width, height, colorimetry(format, false));
}

/// The regions of a frame: the boxes `others`, and masks with their boxes and distances.
struct MaskedRegions {
  MaskedRegions(Regions others, const std::vector<MaskPicture>& masks, int growth = 0)
      : regions(others) {
    regions.mask_growth = growth;
    for (const MaskPicture& mask : masks)
      regions.mask_boxes[static_cast<std::size_t>(regions.mask_count++)] = mask.box;
    distances =
        cudavision::test::defined_distances(MasksCase{width, height, regions.mask_radius(), masks});
  }

  Picture expected(const Picture& original) const {
    return in_regions(
        original, [](const Picture& part) { return result(part); }, regions, tested().equalizes,
        distances);
  }

  Regions regions;
  std::vector<std::uint8_t> distances;
};

const Box whole{0, 0, width, height};

/// Four quadrants with the ids 0 to 3.
MaskPicture quadrants(const Box& box = whole) {
  return mask_of(10, 8, box, [](int x, int y) { return x / 5 + y / 4 * 2; });
}

Properties with_metas(Properties properties) {
  properties[0] = {"use-roi-meta", "true"};  // replaces the property `regions`
  return properties;
}

}  // namespace

// Masks have 8 or 16 bits and any size, and are combined with boxes, margins and feathers.
TEST(test_masks, .for_each_element()) {
  unsigned seed = 0;
  for (const char* name :
       {"GRAY8", "GRAY16_LE", "NV12", "I420", "YUY2", "P010_10LE", "RGB", "ARGB"})
    for (int i = 0; i < 3; ++i) {
      const FormatSpec& format = format_named(name);
      const Picture picture = random_picture(format, ++seed);
      cudavision::test::Random random(seed);
      std::vector<MaskPicture> masks = cudavision::test::random_masks(width, height, 4, random);
      Regions others = rectangles({{50, 4, 60, 12}, {3, 40, 20, 50}});
      others.margin = i == 0 ? 0 : 3;
      others.feather = i == 2 ? 9 : 0;
      others.invert = i == 2;
      FilterHarness filter(with_metas(properties_of(others)));
      start(filter, format);
      const AnalysedFrame frame(picture);
      for (int j = 0; j < others.count; ++j)
        frame.detect(others.boxes[static_cast<std::size_t>(j)]);
      for (MaskPicture& mask : masks) {
        // No id has a class, so all ids but 0 select their pixels, although the meta lists only 7.
        mask.ids.assign(mask.ids.size(), ~0u);
        mask.ids[0] = ~1u;
        frame.add_mask(mask, {7});
      }
      filter.expect(frame.buffer, MaskedRegions(others, masks).expected(picture),
                    std::string(name) + ", " + std::to_string(i));
    }
}

// region-types and region-confidence apply to the classes of a mask's regions.
TEST(test_classes_of_masks, .for_each_element()) {
  const FormatSpec& format = format_named("NV12");
  const Picture picture = random_picture(format, 3);
  FilterHarness filter({{"use-roi-meta", "true"}});
  start(filter, format);
  const auto expect = [&](const Properties& properties, const std::vector<int>& ids,
                          const char* what) {
    filter.set(properties);
    const AnalysedFrame frame(picture);
    frame.add_mask(quadrants(), {0, 1, 2, 300}, {"street", "Face", "plate", "face"}, {-1, 0.25f});
    filter.expect(
        frame.buffer,
        ids.empty()
            ? picture
            : MaskedRegions(rectangles({}), {selecting(quadrants(), ids)}).expected(picture),
        what);
  };
  expect({{"region-types", ""}}, {0, 1, 2, 3}, "all classes, and the id without one");
  expect({{"region-types", "face"}}, {1}, "one class");
  expect({{"region-types", "street,plate"}}, {0, 2}, "id 0 has a class");
  expect({{"region-types", "face"}, {"region-confidence", "0.5"}}, {},
         "a level below region-confidence");
  expect({{"region-types", "plate"}}, {2}, "an unknown level");

  filter.set({{"region-types", ""}});
  const AnalysedFrame frame(picture);
  frame.add_mask(quadrants(), {});
  filter.expect(
      frame.buffer,
      MaskedRegions(rectangles({}), {selecting(quadrants(), {1, 2, 3})}).expected(picture),
      "id 0 without a class is the background");
}

// If a detection has a mask, region-masks decides whether its mask or its box is the region.
TEST(test_masks_of_detections, .for_each_element()) {
  const FormatSpec& format = format_named("I420");
  const Picture picture = random_picture(format, 4);
  const Box face{10, 10, 40, 40}, other{50, 30, 60, 50};
  const MaskPicture mask = selecting(quadrants(face), {1, 2, 3});
  FilterHarness filter({{"use-roi-meta", "true"}, {"region-types", "face"}});
  start(filter, format);
  const auto expect = [&](const char* masks, const std::vector<Box>& boxes, bool masked,
                          const char* label = "face", bool backwards = false) {
    filter.set("region-masks", masks);
    const AnalysedFrame frame(picture);
    const guint object = frame.detect(face, 1, label).id, added = frame.add_mask(mask, {1, 2}).id;
    frame.detect(other);
    backwards ? frame.relate(added, object, GST_ANALYTICS_REL_TYPE_IS_PART_OF)
              : frame.relate(object, added, GST_ANALYTICS_REL_TYPE_CONTAIN);
    const std::vector<MaskPicture> counted(masked ? 1 : 0, mask);
    filter.expect(frame.buffer,
                  boxes.empty() && !masked
                      ? picture
                      : MaskedRegions(rectangles(boxes), counted).expected(picture),
                  std::string(masks) + ", " + label);
  };
  expect("prefer", {other}, true);
  expect("prefer", {other}, true, "face", true);
  expect("ignore", {face, other}, false);
  expect("only", {}, true);
  expect("prefer", {other}, false, "person");

  // Neither listed id has an accepted class, so the detection's box is used.
  filter.set("region-masks", "prefer");
  const AnalysedFrame frame(picture);
  frame.relate(frame.detect(face).id, frame.add_mask(mask, {1, 2}, {"person", "person"}).id);
  MaskPicture rest = selecting(mask, {3});
  filter.expect(frame.buffer, MaskedRegions(rectangles({face}), {rest}).expected(picture),
                "a mask of another class");
}

TEST(test_persistence_of_masks, .for_each_element()) {
  const FormatSpec& format = format_named("GRAY8");
  const Picture picture = random_picture(format, 5), processed = result(picture);
  FilterHarness filter({{"use-roi-meta", "true"},
                        {"region-persistence", "40000000"},
                        {"region-margin", "3"},
                        {"regions-missing", "all"}});
  start(filter, format);
  const MaskPicture mask = selecting(quadrants({20, 10, 40, 30}), {1});
  Regions none = rectangles({});
  none.margin = 3;
  const AnalysedFrame frame(picture);
  frame.add_mask(mask, {0, 1}, {"", "face"});
  filter.set("region-types", "face");
  filter.expect(at(0, frame.buffer), MaskedRegions(none, {mask}).expected(picture), "seen");
  filter.expect(at(40 * GST_MSECOND, to_buffer(picture)),
                MaskedRegions(none, {mask}, 3).expected(picture), "missing");
  filter.expect(at(80 * GST_MSECOND, to_buffer(picture)), processed, "for too long");
  const AnalysedFrame outside(picture);
  outside.add_mask(quadrants({200, 10, 240, 30}), {0, 1}, {"", "face"});
  filter.expect(at(120 * GST_MSECOND, outside.buffer), processed, "a mask outside the frame");
}

// For masks of any size and rectangle, the element continues, or its error names the fault.
TEST(test_hostile_masks, .for_each_element()) {
  const FormatSpec& format = format_named("NV12");
  const Picture picture = random_picture(format, 6);
  const auto push = [&](GstBuffer* mask, const Box& box) {
    FilterHarness filter({{"use-roi-meta", "true"}});
    start(filter, format);
    const AnalysedFrame frame(picture);
    std::vector<guint> ids(5000);
    for (std::size_t i = 0; i < ids.size(); ++i)
      ids[i] = static_cast<guint>(i * 1000003);
    frame.add_picture(mask, ids, box);
    const GstFlowReturn flow = filter.push(frame.buffer);
    return flow == GST_FLOW_OK ? std::string() : filter.messages().text(GST_MESSAGE_ERROR);
  };
  const auto gray = [](GstVideoFormat kind, guint columns, guint rows, gint stride, gsize bytes) {
    GstBuffer* mask = gst_buffer_new_allocate(nullptr, bytes, nullptr);
    gst_buffer_memset(mask, 0, 1, bytes);
    const gsize offsets[GST_VIDEO_MAX_PLANES] = {};
    const gint strides[GST_VIDEO_MAX_PLANES] = {stride};
    gst_buffer_add_video_meta_full(mask, GST_VIDEO_FRAME_FLAG_NONE, kind, columns, rows, 1, offsets,
                                   strides);
    return mask;
  };
  constexpr GstVideoFormat bytes = GST_VIDEO_FORMAT_GRAY8, words = GST_VIDEO_FORMAT_GRAY16_LE;
  fail_unless_equals_string(push(gray(bytes, 1, 1, 1, 1), whole).c_str(), "");
  fail_unless_equals_string(push(gray(words, 3, 2, 6, 12), {-900, -1, 900, 1}).c_str(), "");
  fail_unless_equals_string(push(gray(bytes, 1000, 900, 1001, 901000), {5, 5, 6, 6}).c_str(), "");
  fail_unless_equals_string(push(gray(bytes, 4, 4, 4, 16), {9, 9, 9, 20}).c_str(), "");
  fail_unless_equals_string(push(gray(bytes, 4, 4, 4, 16), {900, 9, 990, 20}).c_str(), "");
  expect_words(push(gray(bytes, 10, 10, 10, 99), whole), {"buffer"});
  expect_words(push(gray(words, 10, 10, 10, 200), whole), {"stride"});
  expect_words(push(gray(bytes, 70000, 1, 70000, 70000), whole), {"70000×1", "65535"});
  expect_words(push(gray(bytes, 4, 4, 4, 16), {0, 0, 9000000, 9}),
               {"9000000", "exceeds the limit"});
  expect_words(push(gray(GST_VIDEO_FORMAT_GRAY16_BE, 4, 4, 8, 32), whole),
               {"GRAY16_BE", "use GRAY8 or GRAY16_LE"});

  FilterHarness filter({{"use-roi-meta", "true"}});
  start(filter, format);
  const AnalysedFrame frame(picture);
  for (int i = 0; i < 65; ++i)
    frame.add_mask(quadrants(), {1});
  fail_unless(filter.push(frame.buffer) == GST_FLOW_ERROR);
  expect_words(filter.messages().text(GST_MESSAGE_ERROR),
               {"64 segmentation masks", "region-confidence", "region-masks=ignore"});
}

// CUDA masks may come from the element's own context or from another context.
TEST(test_masks_in_cuda_memory, .unless(unless_testing_cuda())) {
  const FormatSpec& format = format_named("NV12");
  const Picture picture = random_picture(format, 7);
  const Picture samples = picture_with(format_named("GRAY8"), 16, 12,
                                       [](int, int x, int y) { return x / 8 + y / 6 * 2; });
  const MaskPicture mask =
      selecting(mask_of(16, 12, whole, [](int x, int y) { return x / 8 + y / 6 * 2; }), {1, 2, 3});
  const Owned<GstHarness> shared =
      new_shared_harness("cudagaussblur backend=cuda sigma=0 frames-in-flight=1");
  gst_harness_set_sink_caps_str(shared, cuda_feature);
  gst_harness_set_src_caps_str(shared, caps_of(format_named("GRAY8"), 16, 12).c_str());
  CudaUploader other;
  FilterHarness filter({{"use-roi-meta", "true"}, {"region-margin", "2"}});
  start(filter, format);
  Regions regions = rectangles({});
  regions.margin = 2;
  for (int i = 0; i < 8; ++i) {
    Owned<GstBuffer> cuda =
        i % 2 == 0 ? Owned<GstBuffer>(gst_harness_push_and_pull(shared, to_buffer(samples)))
                   : other.upload(samples);
    const AnalysedFrame frame(picture);
    std::vector<guint> ids = {1};
    frame.add_picture(gst_buffer_ref(cuda), ids, whole);
    filter.expect(frame.buffer, MaskedRegions(regions, {mask}).expected(picture), "CUDA memory");
  }
}

// Three round masks move through a video. Counts the samples inside the masks that are not
// blurred, and the samples outside the masks that have changed. Both counts must be 0.
TEST(test_masks_through_a_film, .unless(unless_street())) {
  const FormatSpec& format = format_named("I420");
  const Owned<GstElement> film =
      new_pipeline("filesrc location=" + street_film() +
                   " ! decodebin ! videoconvert ! video/x-raw,format=I420 ! appsink name=film "
                   "sync=false max-buffers=2");
  gst_element_set_state(film, GST_STATE_PLAYING);
  FilterHarness masked("cudagaussblur", {{"sigma", "12"}, {"use-roi-meta", "true"}});
  FilterHarness whole("cudagaussblur", {{"sigma", "12"}});
  long hidden = 0, sharp = 0, changed = 0;
  for (int number = 0; number < 60; ++number) {
    const Owned<GstSample> sample = pull_sample(film, "film");
    const Picture picture = picture_in(sample, format);
    if (number == 0)
      for (FilterHarness* filter : {&masked, &whole})
        filter->accept_caps(format, picture.width, picture.height, colorimetry(format, false));
    const AnalysedFrame frame(picture);
    std::vector<bool> inside(static_cast<std::size_t>(picture.width * picture.height));
    for (int head = 0; head < 3; ++head) {
      // The mask has a quarter of the frame's resolution and covers the rectangle around the head.
      const int side = 60 + 30 * head, x = 40 + 200 * head + 5 * number, y = 90 + head * 3 * number;
      const MaskPicture mask =
          mask_of(side / 4, side / 4, {x, y, x + side, y + side}, [&](int column, int row) {
            const int u = 8 * column + 4 - side, v = 8 * row + 4 - side;
            return u * u + v * v < side * side ? 7 : 0;
          });
      frame.add_mask(mask, {0, 7}, {"street", "face"});
      for (int j = 0; j < side && y + j < picture.height; ++j)
        for (int i = 0; i < side && x + i < picture.width; ++i)
          if (mask.id((2 * i + 1) * mask.width / (2 * side),
                      (2 * j + 1) * mask.height / (2 * side)) == 7)
            inside[static_cast<std::size_t>((y + j) * picture.width + x + i)] = true;
    }
    masked.set("region-types", "face");
    const Owned<GstBuffer> out = masked.process(frame.buffer);
    const Picture result = from_buffer(out, format, picture.width, picture.height);
    const Picture blurred = whole.process(picture);
    const auto is_inside = [&](int x, int y) {
      return inside[static_cast<std::size_t>(y * picture.width + x)];
    };
    for (std::size_t plane = 0; plane < 3; ++plane)
      for (int y = 0; y < picture.planes[plane].rows; ++y)
        for (int x = 0; x < picture.planes[plane].row_bytes; ++x) {
          const bool selected =
              plane == 0 ? is_inside(x, y)
                         : is_inside(2 * x, 2 * y) || is_inside(2 * x + 1, 2 * y) ||
                               is_inside(2 * x, 2 * y + 1) || is_inside(2 * x + 1, 2 * y + 1);
          const auto value_in = [&](const Picture& one) { return one.planes[plane].row(y)[x]; };
          hidden += selected;
          sharp += selected && value_in(result) != value_in(blurred);
          changed += !selected && value_in(result) != value_in(picture);
        }
  }
  gst_element_set_state(film, GST_STATE_NULL);
  fail_unless(hidden > 500000, "the masks select only %ld samples", hidden);
  fail_unless(sharp == 0 && changed == 0, "%ld samples of masks are sharp, %ld outside are changed",
              sharp, changed);
}
