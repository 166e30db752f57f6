// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace cudavision {

/// An error to post as a message. what() is the text, which ends with the remedy.
class ElementError : public std::runtime_error {
 public:
  ElementError(GQuark domain, int code, const std::string& what)
      : std::runtime_error(what), domain_(domain), code_(code) {}

  GQuark domain() const noexcept { return domain_; }
  int code() const noexcept { return code_; }

 private:
  GQuark domain_;
  int code_;
};

/// Throws STREAM_ERROR/WRONG_TYPE, for frames or caps that an element cannot process.
[[noreturn]] void refuse_stream(const std::string& what);

/// Replaces std::source_location, which clang 14 lacks. A message's debug text shows the location.
struct SourceLocation {
  const char* file;
  const char* function;
  int line;

  static constexpr SourceLocation current(const char* file = __builtin_FILE(),
                                          const char* function = __builtin_FUNCTION(),
                                          int line = __builtin_LINE()) {
    return {file, function, line};
  }
};

/// Sets the last words of messages about out_of_memory and bad_alloc: ", or use ADVICE." Default:
/// "smaller frames". Call this in class_init.
void set_memory_advice(GstElementClass* klass, const char* advice);

void post_current_exception(GstElement* element, const SourceLocation& location) noexcept;

void post_warning(GstElement* element, GQuark domain, int code, const std::string& text,
                  const SourceLocation& location = SourceLocation::current());

void post_information(GstElement* element, const std::string& text,
                      const SourceLocation& location = SourceLocation::current());

/// Runs the body of a virtual function. Posts an ERROR message for an exception, after the stack is
/// unwound, so no CUDA context is current in message handlers. Then returns on_error.
template <class Result, class Body>
Result post_exceptions(gpointer element, Result on_error, Body&& body,
                       const SourceLocation& location = SourceLocation::current()) noexcept {
  try {
    return std::forward<Body>(body)();
  } catch (...) {
    post_current_exception(static_cast<GstElement*>(element), location);
    return on_error;
  }
}

}  // namespace cudavision
