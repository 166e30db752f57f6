// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests the source pads of cudasgmstereo that exist on request: their outputs, and that events,
// queries, flows and caps are right on all source pads.
#include <gst/video/gstvideometa.h>

#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "tests/check/common/pipelines.h"
#include "tests/check/common/stereodefinition.h"
#include "tests/check/common/stereoharness.h"

using namespace check;

namespace {

constexpr int width = 48, height = 20;

const Properties cameras = {{"focal-length", "700"}, {"baseline", "120"}, {"depth-unit", "0.5"}};

/// Request pads that carry what the property output names.
const std::vector<const char*>& request_pads() {
  static const std::vector<const char*> names = {"depth", "confidence"};
  return names;
}

/// Returns the format of a request pad with pictures.
const FormatSpec& format_of_pad(const std::string& pad) {
  return format_named(pad == "confidence" ? "GRAY8" : "GRAY16_LE");
}

/// One element with harnesses at several source pads.
class PadsHarness : public StereoHarness {
 public:
  explicit PadsHarness(const Properties& properties = cameras, bool two = true)
      : StereoHarness(properties, two) {}

  /// Opens all request pads, points included.
  void open_all() {
    for (const char* pad : request_pads())
      open(pad);
    open("points");
  }
  GstHarness* at_pad(const char* pad) {
    return std::string(pad) == "src" ? left() : opened().at(pad);
  }
  /// Returns the harnesses of src, while it is linked, and of all requested pads.
  std::vector<GstHarness*> outlets() {
    std::vector<GstHarness*> all;
    if (gst_pad_is_linked(left()->sinkpad))
      all.push_back(left());
    for (const auto& [name, harness] : opened())
      all.push_back(harness.get());
    return all;
  }

  void unlink_src() {
    const Owned<GstPad> src = pad_of(element(), "src");
    fail_unless(gst_pad_unlink(src, left()->sinkpad));
  }

  static Map pull_from(GstHarness* harness) {
    Map map(gst_harness_pull(harness));
    fail_unless(map != nullptr, "no buffer came out");
    return map;
  }

  /// Pushes a pair of small frames. Returns what comes out at each of the outlets.
  std::vector<Map> process_all(GstClockTime time) {
    push_pair(time);
    std::vector<Map> maps;
    for (GstHarness* harness : outlets()) {
      maps.push_back(pull_from(harness));
      fail_unless_equals_uint64(maps.back().pts(), time);
    }
    return maps;
  }
};

Picture picture_from(GstHarness* harness, const FormatSpec& format, int w = width, int h = height) {
  const Map map = PadsHarness::pull_from(harness);
  return from_buffer(map, format, w, h);
}

std::vector<Owned<GstEvent>> take_all_events(GstHarness* harness) {
  std::vector<Owned<GstEvent>> events;
  while (Owned<GstEvent> event{gst_harness_try_pull_event(harness)})
    events.push_back(std::move(event));
  return events;
}

/// Waits for EOS. Returns all events since the last call, of which EOS is the last.
std::vector<Owned<GstEvent>> events_until_end(GstHarness* harness) {
  std::vector<Owned<GstEvent>> events;
  do {
    events.emplace_back(gst_harness_pull_event(harness));
    fail_unless(events.back() != nullptr, "no EOS");
  } while (GST_EVENT_TYPE(events.back()) != GST_EVENT_EOS);
  return events;
}

std::vector<Owned<GstEvent>> events_of(GstHarness* harness, GstEventType type) {
  std::vector<Owned<GstEvent>> events;
  for (Owned<GstEvent>& event : take_all_events(harness))
    if (GST_EVENT_TYPE(event) == type)
      events.push_back(std::move(event));
  return events;
}

std::string stream_id_of(GstEvent* event) {
  const gchar* id = nullptr;
  gst_event_parse_stream_start(event, &id);
  return id;
}

struct Pair {
  Picture left, right;
};

Pair scene(const FormatSpec& format, int w = width, int h = height) {
  const Picture left = make_picture(format, w, h, Content::natural, 3);
  return {left, shifted(left, 5)};
}

/// Returns what src puts out if a property alone chooses it.
Picture by_property(const char* output, const char* format, const Pair& pair,
                    Properties properties) {
  properties.emplace_back("output", output);
  StereoHarness stereo(properties);
  stereo.accept_downstream(std::string("video/x-raw, format=") + format);
  stereo.accept_caps(caps_of(*pair.left.format, pair.left.width, pair.left.height));
  const Map out = stereo.process(to_buffer(pair.left), to_buffer(pair.right));
  return from_buffer(out, format_named(format), pair.left.width, pair.left.height);
}

void push_scene(PadsHarness& stereo, const Pair& pair) {
  for (auto [harness, picture] :
       {std::pair{stereo.left(), &pair.left}, std::pair{stereo.right(), &pair.right}})
    fail_unless_equals_int(gst_harness_push(harness, at(0, to_buffer(*picture))), GST_FLOW_OK);
}

}  // namespace

