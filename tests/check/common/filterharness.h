// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/check/gstharness.h>

#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "tests/check/common/backend.h"
#include "tests/check/common/elementundertest.h"
#include "tests/check/common/gstcheck.h"
#include "tests/check/common/messagelog.h"
#include "tests/check/common/owned.h"
#include "tests/check/common/pictures/picture.h"
#include "tests/check/common/testcase.h"
#include "tests/check/common/waiting.h"

namespace check {

/// Returns the CUDA context in a HAVE_CONTEXT message, or nullptr.
Owned<GstContext> context_in(GstMessage* message);

void expect_upstream_event(GstHarness* harness, GstEventType type);

Owned<GstCaps> caps_from(const std::string& text);
/// The pad must have caps.
Owned<GstCaps> current_caps(GstPad* pad);
Owned<GstPad> pad_of(GstElement* element, const char* name);
Owned<GstElement> element_in(GstElement* pipeline, const char* name);

/// Sets a property from the text that a launch line would contain.
void set_property(GstElement* element, const char* property, const std::string& value);

std::string value_of(GstElement* element, const char* property);

Owned<GstElement> new_pipeline(const std::string& launch);

GstBuffer* at(GstClockTime pts, GstBuffer* buffer, GstClockTime duration = 40 * GST_MSECOND);
GstBuffer* stamped(GstBuffer* buffer);
void expect_stamps(GstBuffer* buffer);
GstBuffer* missing_frame();

/// Sends caps and a TIME segment from 0. Returns whether the peer accepted the caps.
bool send_caps(GstPad* source_pad, const std::string& caps);
GstSegment new_segment(GstFormat format = GST_FORMAT_TIME);

/// A point of the curve over stream time that a double, int or boolean property follows.
struct Point {
  GstClockTime time;
  double value;
};
enum class Curve { steps, line };
void control(GstElement* element, const char* property, Curve curve,
             const std::vector<Point>& points);

/// Calls `change` in another thread while 200 pictures are made. Each must equal `one` or `other`.
void expect_either(const std::function<void(unsigned number)>& change,
                   const std::function<Picture()>& process, const Picture& one,
                   const Picture& other);

/// If CUDA is tested, gives the element or pipeline a CUDA context that the process shares, because
/// making one for each is slow. Call this before the start.
void share_cuda_context(GstElement* element);

Owned<GstElement> new_element(const char* factory);
/// Makes an element with the backend under test and, by default, frames-in-flight=1.
Owned<GstElement> make_element(const char* factory, const Properties& properties = {});
Owned<GstHarness> new_shared_harness(const std::string& launch);
/// The elements get a CUDA context of their own. Requires a GPU.
Owned<GstHarness> new_harness_in_own_context(const std::string& launch, guint gpu = 0);
/// Makes tested() with the backend under test, `always` and `properties`.
Owned<GstElement> make_tested(const Properties& properties = {});

inline std::string active_backend(GstElement* element) {
  return value_of(element, "active-backend");
}

/// One element, tested() by default, that plays between two pads of the test.
class FilterHarness {
 public:
  FilterHarness(std::initializer_list<Property> properties = {});
  explicit FilterHarness(const Properties& properties);
  FilterHarness(const char* factory, const Properties& properties = {});

  GstElement* element() const { return element_; }
  GstHarness* harness() const { return harness_; }
  GstPad* source_pad() const { return harness_->srcpad; }  ///< harness pad; feeds the element
  GstPad* sink_pad() const { return harness_->sinkpad; }
  MessageLog& messages() { return messages_; }

  void set(const char* property, const std::string& value) {
    set_property(element_, property, value);
  }
  void set(const Property& property) { set(property.first, property.second); }
  void set(const Properties& properties) {
    for (const Property& property : properties)
      set(property);
  }

  bool send_caps(const std::string& caps) { return check::send_caps(source_pad(), caps); }
  void accept_caps(const FormatSpec& format, int width, int height, const std::string& more = "");

  void send_event(GstEvent* event) { gst_harness_push_event(harness_, event); }
  void send_segment(const GstSegment& segment) { send_event(gst_event_new_segment(&segment)); }
  void send_eos() { send_event(gst_event_new_eos()); }
  void flush();
  /// Sets the state `low` and then PLAYING, and begins a new stream.
  void restart(GstState low = GST_STATE_READY);
  void accept_downstream(const std::string& caps) {
    gst_harness_set_sink_caps_str(harness_, caps.c_str());
  }

  GstFlowReturn push(GstBuffer* buffer) { return gst_harness_push(harness_, buffer); }
  Owned<GstBuffer> pull() { return Owned<GstBuffer>(gst_harness_try_pull(harness_)); }

  Owned<GstBuffer> process(GstBuffer* buffer);
  /// Pushes one frame, which the element may overwrite, and compares the output.
  void expect(GstBuffer* buffer, const Picture& expected, const std::string& what);
  /// Pushes a picture, which must stay unchanged, and returns its only output.
  Owned<GstBuffer> process_unchanged(const Picture& picture, const Layout& layout = packed_layout);
  Picture process(const Picture& picture, const Layout& layout = packed_layout);

 private:
  explicit FilterHarness(Owned<GstElement> element);

  const Owned<GstElement> element_;
  MessageLog messages_;
  const Owned<GstHarness> harness_;
};

/// Fails the test if the pictures differ; `what` names the case.
void expect_picture(const Picture& got, const Picture& expected, const std::string& what);

/// Sends a picture through an element. Compares the gray output picture and the output caps.
void expect_gray_picture(FilterHarness& filter, const Picture& picture, const Picture& expected,
                         const std::string& what, const Layout& layout = packed_layout);

/// Starts an element, which must fail with exactly one error. Returns the text of the error.
std::string expect_failed_start(GstElement* element);

/// Answers the queries that a pad sends to its peer.
void answer_queries(GstPad* pad, GstQueryType type, const std::function<void(GstQuery*)>& answer);
void answer_queries(GstElement* element, GstQueryType type,
                    const std::function<void(GstQuery*)>& answer);

/// Calls look() with each buffer that passes a pad, in the thread that pushes it.
void on_buffers(GstPad* pad, std::function<void(GstBuffer*)> look);
/// Returns the picture of a buffer with a pad's caps.
Picture picture_at(GstPad* pad, const Owned<GstBuffer>& buffer);
/// Makes a sink pad discard each buffer and return `answer`.
void answer_buffers(GstPad* pad, GstFlowReturn answer = GST_FLOW_OK);

}  // namespace check
