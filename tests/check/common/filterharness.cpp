// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/filterharness.h"

#include <dlfcn.h>
#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>
#include <gst/video/video.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <thread>

#include "tests/check/common/anyelement.h"

namespace check {

namespace {

/// Returns the context that an element makes if none is given to it.
Owned<GstContext> new_cuda_context() {
  const Owned<GstElement> element = new_element(any_element().c_str());
  set_property(element, "backend", "cuda");
  MessageLog messages(element);
  gst_element_set_state(element, GST_STATE_PAUSED);
  Owned<GstContext> found;
  for (const Owned<GstMessage>& message : messages.take(GST_MESSAGE_HAVE_CONTEXT))
    if (Owned<GstContext> context = context_in(message))
      found = std::move(context);
  fail_unless(found != nullptr, "no CUDA context: %s", messages.text(GST_MESSAGE_ERROR).c_str());
  gst_element_set_state(element, GST_STATE_NULL);
  return found;
}

}  // namespace

void share_cuda_context(GstElement* element) {
  if (!testing_cuda())
    return;
  // Made during a test, not before the tests fork, because CUDA does not survive a fork.
  static Owned<GstContext> shared;
  if (shared == nullptr)
    shared = new_cuda_context();
  gst_element_set_context(element, shared);
}

Owned<GstContext> context_in(GstMessage* message) {
  GstContext* context = nullptr;
  gst_message_parse_have_context(message, &context);
  Owned<GstContext> owned(context);
  if (!gst_context_has_context_type(context, "gst.cuda.context"))
    owned.reset();
  return owned;
}

void expect_upstream_event(GstHarness* harness, GstEventType type) {
  bool seen = false;
  while (Owned<GstEvent> event{gst_harness_try_pull_upstream_event(harness)})
    seen |= GST_EVENT_TYPE(event) == type;
  fail_unless(seen, "no %s event arrived upstream", gst_event_type_get_name(type));
}

Owned<GstCaps> caps_from(const std::string& text) {
  g_type_ensure(GST_TYPE_VIDEO_MULTIVIEW_FLAGSET);  // the caps parser must know the type's name
  Owned<GstCaps> caps(gst_caps_from_string(text.c_str()));
  fail_unless(caps != nullptr, "these caps cannot be parsed: %s", text.c_str());
  return caps;
}

Owned<GstCaps> current_caps(GstPad* pad) {
  Owned<GstCaps> caps(gst_pad_get_current_caps(pad));
  fail_unless(caps != nullptr, "%s has no caps", GST_PAD_NAME(pad));
  return caps;
}

Owned<GstPad> pad_of(GstElement* element, const char* name) {
  return Owned<GstPad>(gst_element_get_static_pad(element, name));
}

Owned<GstElement> element_in(GstElement* pipeline, const char* name) {
  return Owned<GstElement>(gst_bin_get_by_name(GST_BIN(pipeline), name));
}

void set_property(GstElement* element, const char* property, const std::string& value) {
  gst_util_set_object_arg(G_OBJECT(element), property, value.c_str());
}

std::string value_of(GstElement* element, const char* property) {
  GValue value = G_VALUE_INIT;
  g_object_get_property(G_OBJECT(element), property, &value);
  const Owned<gchar> text(gst_value_serialize(&value));
  g_value_unset(&value);
  return text.get();
}

Owned<GstElement> new_pipeline(const std::string& launch) {
  GError* problem = nullptr;
  Owned<GstElement> pipeline(gst_parse_launch(launch.c_str(), &problem));
  fail_unless(problem == nullptr, "%s: %s", launch.c_str(), problem ? problem->message : "");
  share_cuda_context(pipeline);
  return pipeline;
}

GstBuffer* at(GstClockTime pts, GstBuffer* buffer, GstClockTime duration) {
  GST_BUFFER_PTS(buffer) = pts;
  GST_BUFFER_DURATION(buffer) = duration;
  return buffer;
}

GstBuffer* stamped(GstBuffer* buffer) {
  GST_BUFFER_DTS(buffer) = 100 * GST_MSECOND;
  GST_BUFFER_OFFSET(buffer) = 7;
  GST_BUFFER_OFFSET_END(buffer) = 8;
  return at(123 * GST_MSECOND, buffer);
}

void expect_stamps(GstBuffer* buffer) {
  fail_unless_equals_uint64(GST_BUFFER_PTS(buffer), 123 * GST_MSECOND);
  fail_unless_equals_uint64(GST_BUFFER_DTS(buffer), 100 * GST_MSECOND);
  fail_unless_equals_uint64(GST_BUFFER_DURATION(buffer), 40 * GST_MSECOND);
  fail_unless_equals_uint64(GST_BUFFER_OFFSET(buffer), 7);
  fail_unless_equals_uint64(GST_BUFFER_OFFSET_END(buffer), 8);
}

GstBuffer* missing_frame() {
  GstBuffer* buffer = gst_buffer_new();
  GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_GAP);
  return buffer;
}