// Every set of linked pads gives the bits that the property output gives for each of them.
TEST(test_pads_give_what_output_gives) {
  struct Always {
    const char* output;
    const char* format;
  };
  for (const char* input : {"GRAY8", "GRAY16_LE", "NV12", "BGRx"}) {
    const Pair pair = scene(format_named(input));
    std::map<std::string, Picture> expected;
    for (const char* pad : request_pads())
      expected.emplace(pad, by_property(pad, format_of_pad(pad).name, pair, cameras));
    for (const Always& always : {Always{"disparity", "GRAY16_LE"}, Always{"disparity", "GRAY8"},
                                 Always{"disparity", "RGB"}, Always{"depth", "GRAY16_LE"},
                                 Always{"confidence", "GRAY8"}}) {
      const Picture on_src = by_property(always.output, always.format, pair, cameras);
      for (unsigned set = 1; set < 8; ++set) {
        Properties properties = cameras;
        properties.emplace_back("output", always.output);
        PadsHarness stereo(properties);
        stereo.accept_downstream(std::string("video/x-raw, format=") + always.format);
        if ((set & 1) == 0)
          stereo.unlink_src();
        for (std::size_t i = 0; i < request_pads().size(); ++i)
          if ((set & (2U << i)) != 0)
            stereo.open(request_pads()[i]);
        stereo.accept_caps(caps_of(*pair.left.format, width, height));
        push_scene(stereo, pair);
        const std::string what = std::string(input) + " to " + always.output + " in " +
                                 always.format + ", set " + std::to_string(set);
        if ((set & 1) != 0)
          expect_picture(picture_from(stereo.left(), format_named(always.format)), on_src, what);
        for (std::size_t i = 0; i < request_pads().size(); ++i)
          if ((set & (2U << i)) != 0) {
            const char* pad = request_pads()[i];
            expect_picture(picture_from(stereo.at_pad(pad), format_of_pad(pad)), expected.at(pad),
                           what + ", " + pad);
          }
      }
    }
  }
}

namespace {

using Xyz = std::array<float, 3>;

Xyz point_at(const std::vector<std::uint8_t>& bytes, int x, int y, int w = width) {
  Xyz point;
  std::memcpy(point.data(), bytes.data() + 12 * (y * w + x), sizeof point);
  return point;
}

/// Returns the points that follow from a map of disparities, by the geometry of two cameras.
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

}  // namespace

// The pad points has the points of the disparities that src has, in NNStreamer's caps.
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
        const Map out = PadsHarness::pull_from(points);
        const Owned<GstCaps> caps = current_caps(points->sinkpad);
        const Owned<GstCaps> expected = caps_from(
            "other/tensors, format=static, num_tensors=1, dimensions=3:48:20:1, types=float32, "
            "framerate=25/1");
        fail_unless(gst_caps_is_strictly_equal(caps, expected));
        const std::vector<std::uint8_t> bytes = bytes_of(out);
        fail_unless(bytes == points_of_map(by_property("disparity", "GRAY16_LE", pair, cameras),
                                           std::stod(focal_length), 120));
      }
    }
  }
}

// Shifted noise lies in a plane at a known distance.
TEST(test_distance_of_points) {
  const Picture left = noise_picture(format_named("GRAY8"), 64, 32, 5);
  PadsHarness stereo({{"focal-length", "500"}, {"baseline", "100"}});
  GstHarness* points = stereo.open("points");
  stereo.accept_gray(64, 32);
  push_scene(stereo, {left, shifted(left, 10)});
  const Map out = PadsHarness::pull_from(points);
  const Xyz point = point_at(bytes_of(out), 40, 20, 64);
  fail_unless(
      std::abs(point[0] - 85) < 1 && std::abs(point[1] - 45) < 1 && std::abs(point[2] - 5000) < 1,
      "(%f, %f, %f)", static_cast<double>(point[0]), static_cast<double>(point[1]),
      static_cast<double>(point[2]));
}

// Packed frames, and a change of live properties, reach all pads.
TEST(test_packed_frames_and_new_settings) {
  const FormatSpec& gray = format_named("GRAY8");
  const Pair pair = scene(gray);
  Picture both(gray, 2 * width, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      both.set_sample(0, x, y, pair.left.sample(0, x, y));
      both.set_sample(0, x + width, y, pair.right.sample(0, x, y));
    }
  Properties properties = cameras;
  properties.emplace_back("frame-packing", "side-by-side");
  PadsHarness stereo(properties, false);
  stereo.open_all();
  stereo.accept_caps(caps_of(gray, 2 * width, height));
  for (const char* fill : {"false", "true", "false"}) {
    Properties settings = cameras;
    settings.emplace_back("fill-holes", fill);
    stereo.set("fill-holes", fill);
    gst_harness_push(stereo.left(), at(0, to_buffer(both)));
    for (const char* pad : request_pads())
      expect_picture(picture_from(stereo.at_pad(pad), format_of_pad(pad)),
                     by_property(pad, format_of_pad(pad).name, pair, settings),
                     std::string(pad) + fill);
    expect_picture(picture_from(stereo.left(), format_named("GRAY16_LE")),
                   by_property("disparity", "GRAY16_LE", pair, settings), fill);
  }
}

