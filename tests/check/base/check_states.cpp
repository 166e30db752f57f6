// SPDX-License-Identifier: LGPL-2.1-or-later
// State changes of every element of the plug-in, in every order that GStreamer allows, and again
// and again.
#include "tests/check/common/filterharness.h"
#include "tests/check/common/propertyfacts.h"

using namespace check;

namespace {

std::vector<std::string> element_names() {
  std::vector<std::string> names;
  GList* features = gst_registry_get_feature_list_by_plugin(gst_registry_get(), "cudavision");
  for (GList* l = features; l != nullptr; l = l->next)
    if (GST_IS_ELEMENT_FACTORY(l->data))
      names.push_back(gst_plugin_feature_get_name(GST_PLUGIN_FEATURE(l->data)));
  gst_plugin_feature_list_free(features);
  return names;
}

void to_state(GstElement* element, GstState state) {
  const GstStateChangeReturn change = gst_element_set_state(element, state);
  fail_unless(change == GST_STATE_CHANGE_SUCCESS || change == GST_STATE_CHANGE_ASYNC,
              "%s does not reach %s", GST_OBJECT_NAME(element), gst_element_state_get_name(state));
}

/// A short pipeline that ends by itself, run from NULL to EOS and back.
class ShortPipeline {
 public:
  explicit ShortPipeline(const Properties& properties = {}) {
    GError* problem = nullptr;
    const std::string launch =
        "videotestsrc num-buffers=2 ! video/x-raw,format=NV12,width=64,height=48 ! " +
        subject_in_words() + " name=e ! fakesink sync=false";
    pipeline_ = gst_parse_launch(launch.c_str(), &problem);
    fail_unless(problem == nullptr, "%s", problem ? problem->message : "");
    GstElement* element = gst_bin_get_by_name(GST_BIN(pipeline_), "e");
    gst_util_set_object_arg(G_OBJECT(element), "backend", test_backend().c_str());
    for (const Property& property : properties)
      gst_util_set_object_arg(G_OBJECT(element), property.first, property.second.c_str());
    gst_object_unref(element);
  }
  ~ShortPipeline() { gst_object_unref(pipeline_); }
  ShortPipeline(const ShortPipeline&) = delete;
  ShortPipeline& operator=(const ShortPipeline&) = delete;

  GstElement* get() const { return pipeline_; }

  /// Returns the CUDA context that the element announced, nullptr where there was none.
  GstContext* run() {
    GstContext* context = nullptr;
    GstBus* bus = gst_element_get_bus(pipeline_);
    gst_element_set_state(pipeline_, GST_STATE_PLAYING);
    bool ended = false;
    while (!ended) {
      GstMessage* message = gst_bus_timed_pop_filtered(
          bus, 20 * GST_SECOND,
          static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR |
                                      GST_MESSAGE_HAVE_CONTEXT));
      fail_unless(message != nullptr, "the pipeline hangs");
      if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_HAVE_CONTEXT) {
        GstContext* found = nullptr;
        gst_message_parse_have_context(message, &found);
        if (context == nullptr && gst_context_has_context_type(found, "gst.cuda.context"))
          context = gst_context_ref(found);
        gst_context_unref(found);
      }
      fail_unless(GST_MESSAGE_TYPE(message) != GST_MESSAGE_ERROR, "the pipeline fails");
      ended = GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS;
      gst_message_unref(message);
    }
    gst_element_set_state(pipeline_, GST_STATE_NULL);
    gst_object_unref(bus);
    return context;
  }

 private:
  GstElement* pipeline_;
};

constexpr long long mebibyte = 1 << 20;

}  // namespace

