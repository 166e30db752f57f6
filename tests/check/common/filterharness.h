// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>

#include <initializer_list>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tests/check/common/picture.h"
#include "tests/check/common/subject.h"

namespace check {

/// The backend under test: what CUDAVISION_TEST_BACKEND names, "cpu" where it is not set.
std::string test_backend();
inline bool testing_cuda() {
  return test_backend() == "cuda";
}

/// Whether the plug-in was built with its CUDA half.
bool built_with_cuda();

/// Whether this machine's driver finds a card. Asked in a process of its own, because CUDA does not
/// survive a fork.
bool machine_has_gpu();

/// Keeps a test out of the suite and says so by name.
void report_skipped(const char* test, const std::string& reason);

/// Adds the test, or where there is a reason not to, reports it as skipped.
#define ADD_TEST_UNLESS(tcase, test, reason)       \
  do {                                             \
    const std::string reason_not_to = (reason);    \
    if (reason_not_to.empty())                     \
      tcase_add_test(tcase, test);                 \
    else                                           \
      check::report_skipped(#test, reason_not_to); \
  } while (0)

#define ADD_LOOP_TEST_UNLESS(tcase, test, count, reason) \
  do {                                                   \
    const std::string reason_not_to = (reason);          \
    if (reason_not_to.empty())                           \
      tcase_add_loop_test(tcase, test, 0, count);        \
    else                                                 \
      check::report_skipped(#test, reason_not_to);       \
  } while (0)

/// Reasons for ADD_TEST_UNLESS; empty where the test can run.
std::string unless_testing_cuda();
std::string unless_without_gpu();
std::string unless_with_gpu();
std::string unless_sanitized();  ///< whose bookkeeping is no leak of ours
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

/// Where CUDA is tested, gives an element or pipeline, before it starts, the CUDA context that this
/// test program's elements share, as an application may: to make one takes as long as many tests.
void share_cuda_context(GstElement* element);

/// An element made by name with the backend under test and further properties, in that context.
GstElement* make_element(const char* factory, const Properties& properties = {});
/// Elements in a row, in that context as well, between two pads of a harness.
GstHarness* new_shared_harness(const std::string& launch);
/// subject() with the backend under test, what it always has, and further properties.
GstElement* make_subject(const Properties& properties = {});

/// One element playing between two pads that the test holds; where it is not named, that is
/// subject().
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

  /// Caps, then a TIME segment from 0. Whether the element accepted the caps.
  bool send_caps(const std::string& caps);
  /// send_caps() that must succeed.
  void accept_caps(const FormatSpec& format, int width, int height, const std::string& more = "");

  GstFlowReturn push(GstBuffer* buffer) { return gst_harness_push(harness_, buffer); }
  /// The next output, nullptr where there is none.
  GstBuffer* pull() { return gst_harness_try_pull(harness_); }

  /// Pushes one frame and returns the one that must come out.
  GstBuffer* process(GstBuffer* buffer);
  /// process() in Pictures. The input must stay as it was, and nothing but the frame come out.
  Picture process(const Picture& picture, const Layout& layout = packed_layout);

 private:
  explicit FilterHarness(GstElement* element);

  MessageLog messages_;
  GstElement* element_;
  GstHarness* harness_;
};

/// Fails the test where one of these frames, sent through the element, is not what the definition
/// says. `what` names the case in the failure.
void expect_picture(const Picture& got, const Picture& expected, const std::string& what);

/// From here on large blocks go back to the system as soon as they are freed. The holes that they
/// leave elsewhere come and go by megabytes, among which a leak does not show in resident_bytes().
void return_freed_memory();

/// Bytes of memory that this process has in use (resident).
std::size_t resident_bytes();

/// Bytes in use on the first card, as its driver counts them; −1 where the driver's management
/// library is missing.
long long card_bytes();

}  // namespace check
