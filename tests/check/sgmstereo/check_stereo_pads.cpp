// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests the output and the caps of cudasgmstereo's request pads.
#include <array>
#include <cstring>
#include <map>

#include "tests/check/common/definitions/stereodefinition.h"
#include "tests/check/common/streams/padsharness.h"

using namespace check;

namespace {

constexpr int width = 48, height = 20;

/// Request pads whose data the property output can also select.
const std::vector<const char*> request_pads = {"depth", "confidence"};

const FormatSpec& format_of_pad(const std::string& pad) {
  return format_named(pad == "confidence" ? "GRAY8" : "GRAY16_LE");
}

Picture picture_from(GstHarness* harness) {
  return picture_at(harness->sinkpad, pull_from(harness));
}

Pair scene(const FormatSpec& format, int w = width, int h = height) {
  const Picture left = make_picture(format, w, h, Content::natural, 3);
  return {left, shifted(left, 5)};
}

Picture by_property(const char* output, const char* format, const Pair& pair,
                    const Properties& properties) {
  StereoHarness stereo(joined(properties, {{"output", output}}));
  stereo.accept_downstream(std::string("video/x-raw, format=") + format);
  stereo.accept_caps(caps_of(*pair.left.format, pair.left.width, pair.left.height));
  return stereo.match(pair.left, pair.right);
}

void push_scene(PadsHarness& stereo, const Pair& pair) {
  for (auto [harness, picture] :
       {std::pair{stereo.left(), &pair.left}, std::pair{stereo.right(), &pair.right}})
    fail_unless_equals_int(gst_harness_push(harness, at(0, to_buffer(*picture))), GST_FLOW_OK);
}

using Xyz = std::array<float, 3>;

/// Computes the points of a disparity map, by the geometry of two cameras.
std::vector<std::uint8_t> points_of_map(const Picture& map, double focal_length, double baseline) {
  std::vector<std::uint8_t> bytes;
  for (int y = 0; y < map.height; ++y)
    for (int x = 0; x < map.width; ++x) {
      const int v = disparity_at(map, x, y);
      Xyz point;
      if (v <= 0) {
        const std::uint32_t nan = 0x7fc00000;
        for (float& number : point)
          std::memcpy(&number, &nan, sizeof nan);
      } else {
        const double w = v / 16.0 * (1 / baseline);
        point = {static_cast<float>((x - (map.width - 1) / 2.0) * (1 / w)),
                 static_cast<float>((y - (map.height - 1) / 2.0) * (1 / w)),
                 static_cast<float>(focal_length * (1 / w))};
      }
      const auto* first = reinterpret_cast<const std::uint8_t*>(point.data());
      bytes.insert(bytes.end(), first, first + sizeof point);
    }
  return bytes;
}

/// Answers a pad's CAPS queries with these caps, ignoring the filter.
void answer_caps(GstElement* element, const char* pad, const std::string& caps) {
  answer_queries(pad_of(element, pad).get(), GST_QUERY_CAPS,
                 [=](GstQuery* query) { gst_query_set_caps_result(query, caps_from(caps).get()); });
}

}  // namespace

// With any combination of linked pads, each pad is bit-identical to src with the matching `output`.
TEST(test_pads_give_what_output_gives) {
  struct Always {
    const char* output;
    const char* format;
  };
  for (const char* input : {"GRAY8", "GRAY16_LE", "NV12", "BGRx"}) {
    const Pair pair = scene(format_named(input));
    std::map<std::string, Picture> expected;
    for (const char* pad : request_pads)
      expected.emplace(pad, by_property(pad, format_of_pad(pad).name, pair, stereo_cameras));
    for (const Always& always : {Always{"disparity", "GRAY16_LE"}, Always{"disparity", "GRAY8"},
                                 Always{"disparity", "RGB"}, Always{"depth", "GRAY16_LE"},
                                 Always{"confidence", "GRAY8"}}) {
      const Picture on_src = by_property(always.output, always.format, pair, stereo_cameras);
      for (unsigned set = 1; set < 8; ++set) {
        PadsHarness stereo(joined(stereo_cameras, {{"output", always.output}}));
        stereo.accept_downstream(std::string("video/x-raw, format=") + always.format);
        if ((set & 1) == 0)
          stereo.unlink_src();
        for (std::size_t i = 0; i < request_pads.size(); ++i)
          if ((set & (2U << i)) != 0)
            stereo.open(request_pads[i]);
        stereo.accept_caps(caps_of(*pair.left.format, width, height));
        push_scene(stereo, pair);
        const std::string what = std::string(input) + " to " + always.output + " in " +
                                 always.format + ", set " + std::to_string(set);
        if ((set & 1) != 0)
          expect_picture(picture_from(stereo.left()), on_src, what);
        for (std::size_t i = 0; i < request_pads.size(); ++i)
          if ((set & (2U << i)) != 0) {
            const char* pad = request_pads[i];
            expect_picture(picture_from(stereo.at_pad(pad)), expected.at(pad), what + ", " + pad);
          }
      }
    }
  }
}