bool send_caps(GstPad* source_pad, const std::string& text) {
  const Owned<GstCaps> caps = caps_from(text);
  gst_pad_push_event(source_pad, gst_event_new_caps(caps));
  // Pushing a sticky event succeeds even if the peer refuses it, so look at the receiving pad.
  const Owned<GstPad> sink(gst_pad_get_peer(source_pad));
  const Owned<GstCaps> taken(gst_pad_get_current_caps(sink));
  const GstSegment segment = new_segment();
  gst_pad_push_event(source_pad, gst_event_new_segment(&segment));
  return taken != nullptr && gst_caps_is_equal(taken, caps);
}

void control(GstElement* element, const char* property, Curve curve,
             const std::vector<Point>& points) {
  const Owned<GstControlSource> source(gst_interpolation_control_source_new());
  g_object_set(source, "mode",
               curve == Curve::line ? GST_INTERPOLATION_MODE_LINEAR : GST_INTERPOLATION_MODE_NONE,
               nullptr);
  for (const Point& point : points)
    fail_unless(gst_timed_value_control_source_set(GST_TIMED_VALUE_CONTROL_SOURCE(source.get()),
                                                   point.time, point.value));
  fail_unless(gst_object_add_control_binding(
      GST_OBJECT(element),
      gst_direct_control_binding_new_absolute(GST_OBJECT(element), property, source.get())));
}

void expect_either(const std::function<void(unsigned number)>& change,
                   const std::function<Picture()>& process, const Picture& one,
                   const Picture& other) {
  std::atomic<bool> stop{false};
  std::thread changer([&] {
    for (unsigned i = 0; !stop; ++i)
      change(i);
  });
  std::string unexpected;
  for (int i = 0; i < 200 && unexpected.empty(); ++i) {
    const Picture out = process();
    if (!difference(out, one).empty())
      unexpected = difference(out, other);
  }
  stop = true;
  changer.join();
  fail_unless(unexpected.empty(), "the output is neither of the two: %s", unexpected.c_str());
}

namespace {

Owned<GstHarness> new_harness(const std::string& launch,
                              const std::function<void(GstElement* bin)>& prepare) {
  GError* problem = nullptr;
  const Owned<GstElement> bin(gst_parse_bin_from_description(launch.c_str(), TRUE, &problem));
  fail_unless(problem == nullptr, "%s: %s", launch.c_str(), problem ? problem->message : "");
  gst_object_ref_sink(bin);
  prepare(bin);
  return Owned<GstHarness>(gst_harness_new_with_element(bin, "sink", "src"));
}

}  // namespace

Owned<GstHarness> new_shared_harness(const std::string& launch) {
  return new_harness(launch, share_cuda_context);
}

