// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tests/check/common/owned.h"

namespace check {

class MessageLog {
 public:
  explicit MessageLog(GstElement* element);
  ~MessageLog();

  int count(GstMessageType type);
  int complaints() {
    return count(static_cast<GstMessageType>(GST_MESSAGE_ERROR | GST_MESSAGE_WARNING));
  }
  /// Oldest first.
  std::vector<Owned<GstMessage>> take(GstMessageType type);
  /// Returns the text and the debug text of the first ERROR or WARNING, or an empty string.
  std::string text(GstMessageType type);
  /// Returns the texts of all ERRORs, WARNINGs or INFOs, in lines.
  std::string texts(GstMessageType type);
  /// Expects the log to have a single ERROR or WARNING, of this type and with these words.
  void expect_one(GstMessageType type, const std::vector<std::string>& words);
  void clear();
  /// Calls look() for each message before it is counted, in the thread that posts it.
  void on_message(std::function<void(GstMessage*)> look);

 private:
  static GstBusSyncReply handle(GstBus*, GstMessage* message, gpointer self);

  const Owned<GstElement> element_;
  const Owned<GstBus> bus_;
  std::mutex mutex_;
  std::vector<Owned<GstMessage>> messages_;
  std::function<void(GstMessage*)> look_;
};

const GstStructure* structure_of(GstMessage* message, const char* name);
/// The field must exist. A time may be GST_CLOCK_TIME_NONE.
guint64 time_in(const GstStructure* structure, const char* field);
double number_in(const GstStructure* structure, const char* field);

/// Collects the lines that elements write to a debug category, at the levels up to LOG.
class DebugLog {
 public:
  explicit DebugLog(const char* category);
  ~DebugLog();

  std::vector<std::string> lines(GstDebugLevel level = GST_LEVEL_LOG);

 private:
  static void on_line(GstDebugCategory* category, GstDebugLevel level, const gchar* file,
                      const gchar* function, gint line, GObject* object, GstDebugMessage* message,
                      gpointer self);

  const std::string category_;
  std::mutex mutex_;
  std::vector<std::pair<GstDebugLevel, std::string>> lines_;
};

void expect_words(const std::string& text, const std::vector<std::string>& words);

}  // namespace check