// All pads have the mandatory events once, in order, with a stream of their own, and the same
// segment.
TEST(test_order_of_events_on_all_pads) {
  for (bool src_linked : {true, false}) {
    PadsHarness stereo;
    stereo.open_all();
    if (!src_linked)
      stereo.unlink_src();
    stereo.accept_gray();
    GstSegment segment = new_segment();
    segment.start = segment.time = segment.position = 2 * GST_SECOND;
    segment.base = 7 * GST_SECOND;
    stereo.send_to_all([&] { return gst_event_new_segment(&segment); });
    stereo.process_all(2 * GST_SECOND);
    stereo.process_all(2 * GST_SECOND + 40 * ms);
    std::set<std::string> ids;
    for (GstHarness* harness : stereo.outlets()) {
      const std::vector<Owned<GstEvent>> events = take_all_events(harness);
      fail_unless_equals_int(events.size(), 3);
      fail_unless_equals_int(GST_EVENT_TYPE(events[0]), GST_EVENT_STREAM_START);
      fail_unless_equals_int(GST_EVENT_TYPE(events[1]), GST_EVENT_CAPS);
      fail_unless_equals_int(GST_EVENT_TYPE(events[2]), GST_EVENT_SEGMENT);
      fail_unless(ids.insert(stream_id_of(events[0])).second, "two pads have the same stream id");
      GstSegment passed;
      gst_event_copy_segment(events[2], &passed);
      fail_unless(gst_segment_is_equal(&segment, &passed), "another segment");
    }
  }
}

// A new segment of the left pad reaches all pads.
TEST(test_new_segments) {
  PadsHarness stereo;
  stereo.open_all();
  stereo.accept_gray();
  for (guint64 i = 1; i <= 3; ++i) {
    GstSegment segment = new_segment();
    segment.start = segment.position = i * GST_SECOND;
    segment.base = i * 10 * GST_SECOND;
    stereo.send_to_all([&] { return gst_event_new_segment(&segment); });
    stereo.process_all(segment.start);
    for (GstHarness* harness : stereo.outlets()) {
      const std::vector<Owned<GstEvent>> events = events_of(harness, GST_EVENT_SEGMENT);
      fail_unless_equals_int(events.size(), 1);
      GstSegment passed;
      gst_event_copy_segment(events[0], &passed);
      fail_unless(gst_segment_is_equal(&segment, &passed), "segment %d differs",
                  static_cast<int>(i));
    }
  }
}

// The buffers of one pair have the same times, flags and metas on all pads.
TEST(test_equal_descriptions) {
  PadsHarness stereo;
  stereo.open_all();
  stereo.accept_gray();
  GstBuffer* left = small_frame({GST_SECOND, false, 17 * ms});
  GST_BUFFER_FLAG_SET(left, GST_BUFFER_FLAG_MARKER);
  GST_BUFFER_OFFSET(left) = 77;
  gst_buffer_add_video_region_of_interest_meta(left, "face", 1, 2, 3, 4);
  gst_harness_push(stereo.left(), left);
  gst_harness_push(stereo.right(), small_frame({GST_SECOND + 2 * ms}));
  for (GstHarness* harness : stereo.outlets()) {
    const Map map = PadsHarness::pull_from(harness);
    fail_unless_equals_uint64(map.pts(), GST_SECOND);
    fail_unless_equals_uint64(GST_BUFFER_DURATION(map), 17 * ms);
    fail_unless_equals_uint64(GST_BUFFER_OFFSET(map), 77);
    fail_unless(map.discont());
    fail_unless(GST_BUFFER_FLAG_IS_SET(map.get(), GST_BUFFER_FLAG_MARKER));
    fail_unless_equals_int(
        gst_buffer_get_n_meta(map.get(), GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE), 1);
  }
  for (const Map& map : stereo.process_all(2 * GST_SECOND))
    fail_unless(!map.discont());
}

TEST(test_flush_on_all_pads) {
  for (bool src_linked : {true, false}) {
    PadsHarness stereo;
    stereo.open_all();
    if (!src_linked)
      stereo.unlink_src();
    stereo.accept_gray();
    for (int i = 0; i < 10; ++i) {
      stereo.process_all(0);
      for (const Map& map : stereo.process_all(40 * ms))
        fail_unless(!map.discont());
      for (GstHarness* harness : stereo.outlets())
        take_all_events(harness);
      const guint32 seqnum = stereo.flush();
      for (const Map& map : stereo.process_all(0))
        fail_unless(map.discont(), "no DISCONT after a flush");
      for (GstHarness* harness : stereo.outlets()) {
        const std::vector<Owned<GstEvent>> events = take_all_events(harness);
        fail_unless_equals_int(events.size(), 3);
        fail_unless_equals_int(GST_EVENT_TYPE(events[0]), GST_EVENT_FLUSH_START);
        fail_unless_equals_int(GST_EVENT_TYPE(events[1]), GST_EVENT_FLUSH_STOP);
        fail_unless_equals_int(GST_EVENT_TYPE(events[2]), GST_EVENT_SEGMENT);
        for (int n : {0, 1})
          fail_unless_equals_int(gst_event_get_seqnum(events[static_cast<std::size_t>(n)]), seqnum);
      }
    }
    fail_unless_equals_int(stereo.messages().count(GST_MESSAGE_ERROR), 0);
  }
}

