// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "tests/check/common/stereoharness.h"

namespace check {

extern const Properties stereo_cameras;

std::vector<Owned<GstEvent>> take_events(GstHarness* harness);
std::vector<Owned<GstEvent>> take_events(GstHarness* harness, GstEventType type);
std::vector<Owned<GstEvent>> events_until_end(GstHarness* harness);

Map pull_from(GstHarness* harness);

/// One element with harnesses at several source pads.
class PadsHarness : public StereoHarness {
 public:
  explicit PadsHarness(const Properties& properties = stereo_cameras, bool two = true)
      : StereoHarness(properties, two) {}

  void open_all();
  GstHarness* at_pad(const std::string& pad) const { return opened().at(pad); }
  std::vector<GstHarness*> outlets() const;
  void unlink_src() const;

  std::vector<Map> process_all(GstClockTime time);
  /// Pushes at most 1000 small pairs until sink_left refuses a frame. Returns the last flow return.
  GstFlowReturn flow_in_the_end(GstClockTime time);
};

/// A sink pad that accepts frames of one format only, and counts them.
class PickySink {
 public:
  explicit PickySink(const char* caps)
      : template_(gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
                                       Owned<GstCaps>(gst_caps_from_string(caps)).get())),
        pad_(GST_PAD(gst_object_ref_sink(gst_pad_new_from_template(template_, "sink")))) {
    gst_pad_set_element_private(pad_, this);
    gst_pad_set_chain_function(pad_, [](GstPad* pad, GstObject*, GstBuffer* buffer) {
      gst_buffer_unref(buffer);
      ++static_cast<PickySink*>(gst_pad_get_element_private(pad))->frames_;
      return GST_FLOW_OK;
    });
    gst_pad_set_active(pad_, TRUE);
  }
  ~PickySink() { gst_pad_set_active(pad_, FALSE); }

  GstPad* pad() const { return pad_.get(); }
  int frames() const { return frames_; }

 private:
  const Owned<GstPadTemplate> template_;
  const Owned<GstPad> pad_;
  std::atomic<int> frames_{0};
};

}  // namespace check
