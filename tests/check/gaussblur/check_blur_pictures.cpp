// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests controlled properties of cudagaussblur, and the separate fields of interlaced frames.
#include <gst/video/video.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tests/check/common/definitions/blurdefinition.h"
#include "tests/check/common/definitions/regiondefinition.h"
#include "tests/check/common/filterharness.h"

using namespace check;

namespace {

Picture interlaced_picture(const FormatSpec& format, int width, int height, unsigned seed) {
  Picture picture = make_picture(format, width, height, Content::random, seed);
  picture.interlaced = true;
  return picture;
}

std::string caps_more(const FormatSpec& format, const char* mode) {
  return colorimetry(format, false) + ", interlace-mode=" + mode;
}

Picture process_flagged(FilterHarness& filter, const Picture& picture, guint flags) {
  GstBuffer* in = to_buffer(picture);
  GST_BUFFER_FLAG_SET(in, flags);
  const Owned<GstBuffer> out = filter.process(in);
  const Picture result =
      from_buffer(out, *picture.format, picture.width, picture.height, picture.interlaced);
  return result;
}

/// Returns the rows of one parity, in every plane.
Picture field_of(const Picture& picture, int field) {
  Picture result(*picture.format, picture.width, (picture.height + 1 - field) / 2);
  for (std::size_t p = 0; p < result.planes.size(); ++p)
    for (int y = 0; y < result.planes[p].rows && 2 * y + field < picture.planes[p].rows; ++y)
      std::copy_n(picture.planes[p].row(2 * y + field), picture.planes[p].row_bytes,
                  result.planes[p].row(y));
  return result;
}

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

}  // namespace

// Sigma moves from sharpening to blurring without renegotiation or additional memory.
TEST(test_controlled_sigma) {
  constexpr int frames = 41;
  const FormatSpec& format = format_named("NV12");
  const Picture picture = make_picture(format, 50, 38, Content::natural, 1);
  FilterHarness filter("cudagaussblur");
  Negotiations negotiations(filter);
  std::set<GstMemory*> memories;
  control(filter.element(), "sigma", Curve::line, {{0, -4}, {(frames - 1) * GST_SECOND, 4}});
  filter.accept_caps(format, 50, 38, colorimetry(format, false));
  for (int i = 0; i < frames; ++i) {
    const Owned<GstBuffer> in(at(i * GST_SECOND, to_buffer(picture)));
    const Owned<GstBuffer> out = filter.process(gst_buffer_ref(in));
    Blur how;
    g_object_get(filter.element(), "sigma", &how.sigma, nullptr);
    fail_unless(std::abs(how.sigma - (-4 + 8.0 * i / (frames - 1))) < 1e-9, "frame %d has sigma=%f",
                i, how.sigma);
    const Picture expected = blurred(picture, how);
    expect_picture(from_buffer(out, format, 50, 38), expected, how.description());
    fail_unless((in == out) == difference(expected, picture).empty(), "%s",
                how.description().c_str());
    fail_unless(in == out || i != frames / 2);
    if (in != out)
      memories.insert(gst_buffer_peek_memory(out, 0));
  }
  fail_unless(filter.pull() == nullptr, "more frames came out than went in");
  fail_unless(memories.size() <= 3, "%d frames were allocated", static_cast<int>(memories.size()));
  fail_unless_equals_int(negotiations.caps, 1);
  fail_unless_equals_int(negotiations.allocations, 1);
  fail_unless_equals_int(filter.messages().count(static_cast<GstMessageType>(
                             GST_MESSAGE_ERROR | GST_MESSAGE_WARNING | GST_MESSAGE_QOS)),
                         0);
}

TEST(test_fields_are_pictures) {
  for (const char* name : {"GRAY8", "NV12", "I420", "YUY2", "Y42B", "RGBA", "P010_10LE", "GBR"}) {
    const FormatSpec& format = format_named(name);
    FilterHarness frames("cudagaussblur", {{"sigma", "5"}}),
        fields("cudagaussblur", {{"sigma", "5"}});
    // With this size, both fields consist of whole chroma groups.
    frames.accept_caps(format, 34, 32, caps_more(format, "interleaved"));
    fields.accept_caps(format, 34, 16, colorimetry(format, false));
    const Picture picture = interlaced_picture(format, 34, 32, 3);
    const Picture out = frames.process(picture);
    for (int field : {0, 1})
      expect_picture(field_of(out, field), fields.process(field_of(picture, field)),
                     "field " + std::to_string(field));
  }
}

// In mixed streams, buffer flags select separate fields; otherwise, the caps do.
TEST(test_flags_and_caps) {
  constexpr guint interlaced = GST_VIDEO_BUFFER_FLAG_INTERLACED, tff = GST_VIDEO_BUFFER_FLAG_TFF,
                  rff = GST_VIDEO_BUFFER_FLAG_RFF;
  for (const char* name : {"NV12", "BGRx", "GRAY16_LE"})
    for (const std::string mode : {"progressive", "interleaved", "mixed"}) {
      const FormatSpec& format = format_named(name);
      FilterHarness filter("cudagaussblur", {{"sigma", "3"}});
      filter.accept_caps(format, 31, 27, caps_more(format, mode.c_str()));
      Picture picture = make_picture(format, 31, 27, Content::random, 2);
      picture.interlaced = mode != "progressive";
      Blur how{3};
      for (guint flags : {0u, interlaced, interlaced, 0u, interlaced | tff, tff, interlaced | rff,
                          rff, interlaced, 0u}) {
        how.fields = mode == "interleaved" || (mode == "mixed" && (flags & interlaced) != 0);
        expect_picture(process_flagged(filter, picture, flags), blurred(picture, how),
                       mode + ", " + how.description());
      }
    }
}

TEST(test_mixed_with_impossible_settings) {
  const FormatSpec& format = format_named("I420");
  FilterHarness filter("cudagaussblur", {{"sigma", "2"}});
  filter.accept_caps(format, 32, 24, caps_more(format, "mixed"));
  const Picture picture = interlaced_picture(format, 32, 24, 2);
  Blur how{2};
  filter.process(picture);
  filter.set("kernel-size", "6");
  for (bool fields : {true, false, true}) {
    how.fields = fields;
    expect_picture(
        process_flagged(filter, picture, fields ? guint{GST_VIDEO_BUFFER_FLAG_INTERLACED} : 0u),
        blurred(picture, how), how.description());
  }
  fail_unless_equals_int(filter.messages().count(GST_MESSAGE_WARNING), 1);
}

TEST(test_identity) {
  const FormatSpec& format = format_named("NV12");
  FilterHarness filter("cudagaussblur", {{"sigma", "0"}});
  filter.accept_caps(format, 32, 24, caps_more(format, "interleaved"));
  const Owned<GstBuffer> in(to_buffer(interlaced_picture(format, 32, 24, 2)));
  const Owned<GstBuffer> out = filter.process(gst_buffer_ref(in));
  fail_unless(in == out);
}