// A flush frees a branch that blocks.
TEST(test_flush_of_a_blocked_branch) {
  PadsHarness stereo;
  stereo.open_all();
  stereo.accept_gray();
  stereo.process_all(0);
  const Owned<GstPad> depth = pad_of(stereo.element(), "depth");
  const gulong probe = gst_pad_add_probe(
      depth, GST_PAD_PROBE_TYPE_BLOCK_DOWNSTREAM,
      +[](GstPad*, GstPadProbeInfo* info, gpointer) {
        return (GST_PAD_PROBE_INFO_TYPE(info) & GST_PAD_PROBE_TYPE_BUFFER) != 0
                   ? GST_PAD_PROBE_OK
                   : GST_PAD_PROBE_PASS;
      },
      nullptr, nullptr);
  stereo.push_pair(40 * ms);
  wait_until([&] { return gst_pad_is_blocking(depth); }, "the pad to block");
  stereo.pull();
  stereo.flush();
  gst_pad_remove_probe(depth, probe);
  stereo.process_all(80 * ms);
  fail_unless_equals_int(stereo.messages().count(GST_MESSAGE_ERROR), 0);
}

// A seek from any pad reaches both cameras, once for each seqnum.
TEST(test_seek_from_any_pad) {
  PadsHarness stereo;
  stereo.open_all();
  stereo.accept_gray();
  stereo.process_all(0);
  for (GstHarness* from : stereo.outlets()) {
    GstEvent* seek = gst_event_new_seek(1.0, GST_FORMAT_TIME, GST_SEEK_FLAG_NONE, GST_SEEK_TYPE_SET,
                                        GST_SECOND, GST_SEEK_TYPE_NONE, 0);
    const guint32 seqnum = gst_event_get_seqnum(seek);
    // A pipeline sends its seek to every sink.
    gst_harness_push_upstream_event(from, gst_event_ref(seek));
    for (GstHarness* other : stereo.outlets())
      gst_harness_push_upstream_event(other, gst_event_ref(seek));
    gst_event_unref(seek);
    for (GstHarness* harness : stereo.harnesses()) {
      int seeks = 0;
      while (Owned<GstEvent> event{gst_harness_try_pull_upstream_event(harness)})
        if (GST_EVENT_TYPE(event) == GST_EVENT_SEEK) {
          ++seeks;
          fail_unless_equals_int(gst_event_get_seqnum(event), seqnum);
        }
      fail_unless_equals_int(seeks, 1);
    }
  }
}

TEST(test_end_on_all_pads) {
  for (bool src_linked : {true, false}) {
    for (int frames : {2, 0}) {
      PadsHarness stereo;
      stereo.open_all();
      if (!src_linked)
        stereo.unlink_src();
      stereo.accept_gray();
      for (int i = 0; i < frames; ++i)
        stereo.process_all(static_cast<GstClockTime>(i) * 40 * ms);
      const guint32 seqnum = stereo.send_to_all(gst_event_new_eos);
      for (GstHarness* harness : stereo.outlets()) {
        const std::vector<Owned<GstEvent>> events = events_until_end(harness);
        fail_unless(gst_harness_try_pull(harness) == nullptr);
        fail_unless_equals_int(GST_EVENT_TYPE(events.front()), GST_EVENT_STREAM_START);
        fail_unless_equals_int(gst_event_get_seqnum(events.back()), seqnum);
      }
      fail_unless_equals_int(stereo.messages().count(GST_MESSAGE_ERROR), 0);
    }
  }
}

// When one camera ends and another takes its place, a new stream begins on all pads.
TEST(test_new_stream_on_all_pads) {
  PadsHarness stereo;
  stereo.open_all();
  stereo.accept_gray();
  stereo.process_all(0);
  gst_harness_push_event(stereo.left(), gst_event_new_eos());
  for (GstHarness* harness : stereo.outlets())
    events_until_end(harness);
  gst_harness_push_event(stereo.left(), gst_event_new_stream_start("another"));
  fail_unless(stereo.send_caps(stereo.left(), caps_of(format_named("GRAY8"), 32, 16)));
  for (const Map& map : stereo.process_all(0))
    fail_unless(map.discont());
  for (GstHarness* harness : stereo.outlets()) {
    const std::vector<Owned<GstEvent>> events = take_all_events(harness);
    fail_unless(events.size() >= 3);
    fail_unless_equals_int(GST_EVENT_TYPE(events[0]), GST_EVENT_STREAM_START);
    fail_unless_equals_int(GST_EVENT_TYPE(events[1]), GST_EVENT_CAPS);
    fail_unless_equals_int(GST_EVENT_TYPE(events.back()), GST_EVENT_SEGMENT);
  }
}

// A missing frame becomes a gap on all pads.
TEST(test_gap_on_all_pads) {
  PadsHarness stereo;
  stereo.open_all();
  stereo.accept_gray();
  stereo.process_all(0);
  gst_harness_push(stereo.left(), small_frame({40 * ms, true}));
  gst_harness_push(stereo.right(), small_frame({40 * ms}));
  stereo.process_all(80 * ms);
  for (GstHarness* harness : stereo.outlets()) {
    const std::vector<Owned<GstEvent>> gaps = events_of(harness, GST_EVENT_GAP);
    fail_unless_equals_int(gaps.size(), 1);
    GstClockTime time = 0, duration = 0;
    gst_event_parse_gap(gaps[0], &time, &duration);
    fail_unless_equals_uint64(time, 40 * ms);
    fail_unless_equals_uint64(duration, 40 * ms);
  }
}

