// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/messagelog.h"

#include "tests/check/common/gstcheck.h"

namespace check {
namespace {

/// Appends the debug text in parentheses.
std::string text_of(GstMessage* message) {
  GError* error = nullptr;
  gchar* debug = nullptr;
  gst_structure_get(gst_message_get_structure(message), "gerror", G_TYPE_ERROR, &error, "debug",
                    G_TYPE_STRING, &debug, nullptr);
  std::string text = std::string(error->message) + " (" + (debug ? debug : "") + ")";
  g_error_free(error);
  g_free(debug);
  return text;
}

}  // namespace

MessageLog::MessageLog(GstElement* element)
    : element_(GST_ELEMENT(gst_object_ref(element))), bus_(gst_bus_new()) {
  gst_bus_set_sync_handler(bus_, handle, this, nullptr);
  gst_element_set_bus(element, bus_);
}

MessageLog::~MessageLog() {
  gst_element_set_bus(element_, nullptr);
  gst_bus_set_sync_handler(bus_, nullptr, nullptr, nullptr);
}

GstBusSyncReply MessageLog::handle(GstBus*, GstMessage* message, gpointer self) {
  auto* log = static_cast<MessageLog*>(self);
  std::function<void(GstMessage*)> look;
  {
    const std::lock_guard<std::mutex> lock(log->mutex_);
    look = log->look_;
  }
  if (look)
    look(message);
  const std::lock_guard<std::mutex> lock(log->mutex_);
  log->messages_.emplace_back(message);  // GST_BUS_DROP passes the reference to the handler
  return GST_BUS_DROP;
}

int MessageLog::count(GstMessageType type) {
  const std::lock_guard<std::mutex> lock(mutex_);
  int found = 0;
  for (const Owned<GstMessage>& message : messages_)
    found += (GST_MESSAGE_TYPE(message) & type) != 0;
  return found;
}

std::vector<Owned<GstMessage>> MessageLog::take(GstMessageType type) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<Owned<GstMessage>> taken, left;
  for (Owned<GstMessage>& message : messages_)
    ((GST_MESSAGE_TYPE(message) & type) != 0 ? taken : left).push_back(std::move(message));
  messages_ = std::move(left);
  return taken;
}

std::string MessageLog::text(GstMessageType type) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const Owned<GstMessage>& message : messages_)
    if ((GST_MESSAGE_TYPE(message) & type) != 0)
      return text_of(message);
  return "";
}

std::string MessageLog::texts(GstMessageType type) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::string all;
  for (const Owned<GstMessage>& message : messages_)
    if ((GST_MESSAGE_TYPE(message) & type) != 0)
      all += text_of(message) + "\n";
  return all;
}

void MessageLog::expect_one(GstMessageType type, const std::vector<std::string>& words) {
  fail_unless_equals_int(complaints(), 1);
  expect_words(text(type), words);
}

void MessageLog::on_message(std::function<void(GstMessage*)> look) {
  const std::lock_guard<std::mutex> lock(mutex_);
  look_ = std::move(look);
}

void MessageLog::clear() {
  const std::lock_guard<std::mutex> lock(mutex_);
  messages_.clear();
}

const GstStructure* structure_of(GstMessage* message, const char* name) {
  const GstStructure* structure = gst_message_get_structure(message);
  fail_unless(gst_structure_has_name(structure, name), "named %s instead of %s",
              gst_structure_get_name(structure), name);
  return structure;
}

guint64 time_in(const GstStructure* structure, const char* field) {
  guint64 time = 0;
  fail_unless(gst_structure_get_uint64(structure, field, &time), "no uint64 field %s", field);
  return time;
}

double number_in(const GstStructure* structure, const char* field) {
  gdouble number = 0;
  fail_unless(gst_structure_get_double(structure, field, &number), "no double field %s", field);
  return number;
}

DebugLog::DebugLog(const char* category) : category_(category) {
  gst_debug_remove_log_function(gst_debug_log_default);
  gst_debug_add_log_function(on_line, this, nullptr);
  gst_debug_set_active(TRUE);
  gst_debug_set_threshold_for_name(category, GST_LEVEL_LOG);
}

DebugLog::~DebugLog() {
  gst_debug_unset_threshold_for_name(category_.c_str());
  gst_debug_remove_log_function_by_data(this);
  gst_debug_add_log_function(gst_debug_log_default, nullptr, nullptr);
}

std::vector<std::string> DebugLog::lines(GstDebugLevel level) {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> found;
  for (const auto& [its_level, line] : lines_)
    if (its_level == level)
      found.push_back(line);
  return found;
}

void DebugLog::on_line(GstDebugCategory* category, GstDebugLevel level, const gchar*, const gchar*,
                       gint, GObject*, GstDebugMessage* message, gpointer data) {
  auto* self = static_cast<DebugLog*>(data);
  if (self->category_ != gst_debug_category_get_name(category))
    return;
  const std::lock_guard lock(self->mutex_);
  self->lines_.emplace_back(level, gst_debug_message_get(message));
}

void expect_words(const std::string& text, const std::vector<std::string>& words) {
  for (const std::string& word : words)
    fail_unless(text.find(word) != std::string::npos, "\"%s\" is missing in: %s", word.c_str(),
                text.c_str());
}

GstSegment new_segment(GstFormat format) {
  GstSegment segment;
  gst_segment_init(&segment, format);
  return segment;
}

}  // namespace check