// The pad `points` outputs the 3D points of src's disparities, as an NNStreamer tensor.
TEST(test_points) {
  for (const char* input : {"GRAY8", "NV12", "P010_10LE"}) {
    const Pair pair = scene(format_named(input));
    for (bool src_linked : {true, false}) {
      PadsHarness stereo;
      GstHarness* points = stereo.open("points");
      if (!src_linked)
        stereo.unlink_src();
      stereo.accept_caps(caps_of(*pair.left.format, width, height));
      for (const char* focal_length : {"700", "350.5"}) {
        stereo.set("focal-length", focal_length);
        push_scene(stereo, pair);
        if (src_linked)
          stereo.pull();
        const Map out = pull_from(points);
        const Owned<GstCaps> caps = current_caps(points->sinkpad);
        const Owned<GstCaps> expected = caps_from(
            "other/tensors, format=static, num_tensors=1, dimensions=3:48:20:1, types=float32, "
            "framerate=25/1");
        fail_unless(gst_caps_is_strictly_equal(caps, expected));
        const std::vector<std::uint8_t> bytes = bytes_of(out);
        fail_unless(bytes ==
                    points_of_map(by_property("disparity", "GRAY16_LE", pair, stereo_cameras),
                                  std::stod(focal_length), 120));
      }
    }
  }
}

TEST(test_packed_frames_and_new_settings) {
  const Pair pair = scene(gray());
  const Picture both = packed(pair.left, pair.right, true);
  PadsHarness stereo(joined(stereo_cameras, {{"frame-packing", "side-by-side"}}), false);
  stereo.open_all();
  stereo.accept_caps(caps_of(gray(), 2 * width, height));
  for (const char* fill : {"false", "true", "false"}) {
    const Properties settings = joined(stereo_cameras, {{"fill-holes", fill}});
    stereo.set("fill-holes", fill);
    gst_harness_push(stereo.left(), at(0, to_buffer(both)));
    for (const char* pad : request_pads)
      expect_picture(picture_from(stereo.at_pad(pad)),
                     by_property(pad, format_of_pad(pad).name, pair, settings),
                     std::string(pad) + fill);
    expect_picture(picture_from(stereo.left()),
                   by_property("disparity", "GRAY16_LE", pair, settings), fill);
  }
}

TEST(test_new_size_on_all_pads) {
  PadsHarness stereo;
  stereo.open_all();
  for (Size size : {Size{32, 16}, Size{17, 33}, Size{64, 9}}) {
    stereo.accept_caps(caps_of(gray(), size.width, size.height));
    const Pair pair = scene(gray(), size.width, size.height);
    push_scene(stereo, pair);
    const Map map = stereo.pull();
    for (const char* pad : request_pads) {
      expect_picture(picture_from(stereo.at_pad(pad)),
                     by_property(pad, format_of_pad(pad).name, pair, stereo_cameras), pad);
      fail_unless_equals_int(take_events(stereo.at_pad(pad), GST_EVENT_CAPS).size(), 1);
    }
  }
}

TEST(test_peer_that_accepts_nothing) {
  for (const auto& [pad, remedy] : {std::pair{"depth", "videoconvert"},
                                    {"confidence", "videoconvert"},
                                    {"rectified", "videoconvert"},
                                    {"points", "appsink"}}) {
    PadsHarness stereo;
    gst_harness_set_sink_caps_str(stereo.open(pad), "video/x-raw, format=I420");
    stereo.accept_gray();
    stereo.push_pair(0);
    stereo.expect_error({std::string("the pad ") + pad, remedy});
  }
}