// Tags and other sticky events that reach src reach all pads.
TEST(test_tags_on_all_pads) {
  PadsHarness stereo;
  stereo.open_all();
  stereo.accept_gray();
  stereo.process_all(0);
  const Owned<GstPad> src = pad_of(stereo.element(), "src");
  gst_pad_push_event(src, gst_event_new_tag(gst_tag_list_new(GST_TAG_TITLE, "depth", nullptr)));
  stereo.process_all(40 * ms);
  stereo.process_all(80 * ms);
  for (GstHarness* harness : stereo.outlets()) {
    const std::vector<Owned<GstEvent>> tags = events_of(harness, GST_EVENT_TAG);
    fail_unless_equals_int(tags.size(), 1);
    GstTagList* list = nullptr;
    gst_event_parse_tag(tags[0], &list);
    gchar* title = nullptr;
    fail_unless(gst_tag_list_get_string(list, GST_TAG_TITLE, &title));
    fail_unless_equals_string(title, "depth");
    g_free(title);
  }
}

// An event that no element knows passes each pad once for each camera that sends it.
TEST(test_custom_events) {
  PadsHarness stereo;
  stereo.open_all();
  stereo.accept_gray();
  stereo.process_all(0);
  gst_harness_push_event(stereo.left(), gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM,
                                                             gst_structure_new_empty("test")));
  stereo.process_all(40 * ms);
  for (GstHarness* harness : stereo.outlets())
    fail_unless_equals_int(events_of(harness, GST_EVENT_CUSTOM_DOWNSTREAM).size(), 1);
}

// New caps of the cameras reach all pads before the first buffer of the new size.
TEST(test_new_size_on_all_pads) {
  PadsHarness stereo;
  stereo.open_all();
  const FormatSpec& gray = format_named("GRAY8");
  for (Size size : {Size{32, 16}, Size{17, 33}, Size{64, 9}}) {
    stereo.accept_caps(caps_of(gray, size.width, size.height));
    const Pair pair = scene(gray, size.width, size.height);
    push_scene(stereo, pair);
    const Map map = stereo.pull();
    for (const char* pad : request_pads()) {
      const Map out = PadsHarness::pull_from(stereo.at_pad(pad));
      const Owned<GstCaps> caps = current_caps(stereo.at_pad(pad)->sinkpad);
      const GstStructure* structure = gst_caps_get_structure(caps, 0);
      int w = 0, h = 0;
      fail_unless(gst_structure_get_int(structure, "width", &w) &&
                  gst_structure_get_int(structure, "height", &h));
      fail_unless_equals_int(w, size.width);
      fail_unless_equals_int(h, size.height);
      expect_picture(from_buffer(out, format_of_pad(pad), w, h),
                     by_property(pad, format_of_pad(pad).name, pair, cameras), pad);
      fail_unless_equals_int(events_of(stereo.at_pad(pad), GST_EVENT_CAPS).size(), 1);
    }
  }
}

// Every pad answers queries as src does, but CAPS with caps of its own.
TEST(test_queries_on_all_pads) {
  PadsHarness stereo;
  stereo.open_all();
  for (GstHarness* harness : stereo.harnesses())
    gst_harness_set_upstream_latency(harness, 30 * ms);
  stereo.accept_gray();
  stereo.process_all(0);
  for (const char* pad : request_pads()) {
    GstHarness* harness = stereo.at_pad(pad);
    fail_unless_equals_uint64(gst_harness_query_latency(harness),
                              gst_harness_query_latency(stereo.left()));
    fail_unless(gst_harness_query_latency(harness) >= 50 * ms);
    const Owned<GstCaps> caps(gst_pad_peer_query_caps(harness->sinkpad, nullptr));
    fail_unless_equals_int(gst_caps_get_size(caps), 1);
    const GstStructure* structure = gst_caps_get_structure(caps, 0);
    fail_unless_equals_string(gst_structure_get_string(structure, "format"),
                              format_of_pad(pad).name);
    int w = 0;
    fail_unless(gst_structure_get_int(structure, "width", &w) && w == 32);
    fail_unless(gst_pad_peer_query_accept_caps(harness->sinkpad, caps));
    const Owned<GstCaps> other = caps_from("video/x-raw, format=RGB, width=32, height=16");
    fail_unless(!gst_pad_peer_query_accept_caps(harness->sinkpad, other));
    const Owned<GstQuery> seeking(gst_query_new_seeking(GST_FORMAT_TIME));
    fail_unless(gst_pad_peer_query(harness->sinkpad, seeking));
  }
}

// Frames are skipped if they are late on src, whatever other pads report.
TEST(test_qos) {
  PadsHarness stereo;
  stereo.open_all();
  stereo.accept_gray();
  stereo.process_all(0);
  const auto late = [] {
    return gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 0.5, 500 * ms, 40 * ms);
  };
  for (const char* pad : request_pads())
    gst_harness_push_upstream_event(stereo.at_pad(pad), late());
  stereo.process_all(40 * ms);
  gst_harness_push_upstream_event(stereo.left(), late());
  stereo.push_pair(80 * ms);
  for (const Map& map : stereo.process_all(GST_SECOND))
    fail_unless(map.discont(), "the pair at 80 ms was not skipped");
}

