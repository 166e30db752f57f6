// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>

#include <functional>
#include <initializer_list>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tests/check/common/elementundertest.h"
#include "tests/check/common/picture.h"
#include "tests/check/common/testcase.h"

namespace check {

/// The backend under test: what CUDAVISION_TEST_BACKEND names, "cpu" where it is not set.
std::string test_backend();
inline bool testing_cuda() {
  return test_backend() == "cuda";
}

/// Whether the plug-in was built with its CUDA half.
bool built_with_cuda();

/// A reason to skip a test of GStreamer's own CUDA elements.
std::string unless_cuda_elements();

/// Whether the driver finds a GPU. A child process asks, because CUDA does not survive a fork.
bool machine_has_gpu();

/// Reasons for TEST(…, .unless(reason)); empty where the test can run.
std::string unless_testing_cuda();
std::string unless_without_gpu();
std::string unless_with_gpu();
std::string unless_sanitized();  ///< a sanitizer keeps freed memory
std::string unless_elements(const std::vector<const char*>& factories);

/// All messages of an element or pipeline, in the order in which they were posted.
class MessageLog {
 public:
  MessageLog();
  ~MessageLog();
  MessageLog(const MessageLog&) = delete;
  MessageLog& operator=(const MessageLog&) = delete;

  GstBus* bus() const { return bus_; }

  int count(GstMessageType type);
  /// Errors and warnings.
  int complaints() {
    return count(static_cast<GstMessageType>(GST_MESSAGE_ERROR | GST_MESSAGE_WARNING));
  }
  /// New references, oldest first.
  std::vector<GstMessage*> take(GstMessageType type);
  /// Text and debug text of the first ERROR or WARNING; empty where there is none.
  std::string text(GstMessageType type);
  void clear();

 private:
  static GstBusSyncReply on_message(GstBus*, GstMessage* message, gpointer self);

  GstBus* bus_;
  std::mutex mutex_;
  std::vector<GstMessage*> messages_;
};

/// The lines that elements write to a debug category, at the levels up to LOG, while this lives.
class DebugLog {
 public:
  explicit DebugLog(const char* category);
  ~DebugLog();
  DebugLog(const DebugLog&) = delete;
  DebugLog& operator=(const DebugLog&) = delete;

  /// The lines at that level.
  std::vector<std::string> lines(GstDebugLevel level = GST_LEVEL_LOG);

 private:
  static void on_line(GstDebugCategory* category, GstDebugLevel level, const gchar* file,
                      const gchar* function, gint line, GObject* object, GstDebugMessage* message,
                      gpointer self);

  const std::string category_;
  std::mutex mutex_;
  std::vector<std::pair<GstDebugLevel, std::string>> lines_;
};

/// Fails the test unless the text has all the words that lead a user to the remedy.
void expect_words(const std::string& text, const std::vector<std::string>& words);

/// Sends caps and a TIME segment from 0. Returns whether the pad took the caps.
bool send_caps(GstPad* source_pad, const std::string& caps);
/// A segment that is nothing but initialised.
GstSegment new_segment(GstFormat format = GST_FORMAT_TIME);

/// Lets a property of type double, int or boolean follow a curve over stream time.
struct Point {
  GstClockTime time;
  double value;
};
enum class Curve { steps, line };
void control(GstElement* element, const char* property, Curve curve,
             const std::vector<Point>& points);

/// Runs `change` again and again on a thread of its own while `process` gives 200 pictures, each of
/// which must be one of the two.
void expect_either(const std::function<void(unsigned number)>& change,
                   const std::function<Picture()>& process, const Picture& one,
                   const Picture& other);

/// Shares one CUDA context between all elements and pipelines of this test program when CUDA is
/// tested, as an application may: making one takes as long as many tests. Call it before the start.
void share_cuda_context(GstElement* element);

/// An element made by name with the backend under test and further properties, in that context.
GstElement* make_element(const char* factory, const Properties& properties = {});
/// The elements of a launch line, in that context as well, between two pads of a harness.
GstHarness* new_shared_harness(const std::string& launch);
/// tested() with the backend under test, `always` and further properties.
GstElement* make_tested(const Properties& properties = {});

/// The nick of the property active-backend.
std::string active_backend(GstElement* element);

/// One element playing between two pads of the test. Without a factory name it is tested().
class FilterHarness {
 public:
  FilterHarness(std::initializer_list<Property> properties = {});
  explicit FilterHarness(const Properties& properties);
  FilterHarness(const char* factory, const Properties& properties = {});
  ~FilterHarness();
  FilterHarness(const FilterHarness&) = delete;
  FilterHarness& operator=(const FilterHarness&) = delete;

  GstElement* element() const { return element_; }
  GstHarness* harness() const { return harness_; }
  GstPad* source_pad() const { return harness_->srcpad; }  ///< of the harness: feeds the element
  GstPad* sink_pad() const { return harness_->sinkpad; }
  MessageLog& messages() { return messages_; }

  void set(const char* property, const std::string& value);
  void set(const Property& property) { set(property.first, property.second); }
  void set(const Properties& properties) {
    for (const Property& property : properties)
      set(property);
  }

  /// Caps, then a TIME segment from 0. Whether the element accepted the caps.
  bool send_caps(const std::string& caps) { return check::send_caps(source_pad(), caps); }
  /// send_caps() that must succeed.
  void accept_caps(const FormatSpec& format, int width, int height, const std::string& more = "");

  void send_event(GstEvent* event) { gst_harness_push_event(harness_, event); }
  void send_segment(const GstSegment& segment) { send_event(gst_event_new_segment(&segment)); }
  void send_eos() { send_event(gst_event_new_eos()); }
  /// FLUSH_START and FLUSH_STOP.
  void flush();
  /// Lets downstream take only these caps.
  void accept_downstream(const std::string& caps) {
    gst_harness_set_sink_caps_str(harness_, caps.c_str());
  }

  GstFlowReturn push(GstBuffer* buffer) { return gst_harness_push(harness_, buffer); }
  /// The next output, nullptr where there is none.
  GstBuffer* pull() { return gst_harness_try_pull(harness_); }

  /// Pushes one frame and returns the one that must come out.
  GstBuffer* process(GstBuffer* buffer);
  /// Pushes one frame, which the element may overwrite, and compares the one that must come out.
  void expect(GstBuffer* buffer, const Picture& expected, const std::string& what);
  /// Pushes a picture, which must stay as it was, and returns the only frame that comes out.
  GstBuffer* process_unchanged(const Picture& picture, const Layout& layout = packed_layout);
  /// The same in Pictures.
  Picture process(const Picture& picture, const Layout& layout = packed_layout);

 private:
  explicit FilterHarness(GstElement* element);

  MessageLog messages_;
  GstElement* element_;
  GstHarness* harness_;
};

/// Fails the test unless the pictures are equal. `what` names the case in the failure.
void expect_picture(const Picture& got, const Picture& expected, const std::string& what);

/// Returns large blocks to the system as soon as they are freed from now on. The holes that they
/// otherwise leave in the heap come and go by megabytes and hide a leak from resident_bytes().
void return_freed_memory();

/// Bytes of memory that this process has in use (resident).
std::size_t resident_bytes();

/// Bytes in use on the first GPU by its driver's count; −1 without the driver's management library.
long long gpu_bytes();

}  // namespace check
