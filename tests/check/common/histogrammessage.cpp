// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/histogrammessage.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace check {

namespace {

int level_in(const GstStructure* structure, const char* field) {
  guint value = 0;
  fail_unless(gst_structure_get_uint(structure, field, &value), "no uint field %s", field);
  return static_cast<int>(value);
}

std::vector<std::uint64_t> bins_in(const GstStructure* structure) {
  guint count = 0;
  GBytes* bytes = nullptr;
  fail_unless(gst_structure_get(structure, "bin-count", G_TYPE_UINT, &count, "bins", G_TYPE_BYTES,
                                &bytes, nullptr),
              "bin-count is not a uint, or bins is not a GBytes");
  gsize size = 0;
  const gconstpointer data = g_bytes_get_data(bytes, &size);
  std::vector<std::uint64_t> bins(count);
  fail_unless_equals_int(size, count * sizeof bins[0]);
  std::memcpy(bins.data(), data, size);
  g_bytes_unref(bytes);
  return bins;
}

void expect_near(double got, double expected, const char* field) {
  const double tolerance = 1e-9 * std::max(1.0, std::fabs(expected));
  fail_unless(std::fabs(got - expected) <= tolerance, "%s is %.17g instead of %.17g", field, got,
              expected);
}

}  // namespace

const GstStructure* structure_of(GstMessage* message) {
  return structure_of(message, "cudahistequalize");
}

void expect_statistics(const GstStructure* structure, const Picture& picture,
                       const Regions* regions) {
  const Bins expected =
      regions ? luminance_histogram(picture, *regions) : luminance_histogram(picture);
  const std::vector<std::uint64_t> bins = bins_in(structure);
  fail_unless_equals_int(bins.size(), expected.size());
  for (std::size_t v = 0; v < bins.size(); ++v)
    fail_unless(bins[v] == expected[v], "%s: bin %d is %d instead of %d", picture.format->name,
                static_cast<int>(v), static_cast<int>(bins[v]), static_cast<int>(expected[v]));
  const Statistics statistics = statistics_of(expected);
  expect_near(number_in(structure, "mean"), statistics.mean, "mean");
  expect_near(number_in(structure, "stddev"), statistics.stddev, "stddev");
  expect_near(number_in(structure, "entropy"), statistics.entropy, "entropy");
  fail_unless_equals_int(level_in(structure, "minimum"), statistics.minimum);
  fail_unless_equals_int(level_in(structure, "maximum"), statistics.maximum);
  for (int percent : {1, 5, 50, 95, 99}) {
    const std::string field = "percentile-" + std::to_string(percent);
    fail_unless(level_in(structure, field.c_str()) == percentile_of(expected, percent),
                "%s %s is %d instead of %d", picture.format->name, field.c_str(),
                level_in(structure, field.c_str()), percentile_of(expected, percent));
  }
}

void push_frame(FilterHarness& filter, const Picture& picture, GstClockTime time) {
  filter.process(at(time, to_buffer(picture), 20 * GST_MSECOND));
}

std::vector<guint64> take_timestamps(FilterHarness& filter) {
  std::vector<guint64> times;
  for (const Owned<GstMessage>& message : filter.messages().take(GST_MESSAGE_ELEMENT))
    times.push_back(time_in(structure_of(message), "timestamp"));
  return times;
}

}  // namespace check