Owned<GstHarness> new_harness_in_own_context(const std::string& launch, guint gpu) {
  return new_harness(launch, [=](GstElement* bin) {
    void* const library = dlopen("libgstcuda-1.0.so.0", RTLD_NOW);
    fail_unless(library != nullptr, "%s", dlerror());
    // Loads the driver, in case no element has loaded it yet.
    const auto load = reinterpret_cast<gboolean (*)()>(dlsym(library, "gst_cuda_load_library"));
    fail_unless(load(), "no CUDA driver");
    const auto new_context =
        reinterpret_cast<GstObject* (*)(guint)>(dlsym(library, "gst_cuda_context_new"));
    const auto wrap = reinterpret_cast<GstContext* (*)(GstObject*)>(
        dlsym(library, "gst_context_new_cuda_context"));
    const Owned<GstObject> context(new_context(gpu));
    fail_unless(context != nullptr, "no CUDA context");
    gst_element_set_context(bin, Owned<GstContext>(wrap(context)).get());
  });
}

Owned<GstElement> new_element(const char* factory) {
  Owned<GstElement> element(gst_element_factory_make(factory, nullptr));
  fail_unless(element != nullptr, "no element %s: is GST_PLUGIN_PATH set?", factory);
  gst_object_ref_sink(element);
  return element;
}

Owned<GstElement> make_element(const char* factory, const Properties& properties) {
  Owned<GstElement> element = new_element(factory);
  set_property(element, "backend", test_backend());
  if (g_object_class_find_property(G_OBJECT_GET_CLASS(element.get()), "frames-in-flight"))
    set_property(element, "frames-in-flight", "1");
  for (const Property& property : properties)
    set_property(element, property.first, property.second);
  share_cuda_context(element);
  return element;
}

Owned<GstElement> make_tested(const Properties& properties) {
  return make_element(tested().element, joined(tested().always, properties));
}

FilterHarness::FilterHarness(std::initializer_list<Property> properties)
    : FilterHarness(Properties(properties)) {}

FilterHarness::FilterHarness(const Properties& properties)
    : FilterHarness(make_tested(properties)) {}

FilterHarness::FilterHarness(const char* factory, const Properties& properties)
    : FilterHarness(make_element(factory, properties)) {}

FilterHarness::FilterHarness(Owned<GstElement> element)
    : element_(std::move(element)),
      messages_(element_),
      harness_(gst_harness_new_with_element(element_, "sink", "src")) {}

void FilterHarness::accept_caps(const FormatSpec& format, int width, int height,
                                const std::string& more) {
  const std::string caps = caps_of(format, width, height, more);
  fail_unless(send_caps(caps), "refused: %s: %s", caps.c_str(),
              messages_.text(GST_MESSAGE_ERROR).c_str());
}

Owned<GstBuffer> FilterHarness::process(GstBuffer* buffer) {
  const GstFlowReturn flow = push(buffer);
  fail_unless(flow == GST_FLOW_OK, "flow %s: %s", gst_flow_get_name(flow),
              messages_.text(GST_MESSAGE_ERROR).c_str());
  Owned<GstBuffer> out = pull();
  fail_unless(out != nullptr, "a frame went in and none came out");
  return out;
}

void FilterHarness::expect(GstBuffer* buffer, const Picture& expected, const std::string& what) {
  const Owned<GstBuffer> out = process(buffer);
  expect_picture(
      from_buffer(out, *expected.format, expected.width, expected.height, expected.interlaced),
      expected, what);
}

Owned<GstBuffer> FilterHarness::process_unchanged(const Picture& picture, const Layout& layout) {
  const Owned<GstBuffer> in(to_buffer(picture, layout));
  const std::vector<std::uint8_t> before = bytes_of(in);
  Owned<GstBuffer> out = process(gst_buffer_ref(in));
  fail_unless(bytes_of(in) == before, "the element wrote to its input");
  fail_unless(pull() == nullptr, "one frame went in and two came out");
  return out;
}

Picture FilterHarness::process(const Picture& picture, const Layout& layout) {
  const Owned<GstBuffer> out = process_unchanged(picture, layout);
  return from_buffer(out, *picture.format, picture.width, picture.height, picture.interlaced);
}

void FilterHarness::flush() {
  send_event(gst_event_new_flush_start());
  send_event(gst_event_new_flush_stop(TRUE));
}

void FilterHarness::restart(GstState low) {
  gst_element_set_state(element_, low);
  gst_element_set_state(element_, GST_STATE_PLAYING);
  gst_pad_push_event(source_pad(), gst_event_new_stream_start("again"));
}