// Pads may come and go while the element plays. Those that stay miss nothing.
TEST(test_pads_come_and_go) {
  PadsHarness stereo;
  stereo.accept_gray();
  GstClockTime time = 0;
  const auto step = [&] { return stereo.process_all(time += 40 * ms); };
  step();
  for (int i = 0; i < 5; ++i) {
    stereo.open("depth");
    std::vector<Map> maps = step();
    fail_unless_equals_int(maps.size(), 2);
    fail_unless(!maps[0].discont());
    fail_unless(maps[1].discont(), "a new pad must begin with DISCONT");
    stereo.open("confidence");
    fail_unless_equals_int(step().size(), 3);
    stereo.close("depth");
    maps = step();
    fail_unless_equals_int(maps.size(), 2);
    fail_unless(!maps[0].discont() && !maps[1].discont());
    stereo.close("confidence");
    fail_unless_equals_int(step().size(), 1);
  }
  fail_unless_equals_int(stereo.messages().count(GST_MESSAGE_ERROR), 0);
}

// The same, while both cameras send as fast as they can.
TEST(test_pads_come_and_go_at_full_speed) {
  PadsHarness stereo;
  for (GstHarness* harness : {stereo.left()})
    gst_harness_set_drop_buffers(harness, TRUE);
  stereo.accept_gray();
  std::atomic<bool> stop{false};
  std::atomic<int> failed{0};
  const auto push_all = [&](GstHarness* harness) {
    for (guint n = 0; !stop; ++n)
      if (gst_harness_push(harness, small_frame({n * 40 * ms})) != GST_FLOW_OK) {
        ++failed;
        return;
      }
  };
  std::thread left(push_all, stereo.left()), right(push_all, stereo.right());
  for (int i = 0; i < 60; ++i) {
    GstHarness* depth = stereo.open("depth");
    if (i % 3 == 0)
      PadsHarness::pull_from(depth);
    stereo.open("confidence");
    g_usleep(static_cast<gulong>(i % 7) * 500);
    stereo.close("depth");
    stereo.close("confidence");
  }
  stop = true;
  gst_element_set_state(stereo.element(), GST_STATE_READY);
  left.join();
  right.join();
  fail_unless_equals_int(stereo.messages().count(GST_MESSAGE_ERROR), 0);
}

// A branch that wants no more frames does not stop the others. When all have ended, the cameras get
// EOS.
TEST(test_branches_end_early) {
  static std::set<GstPad*> ended;
  static std::mutex mutex;
  const auto chain = +[](GstPad* pad, GstObject* parent, GstBuffer* buffer) -> GstFlowReturn {
    static_cast<void>(parent);
    gst_buffer_unref(buffer);
    const std::lock_guard lock(mutex);
    return ended.insert(pad).second ? GST_FLOW_EOS : GST_FLOW_ERROR;  // a second one is an error
  };
  for (bool src_first : {true, false}) {
    PadsHarness stereo;
    GstHarness* depth = stereo.open("depth");
    ended.clear();
    GstHarness* first = src_first ? stereo.left() : depth;
    GstHarness* second = src_first ? depth : stereo.left();
    gst_pad_set_chain_function(first->sinkpad, chain);
    stereo.accept_gray();
    for (GstClockTime time : {0 * ms, 40 * ms, 80 * ms}) {
      stereo.push_pair(time);
      fail_unless_equals_uint64(PadsHarness::pull_from(second).pts(), time);
    }
    gst_pad_set_chain_function(second->sinkpad, chain);
    stereo.push_pair(120 * ms);
    GstFlowReturn flow = GST_FLOW_OK;
    for (guint i = 4; i < 100 && flow == GST_FLOW_OK; ++i) {
      g_usleep(2000);
      flow = gst_harness_push(stereo.left(), small_frame({i * 40 * ms}));
      if (flow == GST_FLOW_OK)
        gst_harness_push(stereo.right(), small_frame({i * 40 * ms}));
    }
    fail_unless_equals_int(flow, GST_FLOW_EOS);
    fail_unless_equals_int(stereo.messages().count(GST_MESSAGE_ERROR), 0);
    // A flush opens all branches again.
    const std::lock_guard lock(mutex);
    fail_unless_equals_int(ended.size(), 2);
  }
}

TEST(test_flush_after_early_end) {
  static std::atomic<GstFlowReturn> answer;
  answer = GST_FLOW_EOS;
  static std::atomic<int> arrived;
  arrived = 0;
  PadsHarness stereo;
  gst_pad_set_chain_function(
      stereo.open("depth")->sinkpad, +[](GstPad*, GstObject*, GstBuffer* buffer) -> GstFlowReturn {
        gst_buffer_unref(buffer);
        ++arrived;
        return answer;
      });
  stereo.accept_gray();
  stereo.process_at(0);
  stereo.process_at(40 * ms);
  fail_unless_equals_int(arrived, 1);
  answer = GST_FLOW_OK;
  stereo.flush();
  stereo.process_at(0);
  wait_until([] { return arrived == 2; }, "the branch to get a frame after the flush");
}

