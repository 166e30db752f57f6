// SPDX-License-Identifier: LGPL-2.1-or-later
// State changes of every element, in every order that GStreamer allows, and many times over.
#include "tests/check/common/filterharness.h"

using namespace check;

namespace {

// check_properties fails if the plug-in has others.
constexpr const char* factories[] = {"cudahistequalize", "cudagaussblur", "cudaintegral",
                                     "cudasgmstereo"};

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
        tested_launch() + " name=e ! fakesink sync=false";
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

// As GStreamer's own generic/states: each state, back and forth, with and without NULL between.
TEST(test_state_changes, .times(std::size(factories))) {
  GstElement* element = make_element(factories[index]);
  for (GstState state : {GST_STATE_READY, GST_STATE_NULL, GST_STATE_READY, GST_STATE_PAUSED,
                         GST_STATE_READY, GST_STATE_PAUSED, GST_STATE_PLAYING, GST_STATE_PAUSED,
                         GST_STATE_PLAYING, GST_STATE_PAUSED, GST_STATE_READY, GST_STATE_NULL,
                         GST_STATE_PLAYING, GST_STATE_NULL, GST_STATE_PAUSED, GST_STATE_NULL})
    to_state(element, state);
  gst_object_unref(element);
  // Made and thrown away, never started.
  gst_object_unref(make_element(factories[index]));
}

// Every property can be read and set in every state.
TEST(test_properties_in_all_states, .times(std::size(factories))) {
  GstElement* element = make_element(factories[index]);
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

// A pipeline is shut down and freed right after its start.
TEST(test_dispose_in_a_running_pipeline, .for_each_element()) {
  for (int i = 0; i < 20; ++i) {
    ShortPipeline pipeline;
    gst_element_set_state(pipeline.get(), i % 2 == 0 ? GST_STATE_PLAYING : GST_STATE_PAUSED);
    if (i % 3 == 0)
      gst_element_get_state(pipeline.get(), nullptr, nullptr, 10 * GST_SECOND);
    gst_element_set_state(pipeline.get(), GST_STATE_NULL);
  }
}

TEST(test_pixels_after_restart, .for_each_element()) {
  const FormatSpec& format = format_named("P010_10LE");
  FilterHarness filter(tested().everything);
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

// The backend may change between two runs.
TEST(test_backend_changed_between_runs, .for_each_element()) {
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

TEST(test_active_backend, .times(std::size(factories))) {
  GstElement* element = make_element(factories[index]);
  std::vector<std::string> seen;
  const auto on_notify = +[](GstElement* self, GParamSpec*, gpointer list) {
    static_cast<std::vector<std::string>*>(list)->push_back(active_backend(self));
  };
  g_signal_connect(element, "notify::active-backend", G_CALLBACK(on_notify), &seen);
  for (int cycle = 0; cycle < 3; ++cycle) {
    seen.clear();
    fail_unless(active_backend(element) == "none");
    to_state(element, GST_STATE_READY);
    to_state(element, GST_STATE_PLAYING);
    fail_unless(active_backend(element) == test_backend());
    to_state(element, GST_STATE_NULL);
    fail_unless(active_backend(element) == "none");
    fail_unless((seen == std::vector<std::string>{test_backend(), "none"}), "notified %d times",
                static_cast<int>(seen.size()));
  }
  gst_object_unref(element);
}

// With backend=cuda and no GPU nothing starts, and one sentence names the remedy, which works on
// the same element.
TEST(test_cuda_without_gpu, .times(std::size(factories)).unless(unless_without_gpu())) {
  GstElement* element = make_element(factories[index], {{"backend", "cuda"}});
  gst_object_ref_sink(element);
  MessageLog messages;
  gst_element_set_bus(element, messages.bus());
  fail_unless_equals_int(gst_element_set_state(element, GST_STATE_READY), GST_STATE_CHANGE_FAILURE);
  const std::string text = messages.text(GST_MESSAGE_ERROR);
  fail_unless(text.find("backend=cpu") != std::string::npos ||
                  text.find("backend=auto") != std::string::npos,
              "names no remedy: %s", text.c_str());
  const std::vector<GstMessage*> errors = messages.take(GST_MESSAGE_ERROR);
  fail_unless_equals_int(errors.size(), 1);
  GError* error = nullptr;
  gst_message_parse_error(errors[0], &error, nullptr);
  fail_unless(g_error_matches(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND), "%s",
              error->message);
  g_error_free(error);
  gst_message_unref(errors[0]);
  for (const auto& [backend, warnings] : {std::pair{"cpu", 0}, std::pair{"auto", 1}}) {
    gst_util_set_object_arg(G_OBJECT(element), "backend", backend);
    to_state(element, GST_STATE_READY);
    fail_unless(active_backend(element) == "cpu");
    fail_unless_equals_int(messages.count(GST_MESSAGE_WARNING), warnings);
    to_state(element, GST_STATE_NULL);
  }
  gst_element_set_bus(element, nullptr);
  gst_object_unref(element);
}

// All elements of a pipeline fall back to the CPU for the same reason, so one warns for all of
// them, at each start.
TEST(test_one_warning_for_a_pipeline, .unless(unless_without_gpu())) {
  MessageLog messages;
  GstElement* pipeline = gst_parse_launch(
      "cudahistequalize ! cudagaussblur name=second ! cudaintegral output=mean ! cudasgmstereo",
      nullptr);
  gst_element_set_bus(pipeline, messages.bus());
  for (int start = 0; start < 2; ++start) {
    to_state(pipeline, GST_STATE_READY);
    fail_unless_equals_int(messages.count(GST_MESSAGE_WARNING), 1);
    // An element that starts again while the others go on is no news either.
    GstElement* second = gst_bin_get_by_name(GST_BIN(pipeline), "second");
    to_state(second, GST_STATE_NULL);
    to_state(second, GST_STATE_READY);
    fail_unless(active_backend(second) == "cpu");
    gst_object_unref(second);
    fail_unless_equals_int(messages.count(GST_MESSAGE_WARNING), 1);
    to_state(pipeline, GST_STATE_NULL);
    messages.clear();
  }
  gst_element_set_bus(pipeline, nullptr);
  gst_object_unref(pipeline);
}

TEST(test_no_such_gpu,
     .times(std::size(factories)).unless(unless_testing_cuda()).unless(unless_with_gpu())) {
  GstElement* element =
      make_element(factories[index], {{"backend", "cuda"}, {"cuda-device-id", "4095"}});
  gst_object_ref_sink(element);
  MessageLog messages;
  gst_element_set_bus(element, messages.bus());
  fail_unless_equals_int(gst_element_set_state(element, GST_STATE_READY), GST_STATE_CHANGE_FAILURE);
  fail_unless_equals_int(messages.count(GST_MESSAGE_ERROR), 1);
  gst_element_set_state(element, GST_STATE_NULL);
  gst_element_set_bus(element, nullptr);
  gst_object_unref(element);
}

// Runs pipelines of their own, whose elements make a CUDA context each where there is a GPU, and
// one pipeline again and again in a context that the application provides. The first of each kind
// warm up. A full run has 1000 cycles.
TEST(test_cycles, .for_each_element().unless(unless_sanitized())) {
  const int pipelines = full_run() ? 50 : 20, warm_up = full_run() ? 100 : 30;
  const int cycles = full_run() ? 950 : 130;
  return_freed_memory();
  GstContext* shared = nullptr;
  std::size_t process_before = 0;
  long long gpu_before = 0;
  for (int cycle = 0; cycle < pipelines; ++cycle) {
    if (cycle == 10) {
      gpu_before = gpu_bytes();  // first, since the query itself allocates
      process_before = resident_bytes();
    }
    ShortPipeline pipeline(tested().everything);
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
              "%d pipelines left %lld bytes", pipelines - 10, grown_by(process_before));
  fail_unless(gpu_bytes() - gpu_before < 32 * mebibyte, "%d contexts left %lld bytes on the GPU",
              pipelines - 10, gpu_bytes() - gpu_before);

  ShortPipeline pipeline(tested().everything);
  for (int cycle = 0; cycle < cycles; ++cycle) {
    if (cycle == warm_up) {
      gpu_before = gpu_bytes();  // first, since the query itself allocates
      process_before = resident_bytes();
    }
    if (shared != nullptr)
      gst_element_set_context(pipeline.get(), shared);
    GstContext* own = pipeline.run();
    fail_unless(own == nullptr, "a context of its own although one was provided");
  }
  fail_unless(grown_by(process_before) < 4 * mebibyte, "%d cycles left %lld bytes",
              cycles - warm_up, grown_by(process_before));
  fail_unless(gpu_bytes() - gpu_before < 4 * mebibyte, "%d cycles left %lld bytes on the GPU",
              cycles - warm_up, gpu_bytes() - gpu_before);
  if (shared != nullptr)
    gst_context_unref(shared);
}