void expect_picture(const Picture& got, const Picture& expected, const std::string& what) {
  const std::string where = difference(got, expected);
  fail_unless(where.empty(), "%s %dx%d, %s: %s", expected.format->name, expected.width,
              expected.height, what.c_str(), where.c_str());
}

void expect_gray_picture(FilterHarness& filter, const Picture& picture, const Picture& expected,
                         const std::string& what, const Layout& layout) {
  const Owned<GstBuffer> out = filter.process_unchanged(picture, layout);
  GstVideoInfo info;
  const Owned<GstCaps> caps = current_caps(filter.sink_pad());
  fail_unless(gst_video_info_from_caps(&info, caps) &&
                  std::strcmp(info.finfo->name, expected.format->name) == 0 &&
                  info.width == expected.width && info.height == expected.height,
              "%" GST_PTR_FORMAT " instead of %s %dx%d", caps.get(), expected.format->name,
              expected.width, expected.height);
  expect_picture(from_buffer(out, *expected.format, expected.width, expected.height), expected,
                 what);
}

std::string expect_failed_start(GstElement* element) {
  MessageLog messages(element);
  fail_unless_equals_int(gst_element_set_state(element, GST_STATE_PLAYING),
                         GST_STATE_CHANGE_FAILURE);
  fail_unless_equals_int(messages.count(GST_MESSAGE_ERROR), 1);
  gst_element_set_state(element, GST_STATE_NULL);
  return messages.text(GST_MESSAGE_ERROR);
}

void answer_queries(GstPad* pad, GstQueryType type, const std::function<void(GstQuery*)>& answer) {
  struct Probe {
    GstQueryType type;
    std::function<void(GstQuery*)> answer;
  };
  const auto on_query = +[](GstPad*, GstPadProbeInfo* info, gpointer data) {
    const auto* probe = static_cast<const Probe*>(data);
    GstQuery* query = GST_PAD_PROBE_INFO_QUERY(info);
    if (GST_QUERY_TYPE(query) != probe->type)
      return GST_PAD_PROBE_OK;
    probe->answer(query);
    return GST_PAD_PROBE_HANDLED;
  };
  const int direction =
      GST_PAD_IS_SRC(pad) ? GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM : GST_PAD_PROBE_TYPE_QUERY_UPSTREAM;
  gst_pad_add_probe(
      pad, static_cast<GstPadProbeType>(direction | GST_PAD_PROBE_TYPE_PUSH), on_query,
      new Probe{type, answer}, +[](gpointer data) { delete static_cast<Probe*>(data); });
}

void answer_queries(GstElement* element, GstQueryType type,
                    const std::function<void(GstQuery*)>& answer) {
  answer_queries(pad_of(element, "src").get(), type, answer);
}

Picture picture_at(GstPad* pad, const Owned<GstBuffer>& buffer) {
  const Owned<GstCaps> caps = current_caps(pad);
  GstVideoInfo info;
  fail_unless(gst_video_info_from_caps(&info, caps));
  return from_buffer(buffer, format_named(GST_VIDEO_INFO_NAME(&info)), info.width, info.height);
}

void answer_buffers(GstPad* pad, GstFlowReturn answer) {
  gst_pad_set_chain_function_full(
      pad,
      +[](GstPad* sink, GstObject*, GstBuffer* buffer) {
        gst_buffer_unref(buffer);
        return static_cast<GstFlowReturn>(GPOINTER_TO_INT(sink->chaindata));
      },
      GINT_TO_POINTER(answer), nullptr);
}

void on_buffers(GstPad* pad, std::function<void(GstBuffer*)> look) {
  using Look = std::function<void(GstBuffer*)>;
  gst_pad_add_probe(
      pad, GST_PAD_PROBE_TYPE_BUFFER,
      +[](GstPad*, GstPadProbeInfo* info, gpointer data) {
        (*static_cast<Look*>(data))(GST_PAD_PROBE_INFO_BUFFER(info));
        return GST_PAD_PROBE_OK;
      },
      new Look(std::move(look)), +[](gpointer data) { delete static_cast<Look*>(data); });
}

}  // namespace check