// Errors of one branch stop the stream.
TEST(test_errors_of_a_branch) {
  for (GstFlowReturn flow : {GST_FLOW_ERROR, GST_FLOW_NOT_NEGOTIATED}) {
    PadsHarness stereo;
    static std::atomic<GstFlowReturn> answer;
    answer = flow;
    gst_pad_set_chain_function(
        stereo.open("confidence")->sinkpad,
        +[](GstPad*, GstObject*, GstBuffer* buffer) -> GstFlowReturn {
          gst_buffer_unref(buffer);
          return answer;
        });
    stereo.accept_gray();
    stereo.push_pair(0);
    GstFlowReturn got = GST_FLOW_OK;
    for (guint i = 1; i < 100 && got == GST_FLOW_OK; ++i) {
      g_usleep(2000);
      got = gst_harness_push(stereo.left(), small_frame({i * 40 * ms}));
      if (got == GST_FLOW_OK)
        gst_harness_push(stereo.right(), small_frame({i * 40 * ms}));
    }
    fail_unless(got == flow, "%s became %s", gst_flow_get_name(flow), gst_flow_get_name(got));
  }
}

// Unlinked request pads change nothing; without any linked pad, the cameras are told.
TEST(test_nothing_linked) {
  PadsHarness stereo;
  const Owned<GstPad> depth(gst_element_request_pad_simple(stereo.element(), "depth"));
  stereo.accept_gray();
  stereo.process_at(0);
  stereo.unlink_src();
  GstFlowReturn flow = GST_FLOW_OK;
  for (guint i = 1; i < 100 && flow == GST_FLOW_OK; ++i) {
    flow = gst_harness_push(stereo.left(), small_frame({i * 40 * ms}));
    if (flow == GST_FLOW_OK)
      gst_harness_push(stereo.right(), small_frame({i * 40 * ms}));
    g_usleep(2000);
  }
  fail_unless_equals_int(flow, GST_FLOW_NOT_LINKED);
  gst_element_release_request_pad(stereo.element(), depth);
}

// src may be unlinked and linked again while another pad goes on.
TEST(test_src_is_linked_again) {
  PadsHarness stereo;
  stereo.open("depth");
  stereo.accept_gray();
  fail_unless_equals_int(stereo.process_all(0).size(), 2);
  stereo.unlink_src();
  fail_unless_equals_int(stereo.process_all(40 * ms).size(), 1);
  const Owned<GstPad> src = pad_of(stereo.element(), "src");
  fail_unless_equals_int(gst_pad_link(src, stereo.left()->sinkpad), GST_PAD_LINK_OK);
  const std::vector<Map> maps = stereo.process_all(80 * ms);
  fail_unless_equals_int(maps.size(), 2);
  fail_unless(maps[0].discont(), "src has missed a frame");
  fail_unless(!maps[1].discont());
  fail_unless(!stereo.process_all(120 * ms)[0].discont());
}

TEST(test_one_pad_per_template) {
  PadsHarness stereo;
  for (const char* name : {"depth", "confidence", "points"}) {
    const Owned<GstPad> pad(gst_element_request_pad_simple(stereo.element(), name));
    fail_unless(pad != nullptr);
    fail_unless_equals_string(GST_PAD_NAME(pad.get()), name);
    GstPadTemplate* pad_template =
        gst_element_class_get_pad_template(GST_ELEMENT_GET_CLASS(stereo.element()), name);
    fail_unless(gst_element_request_pad(stereo.element(), pad_template, nullptr, nullptr) ==
                nullptr);
    gst_element_release_request_pad(stereo.element(), pad);
    const Owned<GstPad> again(gst_element_request_pad_simple(stereo.element(), name));
    fail_unless(again != nullptr);
    gst_element_release_request_pad(stereo.element(), again);
  }
  fail_unless(gst_element_request_pad_simple(stereo.element(), "sink_middle") == nullptr);
}

// A peer that accepts nothing gets an error that names the pad.
TEST(test_peer_that_accepts_nothing) {
  for (const auto& [pad, remedy] : {std::pair{"depth", "videoconvert"},
                                    {"confidence", "videoconvert"},
                                    {"points", "appsink"}}) {
    PadsHarness stereo;
    gst_harness_set_sink_caps_str(stereo.open(pad), "video/x-raw, format=I420");
    stereo.accept_gray();
    stereo.push_pair(0);
    stereo.wait_for_error();
    expect_words(stereo.messages().text(GST_MESSAGE_ERROR),
                 {std::string("the pad ") + pad, remedy});
  }
}

// Depth and points need the geometry of the cameras: an error at the start, or with the first frame
// for a pad that is linked later; a warning if it becomes invalid while playing.
TEST(test_lengths_need_cameras) {
  for (const char* pad : {"depth", "points"}) {
    PadsHarness stereo(Properties{});
    stereo.accept_gray();
    stereo.process_at(0);
    stereo.open(pad);
    stereo.push_pair(40 * ms);
    stereo.wait_for_error();
    expect_words(stereo.messages().text(GST_MESSAGE_ERROR), {"focal-length", "baseline"});
  }
  {
    PadsHarness stereo;
    stereo.open("depth");
    stereo.accept_gray();
    stereo.process_all(0);
    stereo.set("baseline", "0");
    stereo.process_all(40 * ms);
    stereo.process_all(80 * ms);
    fail_unless_equals_int(stereo.messages().count(GST_MESSAGE_WARNING), 1);
    expect_words(stereo.messages().text(GST_MESSAGE_WARNING), {"baseline"});
    // Without the pad, nothing needs the property.
    stereo.close("depth");
    stereo.process_all(120 * ms);
    fail_unless_equals_int(stereo.messages().count(GST_MESSAGE_ERROR), 0);
  }
  const Owned<GstElement> pipeline = new_pipeline(
      "cudasgmstereo name=e ! fakesink  e.depth ! fakesink  fakesrc ! e.sink_left  "
      "fakesrc ! e.sink_right");
  expect_words(expect_failed_start(pipeline), {"focal-length", "baseline"});
}

