// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests the sets of values with which no element starts, and the errors that say what to change.
#include <cstdio>

#include "tests/check/base/propertytables.h"
#include "tests/check/common/filterharness.h"

using namespace check;

namespace {

/// Values that contradict each other, and words of the error that name the remedy.
struct Impossible {
  const char* element;
  std::vector<const char*> formats;  ///< filters check the values when caps of these formats arrive
  Properties properties;
  std::vector<std::string> words;
};

const std::vector<Impossible>& impossible_sets() {
  static const std::vector<const char*> no_rgb = {"NV12", "GRAY8", "GRAY16_LE", "UYVY", "Y444"};
  static const std::vector<const char*> deep_rgb = {"GBR_10LE", "RGBA64_LE", "RGB10A2_LE"};
  static const Property denoise = {"output", "denoise"}, depth = {"output", "depth"};
  static constexpr char blur[] = "cudagaussblur", integral[] = "cudaintegral",
                        stereo[] = "cudasgmstereo";
  static const std::vector<std::string> rectangle = {"regions: \"", "is not a rectangle",
                                                     "x,y,width,height", "semicolons"};
  static const std::vector<Impossible> list = {
      {blur, {"I420"}, {{"regions", "1,2,3"}}, rectangle},
      {blur, {"I420"}, {{"regions", "1,2,3,4;5"}}, rectangle},
      {blur, {"I420"}, {{"regions", "1,2,3,4,5"}}, rectangle},
      {blur, {"I420"}, {{"regions", "1,2,3,"}}, rectangle},
      {blur, {"I420"}, {{"regions", "1,,2,3,4"}}, rectangle},
      {blur, {"I420"}, {{"regions", "1 2 3 4"}}, rectangle},
      {blur, {"I420"}, {{"regions", "a,2,3,4"}}, rectangle},
      {blur, {"I420"}, {{"regions", "1,2,-3,4"}}, rectangle},
      {blur, {"I420"}, {{"regions", "1,2,3,nan"}}, rectangle},
      {blur, {"I420"}, {{"regions", "1,2,3px,4"}}, rectangle},
      {blur, {"I420"}, {{"regions", "100.5,80,200,200"}}, rectangle},
      {"cudahistequalize", {"I420"}, {{"regions", "0,0,5"}}, {"\"0,0,5\" is not a rectangle"}},
      {integral, {"I420"}, {denoise, {"regions", "0,0,5"}}, {"\"0,0,5\" is not a rectangle"}},
      {integral, {"I420"}, {{"regions", "0,0,5,5"}}, {"regions", "output=denoise"}},
      {integral,
       {"I420"},
       {{"output", "mean"}, {"use-roi-meta", "true"}},
       {"use-roi-meta", "output=denoise"}},
      {"cudahistequalize", no_rgb, {{"channels", "rgb"}}, {"channels"}},
      {"cudahistequalize", deep_rgb, {{"channels", "rgb"}}, {"channels", "of 8 bits"}},
      {"cudahistequalize", no_rgb, {{"method", "clahe"}, {"channels", "rgb"}}, {"channels"}},
      {"cudahistequalize", {"I420"}, {{"clip-limit", "-1"}}, {"clip-limit=-1", "0 to 65536"}},
      {"cudahistequalize", {"I420"}, {{"tiles-x", "65"}}, {"tiles-x=65", "1 to 64"}},
      {blur, {"I420"}, {{"sigma", "500"}}, {"sigma=500", "-127 to 127"}},
      {blur, {"I420"}, {{"sigma", "nan"}}, {"sigma=nan", "-127 to 127"}},
      {blur, {"I420"}, {{"kernel-size", "1025"}}, {"kernel-size=1025", "0 to 1023"}},
      {blur, {"I420"}, {{"kernel-size", "2"}}, {"kernel-size", "1", "3"}},
      {blur, {"I420"}, {{"kernel-size", "64"}}, {"kernel-size", "63", "65"}},
      {blur, {"I420"}, {{"kernel-size", "1022"}}, {"kernel-size", "1021", "1023"}},
      {blur, {"I420"}, {{"kernel-size-y", "2"}}, {"kernel-size-y", "1", "3"}},
      {blur, {"I420"}, {{"kernel-size-y", "64"}}, {"kernel-size-y", "63", "65"}},
      {blur, {"I420"}, {{"kernel-size-y", "1022"}}, {"kernel-size-y", "1021", "1023"}},
      {integral, {"I420"}, {{"radius", "70000"}}, {"radius=70000", "0 to 65535"}},
      {integral, {"I420"}, {denoise, {"search-size", "6"}}, {"search-size=5", "search-size=7"}},
      {integral, {"I420"}, {denoise, {"patch-size", "6"}}, {"patch-size=5", "patch-size=7"}},
      {stereo, {}, {{"p1", "50"}, {"p2", "50"}}, {"p1", "p2", "50"}},
      {stereo,
       {},
       {{"p1", "230"}},
       {"p1 is 230; make it at least 1 and less than p2, which is 223, or 0 for the default of the "
        "census."}},
      {stereo,
       {},
       {{"p2", "224"}},
       {"p2 is 224; with a census of 32 bits make it 2 to 223, or 0 for the default of the "
        "census."}},
      {stereo, {}, {{"p2", "1"}}, {"p2", "2 to 223", "or 0"}},
      {stereo, {}, {{"census", "symmetric-9x7"}, {"p2", "225"}}, {"p2", "224"}},
      {stereo, {}, {{"census", "neighbours-9x7"}, {"p2", "194"}}, {"p2", "193"}},
      {stereo, {}, {{"census", "neighbours-5x5"}, {"p2", "232"}}, {"p2", "231"}},
      {stereo,
       {},
       {{"num-disparities", "100"}},
       {"num-disparities is 100; make it a multiple of 32 from 32 to 1024."}},
      {stereo, {}, {{"num-disparities", "2048"}}, {"num-disparities", "2048", "32 to 1024"}},
      {stereo, {}, {{"max-skew", "-2"}}, {"max-skew=-2", "at least -1"}},
      {stereo,
       {},
       {{"min-disparity", "2000"}},
       {"min-disparity is 2000; with num-disparities 128 make it -2047 to 1919."}},
      {stereo, {}, {{"paths", "6"}}, {"paths is 6; make it 4 or 8."}},
      {stereo,
       {},
       {{"memory-budget", "0"}},
       {"memory-budget is 0.000000; make it a share of the free memory, at most 1, or a number of "
        "bytes."}},
      {stereo, {}, {{"uniqueness", "1.5"}}, {"uniqueness is 1.500000; make it 0 to 1."}},
      {stereo,
       {},
       {{"lr-max-diff", "1025"}},
       {"lr-max-diff is 1025; make it 0 to 1024, or -1 for no left-right check."}},
      {stereo,
       {},
       {{"speckle-size", "-1"}},
       {"speckle-size is -1; make it a number of pixels, or 0 to keep all speckles."}},
      {stereo, {}, {{"speckle-range", "-1"}}, {"speckle-range is -1; make it 0 to 1024."}},
      {stereo,
       {},
       {{"confidence-threshold", "256"}},
       {"confidence-threshold is 256; make it 1 to 255, or 0 to keep all disparities."}},
      {stereo,
       {},
       {{"temporal-alpha", "0.001"}},
       {"temporal-alpha is 0.001; make it 1/256 to 1, where 1 is no smoothing."}},
      {stereo, {}, {{"temporal-delta", "1025"}}, {"temporal-delta is 1025; make it 0 to 1024."}},
      {stereo,
       {},
       {{"temporal-persistence", "256"}},
       {"temporal-persistence is 256; make it 1 to 255 frames, or 0 to keep nothing."}},
      {stereo,
       {},
       {{"compatibility", "libsgm"}, {"census", "neighbours-5x5"}},
       {"compatibility=libsgm needs census=symmetric-9x7; set that census, or "
        "compatibility=none."}},
      {stereo,
       {},
       {{"census", "census-gradient"}, {"compatibility", "libsgm"}},
       {"census", "symmetric-9x7"}},
      {stereo, {}, {{"alpha", "-0.5"}}, {"alpha", "from 0 to 1", "-1"}},
      {stereo, {}, {{"colormap-range", "9,2"}}, {"colormap-range", "the larger one"}},
      {stereo, {}, {depth}, {"focal-length", "baseline", "calibration"}},
      {stereo, {}, {depth, {"focal-length", "500"}}, {"baseline", "mm"}},
      {stereo, {}, {depth, {"baseline", "100"}}, {"focal-length", "pixels"}},
  };
  return list;
}

/// Sets of one property each, just beyond either end of its range.
std::vector<Impossible> sets_out_of_range() {
  std::vector<Impossible> list;
  for (const ElementSpec& spec : element_specs()) {
    const bool filter = is_filter(spec.element);
    const auto add = [&](const PropertySpec& row, double number, bool at_start) {
      char text[32];
      std::snprintf(text, sizeof text, "%.10g", number);
      list.push_back({spec.element,
                      at_start ? std::vector<const char*>{} : std::vector<const char*>{"I420"},
                      {{row.name, text}},
                      {row.name, text}});
    };
    const auto add_ends = [&](const PropertySpec& row, bool at_start) {
      // Other types of numbers hold nothing beyond these ends.
      const bool is_unsigned = row.minimum == 0 && row.maximum > max_int;
      if (row.change == Change::never || row.minimum == row.maximum || is_unsigned)
        return;
      add(row, row.minimum - 1, at_start);
      if (row.maximum < max_int)
        add(row, row.maximum + 1, at_start);
    };
    for (const PropertySpec& row : spec.properties)
      add_ends(row, !filter);
    for (const PropertySpec& row : region_properties())
      if (filter)
        add_ends(row, false);
    for (const PropertySpec& row : filter_properties())
      if (filter)
        add_ends(row, true);
    for (const PropertySpec& row : device_properties())
      add_ends(row, true);
  }
  return list;
}

void expect_refused_caps(const Impossible& set, const FormatSpec& format) {
  FilterHarness filter(set.element, set.properties);
  filter.send_caps(caps_of(format, 32, 16, colorimetry(format, false)));
  const GstFlowReturn flow = filter.push(to_buffer(Picture(format, 32, 16)));
  fail_unless(flow == GST_FLOW_NOT_NEGOTIATED || flow == GST_FLOW_ERROR, "flow %s",
              gst_flow_get_name(flow));
  // There may be two errors, because the pad offers the refused caps again with the frame.
  fail_unless(filter.messages().count(GST_MESSAGE_ERROR) >= 1);
  expect_words(filter.messages().text(GST_MESSAGE_ERROR), set.words);
  fail_unless(filter.pull() == nullptr);
}

void expect_refusal(const Impossible& set) {
  if (set.formats.empty())
    expect_words(expect_failed_start(make_element(set.element, set.properties).get()), set.words);
  for (const char* format : set.formats)
    expect_refused_caps(set, format_named(format));
}

}  // namespace

TEST(test_impossible_at_start, .times(impossible_sets().size())) {
  expect_refusal(impossible_sets()[static_cast<std::size_t>(index)]);
}

TEST(test_out_of_range_at_start) {
  const std::vector<Impossible> sets = sets_out_of_range();
  fail_unless(sets.size() > 50, "only %d numbers", static_cast<int>(sets.size()));
  for (const Impossible& set : sets) {
    const Owned<GstElement> element = new_element(set.element);
    const Property& property = set.properties[0];
    expect_read_back(element, property.first, property.second.c_str());
    expect_refusal(set);
  }
}
