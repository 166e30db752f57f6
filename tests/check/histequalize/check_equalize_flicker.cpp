// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests how much smoothing-time of cudahistequalize reduces the flicker of videos.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "tests/check/common/filterharness.h"
#include "tests/check/common/pictures/photographs.h"
#include "tests/check/common/pipelines.h"

using namespace check;

namespace {

double mean_change(const std::vector<double>& numbers) {
  double sum = 0;
  for (std::size_t i = 1; i < numbers.size(); ++i)
    sum += std::fabs(numbers[i] - numbers[i - 1]);
  return sum / static_cast<double>(numbers.size() - 1);
}

constexpr char crop[] = " ! videocrop left=0 right=628 top=360 bottom=36 ! fakesink name=";

double mean_of_lawn(GstBuffer* frame) {
  const std::vector<std::uint8_t> bytes = bytes_of(frame);
  fail_unless_equals_int(bytes.size(), 140 * 180);
  return std::accumulate(bytes.begin(), bytes.end(), 0) / static_cast<double>(bytes.size());
}

}  // namespace

// A lamp flickers over the right half. The left half must hardly flicker with it.
TEST(test_pumping_exposure) {
  std::mt19937 random(1);
  FilterHarness plain("cudahistequalize");
  FilterHarness smoothed("cudahistequalize", {{"smoothing-time", "1000000000"}});
  std::vector<double> left_plain, left_smoothed;
  const Picture scene = make_picture(gray(), 160, 120, Content::natural, 1);
  const auto left_mean = [](const Picture& picture) {
    double sum = 0;
    for (int y = 0; y < picture.height; ++y)
      for (int x = 0; x < picture.width / 2; ++x)
        sum += picture.sample(0, x, y);
    return sum / (picture.height * picture.width / 2);
  };
  for (FilterHarness* filter : {&plain, &smoothed})
    filter->accept_caps(gray(), scene.width, scene.height, colorimetry(gray(), false));
  for (guint i = 0; i < 75; ++i) {
    Picture picture = scene;
    const double light = 1 + 0.15 * std::sin(i * 1.3);
    for (int y = 0; y < scene.height; ++y)
      for (int x = scene.width / 2; x < scene.width; ++x)
        picture.set_sample(0, x, y,
                           std::clamp(static_cast<int>(light * scene.sample(0, x, y)) +
                                          static_cast<int>(random() % 3),
                                      0, 255));
    for (auto& [filter, means] :
         {std::pair<FilterHarness*, std::vector<double>*>{&plain, &left_plain},
          {&smoothed, &left_smoothed}}) {
      const Owned<GstBuffer> out = filter->process(at(i * 40 * GST_MSECOND, to_buffer(picture)));
      means->push_back(left_mean(from_buffer(out, gray(), scene.width, scene.height)));
    }
  }
  const double before = mean_change(left_plain), after = mean_change(left_smoothed);
  g_print(
      "pumping exposure: the still half changes by %.3f grey levels from frame to frame, "
      "with smoothing by %.3f\n",
      before, after);
  fail_unless(before > 0.5);
  fail_unless(after <= before / 10);
}

// While people walk by, smoothing must keep a lawn almost as steady as constant tables do.
TEST(test_lawn, .times(2).unless(unless_street()).unless(unless_sanitized())) {
  const std::string method = index == 1 ? "clahe" : "equalize";
  struct Branch {
    const char* name;
    std::string element;
    std::vector<double> means{};
  };
  const std::string equalize = " ! cudahistequalize method=" + method;
  Branch branches[] = {
      {"source", ""},
      {"plain", equalize},
      {"smoothed", equalize + " smoothing-time=1000000000"},
      {"fixed", equalize + " smoothing-time=1000000000000000 scene-cut-threshold=1"},
  };
  std::string pipeline = "filesrc location=" + street_film() +
                         " ! decodebin ! videoconvert ! video/x-raw,format=GRAY8 ! tee name=t";
  for (const Branch& branch : branches)
    pipeline += " t. ! queue" + branch.element + crop + branch.name;
  double changes[std::size(branches)];
  run_pipeline(
      pipeline,
      [&](GstElement* bin) {
        for (Branch& branch : branches)
          on_buffers_at(bin, branch.name,
                        [&](GstBuffer* frame) { branch.means.push_back(mean_of_lawn(frame)); });
      },
      [&](GstElement*) {
        for (std::size_t i = 0; i < std::size(branches); ++i)
          changes[i] = mean_change(branches[i].means);
      });
  const auto [source, plain, smoothed, fixed] = changes;
  g_print(
      "lawn, method=%s: the mean changes by %.4f grey levels from frame to frame; "
      "equalised: %.2f times as much, with smoothing: %.2f times, with constant tables: %.2f "
      "times\n",
      method.c_str(), source, plain / source, smoothed / source, fixed / source);
  fail_unless(plain > 2.5 * source);
  fail_unless(smoothed <= 1.05 * fixed);
  if (method == "equalize")
    fail_unless(smoothed <= 1.25 * source);
}