GST_START_TEST(test_all_elements) {
  const std::vector<std::string> names = element_names();
  fail_unless(!names.empty(), "the plug-in has no elements: is GST_PLUGIN_PATH set?");
  for (const std::string& name : names) {
    const auto make = [&] { return make_element(name.c_str()); };

    // As GStreamer's own generic/states: each state, back and forth, with and without NULL between.
    GstElement* element = make();
    for (GstState state : {GST_STATE_READY, GST_STATE_NULL, GST_STATE_READY, GST_STATE_PAUSED,
                           GST_STATE_READY, GST_STATE_PAUSED, GST_STATE_PLAYING, GST_STATE_PAUSED,
                           GST_STATE_PLAYING, GST_STATE_PAUSED, GST_STATE_READY, GST_STATE_NULL,
                           GST_STATE_PLAYING, GST_STATE_NULL, GST_STATE_PAUSED, GST_STATE_NULL})
      to_state(element, state);
    gst_object_unref(element);

    // Made and thrown away, never started.
    gst_object_unref(make());

    // Set and read every property in every state.
    element = make();
    for (GstState state :
         {GST_STATE_NULL, GST_STATE_READY, GST_STATE_PAUSED, GST_STATE_PLAYING, GST_STATE_NULL}) {
      to_state(element, state);
      guint count = 0;
      GParamSpec** specs = g_object_class_list_properties(G_OBJECT_GET_CLASS(element), &count);
      for (guint i = 0; i < count; ++i) {
        if ((specs[i]->flags & G_PARAM_READABLE) == 0 || specs[i]->owner_type == GST_TYPE_OBJECT)
          continue;
        GValue value = G_VALUE_INIT;
        g_value_init(&value, specs[i]->value_type);
        g_object_get_property(G_OBJECT(element), specs[i]->name, &value);
        if ((specs[i]->flags & G_PARAM_WRITABLE) != 0)
          g_object_set_property(G_OBJECT(element), specs[i]->name, &value);
        g_value_unset(&value);
      }
      g_free(specs);
    }
    gst_object_unref(element);
  }
}
GST_END_TEST

// The last reference goes while the element is still in a higher state of a bin that is shut down.
GST_START_TEST(test_dispose_in_a_running_pipeline) {
  for (int i = 0; i < 20; ++i) {
    ShortPipeline pipeline;
    gst_element_set_state(pipeline.get(), i % 2 == 0 ? GST_STATE_PLAYING : GST_STATE_PAUSED);
    if (i % 3 == 0)
      gst_element_get_state(pipeline.get(), nullptr, nullptr, 10 * GST_SECOND);
    gst_element_set_state(pipeline.get(), GST_STATE_NULL);
  }
}
GST_END_TEST

GST_START_TEST(test_pixels_after_restart) {
  const FormatSpec& format = format_named("P010_10LE");
  FilterHarness filter(subject().everything);
  const Picture picture = make_picture(format, 44, 27, Content::natural, 2);
  for (GstState low : {GST_STATE_PAUSED, GST_STATE_READY, GST_STATE_NULL, GST_STATE_READY}) {
    gst_pad_push_event(filter.source_pad(), gst_event_new_stream_start("again"));
    filter.accept_caps(format, 44, 27, colorimetry(format, false));
    expect_picture(filter.process(picture), result(picture),
                   std::string("before ") + gst_element_state_get_name(low));
    to_state(filter.element(), low);
    to_state(filter.element(), GST_STATE_PLAYING);
  }
}
GST_END_TEST

// The backend may be another one each time.
GST_START_TEST(test_backend_changed_between_runs) {
  ShortPipeline pipeline;
  GstElement* element = gst_bin_get_by_name(GST_BIN(pipeline.get()), "e");
  for (const char* backend : {"cpu", test_backend() == "cuda" ? "cuda" : "cpu", "auto", "cpu"}) {
    gst_util_set_object_arg(G_OBJECT(element), "backend", backend);
    GstContext* context = pipeline.run();
    if (context != nullptr)
      gst_context_unref(context);
  }
  gst_object_unref(element);
}
GST_END_TEST

GST_START_TEST(test_device_properties) {
  GstElement* element = gst_element_factory_make(subject().element, nullptr);
  expect_enum_default(element, "backend", "auto");
  expect_enum_nicks(element, "backend", {"auto", "cuda", "cpu"});
  expect_enum_nicks(element, "active-backend", {"none", "cpu", "cuda"});
  fail_unless(enum_nick(element, "active-backend") == "none");
  fail_unless_equals_int(property_of(element, "active-backend")->flags & G_PARAM_READWRITE,
                         G_PARAM_READABLE);
  gint device = 0;
  g_object_get(element, "cuda-device-id", &device, nullptr);
  fail_unless_equals_int(device, -1);
  fail_unless_equals_int(G_PARAM_SPEC_INT(property_of(element, "cuda-device-id"))->minimum, -1);
  for (const char* name : {"backend", "cuda-device-id"})
    expect_changeable_when_ready(element, name);
  expect_read_back(element, "backend", "cpu");
  expect_read_back(element, "cuda-device-id", "3");
  gst_object_unref(element);
}
GST_END_TEST