// RECONFIGURE at one pad negotiates that pad anew, and no other.
TEST(test_reconfigure_of_one_pad) {
  PadsHarness stereo;
  stereo.open_all();
  stereo.accept_gray();
  stereo.process_all(0);
  for (GstHarness* harness : stereo.outlets())
    take_all_events(harness);
  gst_harness_set_sink_caps_str(stereo.at_pad("depth"),
                                "video/x-raw, format=GRAY16_LE, framerate=25/1");
  gst_harness_push_upstream_event(stereo.at_pad("depth"), gst_event_new_reconfigure());
  stereo.process_all(40 * ms);
  for (GstHarness* harness : stereo.outlets())
    fail_unless_equals_int(events_of(harness, GST_EVENT_CAPS).size(), 0);
  gst_harness_set_sink_caps_str(stereo.at_pad("depth"), "video/x-raw, format=GRAY8");
  gst_harness_push_upstream_event(stereo.at_pad("depth"), gst_event_new_reconfigure());
  stereo.push_pair(80 * ms);
  stereo.wait_for_error();
  expect_words(stereo.messages().text(GST_MESSAGE_ERROR), {"the pad depth"});
}

// The element starts again after each state.
TEST(test_pads_start_again) {
  PadsHarness stereo;
  stereo.open_all();
  for (GstState low : {GST_STATE_PAUSED, GST_STATE_READY, GST_STATE_NULL, GST_STATE_READY}) {
    for (GstHarness* harness : {stereo.left(), stereo.right()})
      gst_pad_push_event(harness->srcpad, gst_event_new_stream_start("again"));
    stereo.accept_gray();
    for (GstClockTime time : {0 * ms, 40 * ms})
      stereo.process_all(time);
    gst_element_set_state(stereo.element(), low);
    gst_element_set_state(stereo.element(), GST_STATE_PLAYING);
  }
  fail_unless_equals_int(stereo.messages().count(GST_MESSAGE_ERROR), 0);
}

namespace {

const std::string two_cameras =
    "videotestsrc num-buffers=%n pattern=ball ! video/x-raw,format=GRAY8,width=64,height=48 ! tee "
    "name=t  t. ! queue ! e.sink_left  t. ! queue ! e.sink_right  ";

std::string with_buffers(std::string text, int buffers) {
  return text.replace(text.find("%n"), 2, std::to_string(buffers));
}

}  // namespace

// In a pipeline, all sinks preroll, get every frame and end.
TEST(test_pads_in_a_pipeline) {
  for (const char* src : {"e.src ! queue ! fakesink  ", ""}) {
    std::atomic<int> depths{0}, confidences{0};
    const auto count = [](GstElement* pipeline, const char* sink, std::atomic<int>& counter) {
      const Owned<GstElement> element = element_in(pipeline, sink);
      g_object_set(element.get(), "signal-handoffs", TRUE, nullptr);
      g_signal_connect(element.get(), "handoff",
                       G_CALLBACK(+[](GstElement*, GstBuffer*, GstPad*, gpointer number) {
                         ++*static_cast<std::atomic<int>*>(number);
                       }),
                       &counter);
    };
    run_pipeline(
        "cudasgmstereo name=e focal-length=50 baseline=10 num-disparities=32  " +
            with_buffers(two_cameras, 12) + src +
            "e.depth ! queue ! fakesink name=d  e.confidence ! queue ! fakesink name=c",
        [&](GstElement* pipeline) {
          count(pipeline, "d", depths);
          count(pipeline, "c", confidences);
        },
        [](GstElement*) {});
    fail_unless(depths >= 11 && depths == confidences, "%d depths, %d confidences", depths.load(),
                confidences.load());
  }
}

// A flushing seek of the whole pipeline, which reaches the element through every sink.
TEST(test_pipeline_seeks) {
  const Owned<GstElement> pipeline = new_pipeline(
      "cudasgmstereo name=e focal-length=50 baseline=10 num-disparities=32  " +
      with_buffers(two_cameras, 100000) +
      "e.src ! queue ! fakesink  e.depth ! queue ! fakesink  e.confidence ! queue ! fakesink  "
      "e.points ! queue ! fakesink");
  const Owned<GstElement> stereo = element_in(pipeline, "e");
  set_property(stereo, "backend", test_backend());
  fail_unless(gst_element_set_state(pipeline, GST_STATE_PAUSED) != GST_STATE_CHANGE_FAILURE);
  const auto settle = [&] {
    fail_unless_equals_int(gst_element_get_state(pipeline, nullptr, nullptr, 20 * GST_SECOND),
                           GST_STATE_CHANGE_SUCCESS);
  };
  settle();
  for (guint i = 0; i < 10; ++i) {
    fail_unless(gst_element_seek_simple(
        pipeline, GST_FORMAT_TIME,
        static_cast<GstSeekFlags>(GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE), i * GST_SECOND));
    settle();  // all sinks have prerolled again
  }
  gst_element_set_state(pipeline, GST_STATE_NULL);
}
