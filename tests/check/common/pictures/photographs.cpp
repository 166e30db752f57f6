// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/pictures/photographs.h"

#include <set>

#include "tests/check/common/filterharness.h"
#include "tests/check/common/gstcheck.h"
#include "tests/check/common/waiting.h"

namespace check {

Owned<GstSample> pull_sample(GstElement* pipeline, const char* sink_name) {
  const Owned<GstElement> sink = element_in(pipeline, sink_name);
  GstSample* sample = nullptr;
  g_signal_emit_by_name(sink, "try-pull-sample", watchdog, &sample);
  if (sample == nullptr) {
    GstBus* bus = gst_element_get_bus(pipeline);
    GstMessage* message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
    GError* error = nullptr;
    if (message != nullptr)
      gst_message_parse_error(message, &error, nullptr);
    ck_abort_msg("the pipeline gives no picture: %s",
                 error != nullptr ? error->message : "it hangs");
  }
  return Owned<GstSample>(sample);
}

Picture picture_in(GstSample* sample, const FormatSpec& format) {
  gint width = 0, height = 0;
  const GstStructure* structure = gst_caps_get_structure(gst_sample_get_caps(sample), 0);
  fail_unless_equals_string(gst_structure_get_string(structure, "format"), format.name);
  fail_unless(gst_structure_get_int(structure, "width", &width) &&
              gst_structure_get_int(structure, "height", &height));
  return from_buffer(gst_sample_get_buffer(sample), format, width, height);
}

std::string picture_file(const std::string& name) {
  static const std::set<std::string> known = {
#include "tests/check/common/pictures/picturefiles.inc"
  };
  if (known.count(name) == 0)
    g_error("%s is missing in picturefiles.inc: add it, so that GPU hosts get the file",
            name.c_str());
  const char* folder = g_getenv("CUDAVISION_TEST_PICTURES");
  gchar* path =
      g_build_filename(folder != nullptr ? folder : "/usr/share/doc/opencv-doc/examples/data",
                       name.c_str(), nullptr);
  const std::string result = path;
  g_free(path);
  return result;
}

std::string street_film() {
  const char* film = g_getenv("CUDAVISION_TEST_STREET");
  return film != nullptr ? film : "/usr/share/doc/opencv-doc/examples/data/vtest.avi";
}

std::string unless_street() {
  if (!g_file_test(street_film().c_str(), G_FILE_TEST_IS_REGULAR))
    return street_film() + " is missing (Debian: opencv-doc)";
  if (g_getenv("CUDAVISION_TEST_STREET") == nullptr)
    if (std::string reason = unless_elements({"avidemux", "avdec_msmpeg4"}); !reason.empty())
      return reason;
  return unless_elements(
      {"filesrc", "decodebin", "videoconvert", "videocrop", "tee", "queue", "fakesink"});
}

std::string unless_pictures(const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (const std::string file = picture_file(name);
        !g_file_test(file.c_str(), G_FILE_TEST_IS_REGULAR))
      return file + " is missing (Debian: opencv-doc)";
  return unless_elements({"jpegdec", "pngdec", "videoconvert", "filesrc", "appsink", "tee"});
}

std::string unless_photographs() {
  std::vector<std::string> names;
  for (const Photograph& photograph : photographs)
    names.push_back(photograph.file);
  return unless_pictures(names);
}

Picture decoded(const std::string& file, const char* decoder, const FormatSpec& format) {
  const Owned<GstElement> pipeline = new_pipeline(
      "filesrc location=" + file + " ! " + decoder +
      " ! videoconvert ! video/x-raw,format=" + format.name + " ! appsink name=picture sync=false");
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  const Owned<GstSample> sample = pull_sample(pipeline, "picture");
  Picture picture = picture_in(sample, format);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  return picture;
}

BeforeAfter photograph_through(const Photograph& photograph, const FormatSpec& format,
                               const std::string& more_caps, const std::string& element) {
  const std::string launch = "filesrc location=" + picture_file(photograph.file) + " ! " +
                             photograph.decoder +
                             " ! videoconvert ! video/x-raw,format=" + format.name + more_caps +
                             " ! tee name=t ! queue ! appsink name=before sync=false  t. ! queue "
                             "! " +
                             element + " ! appsink name=after sync=false";
  const Owned<GstElement> pipeline = new_pipeline(launch);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  const Owned<GstSample> before = pull_sample(pipeline, "before");
  const Owned<GstSample> after = pull_sample(pipeline, "after");
  BeforeAfter pictures = {picture_in(before, format), picture_in(after, format)};
  gst_element_set_state(pipeline, GST_STATE_NULL);
  return pictures;
}

}  // namespace check
