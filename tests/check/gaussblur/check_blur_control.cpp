// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests sigma under the control of a GstControlSource. It must change smoothly, without
// renegotiation and without allocating more memory.
#include <gst/video/video.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tests/check/common/definitions/blurdefinition.h"
#include "tests/check/common/filterharness.h"
#include "tests/check/common/pictures/photographs.h"

using namespace check;

namespace {

constexpr GstClockTime frame_time = 40 * GST_MSECOND;

double sigma_of(FilterHarness& filter) {
  gdouble sigma = 0;
  g_object_get(filter.element(), "sigma", &sigma, nullptr);
  return sigma;
}

/// Counts CAPS events and ALLOCATION queries on the element's source pad.
class Negotiations {
 public:
  explicit Negotiations(FilterHarness& filter)
      : pad_(pad_of(filter.element(), "src")),
        probe_(gst_pad_add_probe(pad_,
                                 static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM |
                                                              GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM |
                                                              GST_PAD_PROBE_TYPE_PUSH),
                                 on_pad, this, nullptr)) {}
  ~Negotiations() { gst_pad_remove_probe(pad_, probe_); }
  Negotiations(const Negotiations&) = delete;
  Negotiations& operator=(const Negotiations&) = delete;

  int caps = 0;
  int allocations = 0;

 private:
  static GstPadProbeReturn on_pad(GstPad*, GstPadProbeInfo* info, gpointer self) {
    auto* count = static_cast<Negotiations*>(self);
    if ((info->type & GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM) != 0)
      count->caps += GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)) == GST_EVENT_CAPS;
    else
      count->allocations += GST_QUERY_TYPE(GST_PAD_PROBE_INFO_QUERY(info)) == GST_QUERY_ALLOCATION;
    return GST_PAD_PROBE_OK;
  }

  const Owned<GstPad> pad_;
  gulong probe_;
};

/// Returns the middle of a picture.
Picture middle_of(const Picture& picture, int width, int height) {
  const int left = (picture.width - width) / 4 * 2, top = (picture.height - height) / 4 * 2;
  Picture middle(*picture.format, width, height);
  for (std::size_t p = 0; p < middle.planes.size(); ++p) {
    const PlaneSpec& plane = picture.format->planes[p];
    for (int y = 0; y < middle.planes[p].rows; ++y)
      std::copy_n(picture.planes[p].row(top / plane.lines + y) + left / plane.pixels * plane.bytes,
                  middle.planes[p].row_bytes, middle.planes[p].row(y));
  }
  return middle;
}

/// Returns part of a photograph. If none is installed, returns waves whose amplitude grows with
/// their length, as in photographs.
Picture still_picture(const FormatSpec& format, int width, int height) {
  if (unless_photographs().empty())
    return middle_of(photograph_through(photographs[0], format, "", "identity").before, width,
                     height);
  Picture picture(format, width, height);
  for (std::size_t p = 0; p < picture.planes.size(); ++p)
    for (int y = 0; y < picture.planes[p].rows; ++y)
      for (int x = 0; x < picture.planes[p].row_bytes; ++x) {
        double value = 128;
        for (int octave = 1; octave <= 64; octave *= 2)
          value += 40.0 / octave *
                   std::sin(octave * (0.013 * x + 0.007 * y * (octave % 3)) + octave) *
                   std::cos(octave * 0.011 * y + static_cast<double>(p));
        picture.planes[p].row(y)[x] = static_cast<std::uint8_t>(std::lround(value));
      }
  return picture;
}

double mean_difference(const Picture::Plane& a, const Picture::Plane& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.bytes.size(); ++i)
    sum += std::abs(a.bytes[i] - b.bytes[i]);
  return sum / static_cast<double>(a.bytes.size());
}

}  // namespace

TEST(test_sweep) {
  constexpr int frames = 300;
  constexpr double last_sigma = 60;
  const FormatSpec& format = format_named("I420");
  const Picture picture = still_picture(format, 256, 192);
  FilterHarness filter("cudagaussblur");
  Negotiations negotiations(filter);
  control(filter.element(), "sigma", Curve::line,
          {{0, 0}, {(frames - 1) * frame_time, last_sigma}});
  filter.accept_caps(format, picture.width, picture.height);

  std::set<GstMemory*> memories;
  Picture before = picture;
  double before_sigma = 0;
  for (int i = 0; i < frames; ++i) {
    const Owned<GstBuffer> out =
        filter.process(at(static_cast<GstClockTime>(i) * frame_time, to_buffer(picture)));
    const double sigma = sigma_of(filter);
    fail_unless(std::abs(sigma - last_sigma * i / (frames - 1)) < 1e-9, "frame %d has sigma=%f", i,
                sigma);
    if (i > 0)
      memories.insert(gst_buffer_peek_memory(out, 0));
    const Picture after = from_buffer(out, format, picture.width, picture.height);
    if (i == 0 || i == 3 || i == 40)
      expect_picture(after, blurred(picture, {sigma}), "frame " + std::to_string(i));
    if (before_sigma >= 1)
      for (std::size_t p = 0; p < picture.planes.size(); ++p)
        fail_unless(mean_difference(before.planes[p], after.planes[p]) <= 1,
                    "plane %d differs by %f levels from the frame before at sigma=%f",
                    static_cast<int>(p), mean_difference(before.planes[p], after.planes[p]), sigma);
    before = after;
    before_sigma = sigma;
  }
  fail_unless(filter.pull() == nullptr, "more frames came out than went in");
  fail_unless(memories.size() <= 2, "%d frames were allocated", static_cast<int>(memories.size()));
  fail_unless_equals_int(negotiations.caps, 1);
  fail_unless_equals_int(negotiations.allocations, 1);
  fail_unless_equals_int(filter.messages().count(static_cast<GstMessageType>(
                             GST_MESSAGE_ERROR | GST_MESSAGE_WARNING | GST_MESSAGE_QOS)),
                         0);
}

// Sigma goes from sharpening to blurring. At sigma 0 the element pushes the input buffers.
TEST(test_crossing_zero) {
  constexpr int frames = 41;
  const FormatSpec& format = format_named("NV12");
  const Picture picture = make_picture(format, 50, 38, Content::natural, 1);
  FilterHarness filter("cudagaussblur");
  Negotiations negotiations(filter);
  control(filter.element(), "sigma", Curve::line, {{0, -4}, {(frames - 1) * frame_time, 4}});
  filter.accept_caps(format, 50, 38, colorimetry(format, false));
  for (int i = 0; i < frames; ++i) {
    const Owned<GstBuffer> in(at(static_cast<GstClockTime>(i) * frame_time, to_buffer(picture)));
    const Owned<GstBuffer> out = filter.process(gst_buffer_ref(in));
    const Blur how{sigma_of(filter)};
    const Picture expected = blurred(picture, how);
    expect_picture(from_buffer(out, format, 50, 38), expected, how.description());
    fail_unless((in == out) == difference(expected, picture).empty(), "%s",
                how.description().c_str());
    fail_unless(in == out || i != frames / 2);
  }
  fail_unless_equals_int(negotiations.caps, 1);
  fail_unless_equals_int(negotiations.allocations, 1);
}
