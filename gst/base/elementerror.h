// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace cudavision {

/// A failure with the domain and code under which the bus is to hear of it. what() is shown to the
/// user as it stands, so it says what is wrong and what to change.
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

/// The place that a message's debug text names. As a default argument, here() is that of the call.
struct Place {
  const char* file;
  const char* function;
  int line;

  static constexpr Place here(const char* file = __builtin_FILE(),
                              const char* function = __builtin_FUNCTION(),
                              int line = __builtin_LINE()) {
    return {file, function, line};
  }
};

/// Posts the exception that is being handled as an ERROR message of element.
void post_current_exception(GstElement* element, const Place& place) noexcept;

void post_warning(GstElement* element, GQuark domain, int code, const std::string& text,
                  const Place& place = Place::here());

/// The wall that no exception crosses: every virtual function of an element runs its body in here.
/// An exception becomes an ERROR message of element, and on_error is returned. Whatever body had
/// pushed is popped by the time the message goes out, so that handlers run in a clean thread.
template <class Result, class Body>
Result post_exceptions(gpointer element, Result on_error, Body&& body,
                       const Place& place = Place::here()) noexcept {
  try {
    return std::forward<Body>(body)();
  } catch (...) {
    post_current_exception(static_cast<GstElement*>(element), place);
    return on_error;
  }
}

}  // namespace cudavision