GST_START_TEST(test_active_backend) {
  GstElement* element = make_subject();
  std::vector<std::string> seen;
  const auto on_notify = +[](GstElement* self, GParamSpec*, gpointer list) {
    static_cast<std::vector<std::string>*>(list)->push_back(enum_nick(self, "active-backend"));
  };
  g_signal_connect(element, "notify::active-backend", G_CALLBACK(on_notify), &seen);
  for (int cycle = 0; cycle < 3; ++cycle) {
    seen.clear();
    fail_unless(enum_nick(element, "active-backend") == "none");
    fail_unless_equals_int(gst_element_set_state(element, GST_STATE_READY),
                           GST_STATE_CHANGE_SUCCESS);
    fail_unless_equals_int(gst_element_set_state(element, GST_STATE_PLAYING),
                           GST_STATE_CHANGE_SUCCESS);
    fail_unless(enum_nick(element, "active-backend") == test_backend());
    fail_unless_equals_int(gst_element_set_state(element, GST_STATE_NULL),
                           GST_STATE_CHANGE_SUCCESS);
    fail_unless(enum_nick(element, "active-backend") == "none");
    fail_unless((seen == std::vector<std::string>{test_backend(), "none"}), "notified %d times",
                static_cast<int>(seen.size()));
  }
  gst_object_unref(element);
}
GST_END_TEST

// 1000 runs: 50 pipelines of their own, whose elements make a CUDA context each where there is a
// GPU, and 950 in the context that the application provides. The first of each kind warm up.
GST_START_TEST(test_thousand_cycles) {
  return_freed_memory();
  GstContext* shared = nullptr;
  std::size_t process_before = 0;
  long long card_before = 0;
  for (int cycle = 0; cycle < 50; ++cycle) {
    if (cycle == 10) {
      card_before = card_bytes();  // first: asking the driver's library takes memory of its own
      process_before = resident_bytes();
    }
    ShortPipeline pipeline(subject().everything);
    GstContext* context = pipeline.run();
    fail_unless((context != nullptr) == testing_cuda());
    if (cycle == 0)
      shared = context;
    else if (context != nullptr)
      gst_context_unref(context);
  }
  const auto grown_by = [](std::size_t before) {
    return static_cast<long long>(resident_bytes()) - static_cast<long long>(before);
  };
  // The driver keeps some of each context's host memory for the next one.
  fail_unless(grown_by(process_before) < (testing_cuda() ? 48 : 4) * mebibyte,
              "40 pipelines left %lld bytes", grown_by(process_before));
  fail_unless(card_bytes() - card_before < 32 * mebibyte, "40 contexts left %lld bytes on the card",
              card_bytes() - card_before);

  ShortPipeline pipeline(subject().everything);
  for (int cycle = 0; cycle < 950; ++cycle) {
    if (cycle == 100) {
      card_before = card_bytes();  // first: asking the driver's library takes memory of its own
      process_before = resident_bytes();
    }
    if (shared != nullptr)
      gst_element_set_context(pipeline.get(), shared);
    GstContext* own = pipeline.run();
    fail_unless(own == nullptr, "a context of its own although one was provided");
  }
  fail_unless(grown_by(process_before) < 4 * mebibyte, "850 cycles left %lld bytes",
              grown_by(process_before));
  fail_unless(card_bytes() - card_before < 4 * mebibyte, "850 cycles left %lld bytes on the card",
              card_bytes() - card_before);
  if (shared != nullptr)
    gst_context_unref(shared);
}
GST_END_TEST

static Suite* check_states_suite() {
  Suite* suite = suite_create("states");
  TCase* all = tcase_create("all elements");
  suite_add_tcase(suite, all);
  tcase_add_test(all, test_all_elements);
  for_each_subject(suite, "states", [&](TCase* tc) {
    tcase_set_timeout(tc, 300);
    tcase_add_test(tc, test_dispose_in_a_running_pipeline);
    tcase_add_test(tc, test_pixels_after_restart);
    tcase_add_test(tc, test_backend_changed_between_runs);
    tcase_add_test(tc, test_device_properties);
    tcase_add_test(tc, test_active_backend);
    ADD_TEST_UNLESS(tc, test_thousand_cycles, unless_sanitized());
  });
  return suite;
}

GST_CHECK_MAIN(check_states)
