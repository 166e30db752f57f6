// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests the warning that no frame had a region although regions were requested.
#include <gst/video/gstvideometa.h>

#include "tests/check/common/filterharness.h"

using namespace check;

namespace {

constexpr int width = 71, height = 53;
constexpr GstClockTime frame_time = 100 * GST_MSECOND;

/// A filter, and its frames, which are numbered from 0 after each start.
class Stream {
 public:
  Stream(std::initializer_list<Property> properties) : filter(properties) { begin(); }

  void begin() {
    filter.accept_caps(gray(), width, height);
    number_ = 0;
  }
  void restart() {
    filter.restart();
    begin();
  }

  /// Pushes frames, each with a meta if `label` is given.
  void push(int count, const char* label = nullptr, guint x = 3, guint y = 4) {
    for (int i = 0; i < count; ++i) {
      GstBuffer* buffer = at(number_++ * frame_time, to_buffer(picture_), frame_time);
      if (label) {
        auto* meta = gst_buffer_add_video_region_of_interest_meta(buffer, label, x, y, 20, 10);
        gst_video_region_of_interest_meta_add_param(
            meta, gst_structure_new("detection", "confidence", G_TYPE_DOUBLE, confidence, nullptr));
      }
      const Owned<GstBuffer> out = filter.process(buffer);
    }
  }
  void expect_no_warning(const char* when) {
    fail_unless(filter.messages().complaints() == 0, "%s: %s", when,
                filter.messages().text(GST_MESSAGE_WARNING).c_str());
  }
  void expect_warning(const std::vector<std::string>& words) {
    fail_unless_equals_int(filter.messages().count(GST_MESSAGE_WARNING), 1);
    expect_words(filter.messages().text(GST_MESSAGE_WARNING), words);
    filter.messages().clear();
  }

  FilterHarness filter;
  double confidence = 1;  ///< confidence in the metas

 private:
  const Picture picture_ = make_picture(gray(), width, height, Content::random, 1);
  guint64 number_ = 0;
};

}  // namespace

TEST(test_regions_outside, .for_each_element()) {
  Stream stream({{"regions", "80,10,30,20;-50,0,20,20"}});
  stream.push(3);
  stream.expect_warning({"71x53", "80,10,30,20", "frames pass unchanged", "0.5,0.5,0.25,0.25"});
  stream.restart();
  stream.push(1);
  stream.expect_warning({"71x53"});
  for (const char* far : {"99999999999999999999,0,1,1", "0,-1e300,1,1", "3000000,0,20,20"}) {
    stream.restart();
    stream.filter.set("regions", far);
    stream.push(1);
    stream.expect_warning({"71x53"});
  }
  // A region in a single frame prevents the warning.
  stream.restart();
  stream.filter.set("regions", "60,10,30,20");
  stream.push(1);
  stream.filter.set("regions", "80,10,30,20");
  stream.push(100);
  stream.expect_no_warning("the region leaves the frame");
}

TEST(test_metas_outside, .for_each_element()) {
  Stream stream({{"use-roi-meta", "true"}, {"regions-missing", "all"}});
  stream.push(2, "face", 640, 300);
  stream.expect_warning({"No region in the metas intersects the 71x53 frame", "640,300,20,10",
                         "processed as a whole", "detector"});
  stream.push(100);
  stream.expect_no_warning("one is enough");
  for (guint far : {guint{3000000}, guint{3000000000}}) {
    stream.restart();
    stream.push(1, "face", far, 300);
    stream.expect_warning({"71x53", "processed as a whole"});
  }
}

TEST(test_empty_regions, .for_each_element()) {
  Stream stream({{"regions", "0,0,0,0"}});
  stream.push(100);
  stream.filter.send_eos();
  stream.expect_no_warning("an empty rectangle means that a detector finds nothing");
}

TEST(test_other_labels, .for_each_element()) {
  Stream stream({{"use-roi-meta", "true"}, {"region-types", "face,plate"}});
  stream.push(10, "person");
  stream.push(10, "car");
  stream.expect_no_warning("a face may come into view yet");
  stream.push(31, "person");
  stream.expect_warning({"region-types=face,plate", "person, car", "frames pass unchanged"});

  // A short video ends before the time limit.
  stream.restart();
  stream.push(2, "person");
  stream.filter.send_eos();
  stream.expect_warning({"person", "region-types"});

  for (const char* label : {"face", "Face", "PLATE"}) {
    Stream other({{"use-roi-meta", "true"}, {"region-types", "face,plate"}});
    other.push(60, "person");
    other.filter.messages().clear();
    other.restart();
    other.push(1, label);
    other.push(60, "person");
    other.filter.send_eos();
    other.expect_no_warning("an accepted label, in upper or lower case");
  }
}

TEST(test_low_confidence, .for_each_element()) {
  Stream stream({{"use-roi-meta", "true"}, {"region-confidence", "0.9"}});
  stream.confidence = 0.25;
  stream.push(10, "face");
  stream.expect_no_warning("a more confident region may come");
  stream.filter.send_eos();
  stream.expect_warning({"region-confidence=0.9", "0.25", "frames pass unchanged", "Lower"});
}

TEST(test_no_metas, .for_each_element()) {
  Stream stream({{"use-roi-meta", "true"}});
  stream.push(49);
  stream.expect_no_warning("less than 5 s");
  stream.push(2);
  stream.expect_warning({"use-roi-meta=true", "5 s",
                         "videocrop, videobox, videoflip and compositor", "frames pass unchanged"});
  stream.push(100);
  stream.expect_no_warning("one is enough");

  stream.restart();
  stream.push(1, "face");
  stream.push(100);
  stream.expect_no_warning("there was a meta");

  stream.restart();
  stream.filter.set("regions", "1,2,3,4");
  stream.push(51);
  stream.expect_warning({"frames are processed in the rectangles of regions only"});

  stream.restart();
  stream.filter.set("region-invert", "true");
  stream.push(51);
  stream.expect_warning({"frames are processed except in the rectangles of regions"});

  // Only frames with use-roi-meta count.
  stream.restart();
  stream.filter.set({{"use-roi-meta", "false"}, {"regions", "0,0,0,0"}});
  stream.push(51);
  stream.filter.set("use-roi-meta", "true");
  stream.push(49);
  stream.expect_no_warning("less than 5 s with use-roi-meta");
  stream.push(2);
  stream.expect_warning({"no frame has had a region of interest in its metas for 5 s"});

  stream.restart();
  stream.push(10);
  stream.filter.send_eos();
  stream.expect_no_warning("a short video may show nobody");
}