// A peer may answer a CAPS query with more caps than the filter allows.
TEST(test_caps_beyond_the_filter) {
  const Pair pair = scene(format_named("NV12"));
  const char* media_types = "video/x-raw(ANY);other/tensors;audio/x-raw";
  for (const char* pad : {"src", "depth", "confidence", "rectified", "points"}) {
    std::vector<Owned<GstCaps>> caps;
    for (bool filters : {true, false}) {
      PadsHarness stereo;
      GstHarness* const peer = std::string(pad) == "src" ? stereo.left() : stereo.open(pad);
      if (!filters)
        for (const char* name : {"sink_left", "sink_right", pad})
          answer_caps(stereo.element(), name, media_types);
      stereo.accept_caps(caps_of(*pair.left.format, width, height));
      push_scene(stereo, pair);
      pull_from(peer);
      caps.push_back(current_caps(peer->sinkpad));
      fail_unless_equals_int(stereo.messages().complaints(), 0);
    }
    fail_unless(gst_caps_is_equal(caps[0], caps[1]), "%s: other caps than usual", pad);
  }
}

// A peer may also answer with caps that the pad does not support.
TEST(test_caps_beside_the_filter) {
  for (const char* pad : {"src", "depth", "rectified", "points"}) {
    PadsHarness stereo;
    if (std::string(pad) != "src")
      stereo.open(pad);
    answer_caps(stereo.element(), pad, "audio/x-raw");
    stereo.accept_gray();
    stereo.push_pair(0);
    stereo.expect_error({std::string("the pad ") + pad});
  }
}

// Without focal-length and baseline, depth and points cause an error at the start or the first
// frame. If one of the two properties becomes 0 while playing, the element warns instead.
TEST(test_lengths_need_cameras) {
  for (const char* pad : {"depth", "points"}) {
    PadsHarness stereo(Properties{});
    stereo.accept_gray();
    stereo.process_at(0);
    stereo.open(pad);
    stereo.push_pair(40 * ms);
    stereo.expect_error({"focal-length", "baseline"});
  }
  {
    PadsHarness stereo;
    stereo.open("depth");
    stereo.accept_gray();
    stereo.process_all(0);
    stereo.set("baseline", "0");
    stereo.process_all(40 * ms);
    stereo.process_all(80 * ms);
    stereo.messages().expect_one(GST_MESSAGE_WARNING, {"baseline"});
    // Once the pad `depth` is released, nothing needs the baseline.
    stereo.close("depth");
    stereo.process_all(120 * ms);
    fail_unless_equals_int(stereo.messages().count(GST_MESSAGE_ERROR), 0);
  }
  const Owned<GstElement> pipeline = new_pipeline(
      "cudasgmstereo name=e ! fakesink  e.depth ! fakesink  fakesrc ! e.sink_left  "
      "fakesrc ! e.sink_right");
  expect_words(expect_failed_start(pipeline), {"focal-length", "baseline"});
}

// A pad that is linked while a property is invalid follows the last valid settings.
TEST(test_new_pad_while_settings_are_invalid) {
  const Pair pair = scene(gray());
  for (const auto& [property, value] :
       {std::pair{"uniqueness", "2"}, std::pair{"colormap-range", "wide"},
        std::pair{"baseline", "0"}}) {
    PadsHarness stereo;
    stereo.accept_caps(caps_of(*pair.left.format, width, height));
    stereo.open("confidence");
    push_scene(stereo, pair);
    const Picture map = picture_from(stereo.left());
    stereo.set(property, value);
    stereo.open("depth");
    push_scene(stereo, pair);
    expect_picture(picture_from(stereo.left()), map, property);
    expect_picture(picture_from(stereo.at_pad("depth")),
                   by_property("depth", "GRAY16_LE", pair, stereo_cameras), property);
    stereo.messages().expect_one(GST_MESSAGE_WARNING, {property, "Keeping the previous settings"});
  }
}

TEST(test_reconfigure_of_one_pad) {
  PadsHarness stereo;
  stereo.open_all();
  stereo.accept_gray();
  stereo.process_all(0);
  for (GstHarness* harness : stereo.outlets())
    take_events(harness);
  gst_harness_set_sink_caps_str(stereo.at_pad("depth"),
                                "video/x-raw, format=GRAY16_LE, framerate=25/1");
  gst_harness_push_upstream_event(stereo.at_pad("depth"), gst_event_new_reconfigure());
  stereo.process_all(40 * ms);
  for (GstHarness* harness : stereo.outlets())
    fail_unless_equals_int(take_events(harness, GST_EVENT_CAPS).size(), 0);
  gst_harness_set_sink_caps_str(stereo.at_pad("depth"), "video/x-raw, format=I420");
  gst_harness_push_upstream_event(stereo.at_pad("depth"), gst_event_new_reconfigure());
  stereo.push_pair(80 * ms);
  stereo.expect_error({"the pad depth"});
}
