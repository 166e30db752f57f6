// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/elementerror.h"

#include <new>

#include "cuda/core/error.h"

namespace cudavision {
namespace {

void post(GstElement* element, GstMessageType type, GQuark domain, int code, const char* text,
          const SourceLocation& location) {
  gst_element_message_full(element, type, domain, code, g_strdup(text), nullptr, location.file,
                           location.function, location.line);
}

}  // namespace

void refuse_stream(const std::string& what) {
  throw ElementError(GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE, what);
}

void post_current_exception(GstElement* element, const SourceLocation& location) noexcept {
  const auto error = [&](GQuark domain, int code, const char* text) {
    post(element, GST_MESSAGE_ERROR, domain, code, text, location);
  };
  try {
    throw;
  } catch (const ElementError& e) {
    error(e.domain(), e.code(), e.what());
  } catch (const Error& e) {
    switch (e.kind()) {
      case Error::Kind::invalid_argument:
        error(GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, e.what());
        break;
      case Error::Kind::out_of_memory:
        error(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT, e.what());
        break;
      case Error::Kind::device:
        error(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED, e.what());
        break;
    }
  } catch (const std::bad_alloc&) {
    error(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
          "The system is out of memory: use smaller frames, or free some memory.");
  } catch (const std::exception& e) {
    error(GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_FAILED, e.what());
  } catch (...) {
    error(GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_FAILED, "An unknown error occurred.");
  }
}

void post_warning(GstElement* element, GQuark domain, int code, const std::string& text,
                  const SourceLocation& location) {
  post(element, GST_MESSAGE_WARNING, domain, code, text.c_str(), location);
}

}  // namespace cudavision
