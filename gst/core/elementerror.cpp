// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/core/elementerror.h"

#include <new>

#include "cuda/core/error.h"

namespace cudavision {
namespace {

// Messages must be UTF-8, but texts may quote properties and file names with other bytes.
void post(GstElement* element, GstMessageType type, GQuark domain, int code, const char* text,
          const SourceLocation& location) {
  gchar* valid = g_utf8_make_valid(text, -1);  // owned by the message
  gst_element_message_full(element, type, domain, code, valid, nullptr, location.file,
                           location.function, location.line);
}

const GQuark memory_advice_key = g_quark_from_static_string("cudavision-memory-advice");

std::string memory_remedy(GstElement* element, const char* remedy) {
  const auto* advice =
      static_cast<const char*>(g_type_get_qdata(G_OBJECT_TYPE(element), memory_advice_key));
  return std::string(remedy) + ", or use " + (advice ? advice : "smaller frames") + ".";
}

constexpr char device_remedy[] =
    ". Set the element to NULL and start it again; if that fails too, restart the program and "
    "check dmesg and nvidia-smi.";

}  // namespace

void set_memory_advice(GstElementClass* klass, const char* advice) {
  g_type_set_qdata(G_OBJECT_CLASS_TYPE(klass), memory_advice_key, const_cast<char*>(advice));
}

void refuse_stream(const std::string& what) {
  throw ElementError(GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE, what);
}

void post_current_exception(GstElement* element, const SourceLocation& location) noexcept {
  const auto error = [&](GQuark domain, int code, const std::string& text) {
    post(element, GST_MESSAGE_ERROR, domain, code, text.c_str(), location);
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
        error(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
              e.what() + memory_remedy(element, ". End other programs (see nvidia-smi)"));
        break;
      case Error::Kind::device:
        error(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED, std::string(e.what()) + device_remedy);
        break;
    }
  } catch (const std::bad_alloc&) {
    error(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
          memory_remedy(element, "The system is out of memory: end other programs"));
  } catch (const std::exception& e) {
    error(GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_FAILED, e.what());
  } catch (...) {
    error(GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_FAILED,
          "An unknown exception was thrown: set the element to NULL and start it again.");
  }
}

void post_warning(GstElement* element, GQuark domain, int code, const std::string& text,
                  const SourceLocation& location) {
  post(element, GST_MESSAGE_WARNING, domain, code, text.c_str(), location);
}

void post_information(GstElement* element, const std::string& text,
                      const SourceLocation& location) {
  post(element, GST_MESSAGE_INFO, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, text.c_str(),
       location);
}

}  // namespace cudavision
