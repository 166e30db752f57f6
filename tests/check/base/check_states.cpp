// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests state changes of every element, in many orders and in many cycles.
#include <optional>

#include "tests/check/common/faults/memoryuse.h"
#include "tests/check/common/filterharness.h"

using namespace check;

namespace {

const char* factory(int number) {
  return element_specs()[number].element;
}

void to_state(GstElement* element, GstState state) {
  const GstStateChangeReturn change = gst_element_set_state(element, state);
  fail_unless(change == GST_STATE_CHANGE_SUCCESS || change == GST_STATE_CHANGE_ASYNC,
              "%s does not reach %s", GST_OBJECT_NAME(element), gst_element_state_get_name(state));
}

std::string short_launch(const Properties& properties = {}) {
  return "videotestsrc num-buffers=2 ! video/x-raw,format=NV12,width=64,height=48 ! " +
         tested_launch() + "name=e backend=" + test_backend() + " " + text_of(properties) +
         "! fakesink sync=false";
}

class ShortPipeline {
 public:
  explicit ShortPipeline(const std::string& launch) {
    // new_pipeline() would share a CUDA context.
    GError* problem = nullptr;
    pipeline_.reset(gst_parse_launch(launch.c_str(), &problem));
    fail_unless(problem == nullptr, "%s", problem ? problem->message : "");
  }

  GstElement* get() const { return pipeline_; }

  Owned<GstContext> run() {
    Owned<GstContext> context;
    const Owned<GstBus> bus(gst_element_get_bus(pipeline_));
    gst_element_set_state(pipeline_, GST_STATE_PLAYING);
    bool ended = false;
    while (!ended) {
      const Owned<GstMessage> message(gst_bus_timed_pop_filtered(
          bus, watchdog,
          static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR |
                                      GST_MESSAGE_HAVE_CONTEXT)));
      fail_unless(message != nullptr, "the pipeline hangs");
      if (context == nullptr && GST_MESSAGE_TYPE(message) == GST_MESSAGE_HAVE_CONTEXT)
        context = context_in(message);
      fail_unless(GST_MESSAGE_TYPE(message) != GST_MESSAGE_ERROR, "the pipeline fails");
      ended = GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS;
    }
    gst_element_set_state(pipeline_, GST_STATE_NULL);
    return context;
  }

 private:
  Owned<GstElement> pipeline_;
};

constexpr long long mebibyte = 1 << 20;

/// Expects that restarts leak no memory. The first cycles warm up.
void expect_flat_cycles(ShortPipeline& pipeline, GstContext* context) {
  const auto run = [&](int cycles) {
    for (int cycle = 0; cycle < cycles; ++cycle) {
      if (context != nullptr)
        gst_element_set_context(pipeline.get(), context);
      fail_unless(pipeline.run() == nullptr,
                  "the element made a context although one was provided");
    }
  };
  run(full_run() ? 100 : 30);
  const int cycles = full_run() ? 950 : 100;
  const long long bytes_per_cycle = 2000;
  expect_no_leak([&] { run(cycles); }, testing_cuda() ? 4 * mebibyte : cycles * bytes_per_cycle,
                 4 * mebibyte, std::to_string(cycles) + " cycles");
}

}  // namespace

// Changes states step by step and in jumps, like GStreamer's own test generic/states.
TEST(test_state_changes, .times(element_specs().size())) {
  const Owned<GstElement> element = make_element(factory(index));
  for (GstState state : {GST_STATE_READY, GST_STATE_NULL, GST_STATE_READY, GST_STATE_PAUSED,
                         GST_STATE_READY, GST_STATE_PAUSED, GST_STATE_PLAYING, GST_STATE_PAUSED,
                         GST_STATE_PLAYING, GST_STATE_PAUSED, GST_STATE_READY, GST_STATE_NULL,
                         GST_STATE_PLAYING, GST_STATE_NULL, GST_STATE_PAUSED, GST_STATE_NULL})
    to_state(element, state);
  make_element(factory(index));
}

TEST(test_properties_in_all_states, .times(element_specs().size())) {
  const Owned<GstElement> element = make_element(factory(index));
  for (GstState state :
       {GST_STATE_NULL, GST_STATE_READY, GST_STATE_PAUSED, GST_STATE_PLAYING, GST_STATE_NULL}) {
    to_state(element, state);
    guint count = 0;
    GParamSpec** specs = g_object_class_list_properties(G_OBJECT_GET_CLASS(element.get()), &count);
    for (guint i = 0; i < count; ++i) {
      if ((specs[i]->flags & G_PARAM_READABLE) == 0 || specs[i]->owner_type == GST_TYPE_OBJECT)
        continue;
      GValue value = G_VALUE_INIT;
      g_value_init(&value, specs[i]->value_type);
      g_object_get_property(G_OBJECT(element.get()), specs[i]->name, &value);
      if ((specs[i]->flags & G_PARAM_WRITABLE) != 0)
        g_object_set_property(G_OBJECT(element.get()), specs[i]->name, &value);
      g_value_unset(&value);
    }
    g_free(specs);
  }
}

TEST(test_dispose_in_a_running_pipeline, .for_each_element()) {
  for (int i = 0; i < 20; ++i) {
    ShortPipeline pipeline(short_launch());
    gst_element_set_state(pipeline.get(), i % 2 == 0 ? GST_STATE_PLAYING : GST_STATE_PAUSED);
    if (i % 3 == 0)
      gst_element_get_state(pipeline.get(), nullptr, nullptr, watchdog);
    gst_element_set_state(pipeline.get(), GST_STATE_NULL);
  }
}

TEST(test_backend_changed_between_runs, .for_each_element()) {
  ShortPipeline pipeline(short_launch());
  const Owned<GstElement> element = element_in(pipeline.get(), "e");
  for (const char* backend : {"cpu", test_backend() == "cuda" ? "cuda" : "cpu", "auto", "cpu"}) {
    set_property(element, "backend", backend);
    pipeline.run();
  }
}

TEST(test_active_backend, .times(element_specs().size())) {
  const Owned<GstElement> element = make_element(factory(index));
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
}

// With backend=cuda and no GPU, the error names a remedy. backend=cpu and backend=auto both work.
TEST(test_cuda_without_gpu, .times(element_specs().size()).unless(unless_without_gpu())) {
  const Owned<GstElement> element = make_element(factory(index), {{"backend", "cuda"}});
  MessageLog messages(element);
  fail_unless_equals_int(gst_element_set_state(element, GST_STATE_READY), GST_STATE_CHANGE_FAILURE);
  const std::string text = messages.text(GST_MESSAGE_ERROR);
  fail_unless(text.find("backend=cpu") != std::string::npos ||
                  text.find("backend=auto") != std::string::npos,
              "the error names no remedy: %s", text.c_str());
  const std::vector<Owned<GstMessage>> errors = messages.take(GST_MESSAGE_ERROR);
  fail_unless_equals_int(errors.size(), 1);
  GError* error = nullptr;
  gst_message_parse_error(errors[0], &error, nullptr);
  fail_unless(g_error_matches(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND), "%s",
              error->message);
  g_error_free(error);
  for (const auto& [backend, warnings] : {std::pair{"cpu", 0}, std::pair{"auto", 1}}) {
    set_property(element, "backend", backend);
    to_state(element, GST_STATE_READY);
    fail_unless(active_backend(element) == "cpu");
    fail_unless_equals_int(messages.count(GST_MESSAGE_WARNING), warnings);
    to_state(element, GST_STATE_NULL);
  }
}

// All elements fall back to the CPU for the same reason, so there is one warning per start.
TEST(test_one_warning_for_a_pipeline, .unless(unless_without_gpu())) {
  const Owned<GstElement> pipeline = new_pipeline(
      "cudahistequalize ! cudagaussblur name=second ! cudaintegral output=mean ! cudasgmstereo");
  const Owned<GstElement> second = element_in(pipeline, "second");
  MessageLog messages(pipeline);
  for (int start = 0; start < 2; ++start) {
    to_state(pipeline, GST_STATE_READY);
    fail_unless_equals_int(messages.count(GST_MESSAGE_WARNING), 1);
    // An element that restarts alone does not warn again.
    to_state(second, GST_STATE_NULL);
    to_state(second, GST_STATE_READY);
    fail_unless(active_backend(second) == "cpu");
    fail_unless_equals_int(messages.count(GST_MESSAGE_WARNING), 1);
    to_state(pipeline, GST_STATE_NULL);
    messages.clear();
  }
}

TEST(test_no_such_gpu,
     .times(element_specs().size()).unless(unless_testing_cuda()).unless(unless_with_gpu())) {
  expect_failed_start(
      make_element(factory(index), {{"backend", "cuda"}, {"cuda-device-id", "4095"}}).get());
}

// Memory must not leak if each pipeline has its own CUDA context, nor if all share one.
TEST(test_cycles, .for_each_element().unless(unless_sanitized())) {
  const int pipelines = full_run() ? 50 : 20;
  return_freed_memory();
  Owned<GstContext> shared;
  std::optional<MemoryUse> before;
  for (int cycle = 0; cycle < pipelines; ++cycle) {
    if (cycle == 10)
      before.emplace();
    ShortPipeline pipeline(short_launch(tested().everything));
    Owned<GstContext> context = pipeline.run();
    fail_unless((context != nullptr) == testing_cuda());
    if (cycle == 0)
      shared = std::move(context);
  }
  // The driver keeps some host memory of each context for later contexts.
  before->expect_grown_less((testing_cuda() ? 48 : 4) * mebibyte, 32 * mebibyte,
                            std::to_string(pipelines - 10) + " pipelines");

  ShortPipeline pipeline(short_launch(tested().everything));
  expect_flat_cycles(pipeline, shared);
}

TEST(test_stereo_cycles, .unless(unless_sanitized())) {
  return_freed_memory();
  ShortPipeline pipeline(
      "cudasgmstereo name=s num-disparities=32 diagnostics-interval=0 backend=" + test_backend() +
      " ! fakesink sync=false videotestsrc num-buffers=2 ! tee name=t ! queue ! "
      "video/x-raw,format=GRAY8,width=64,height=48 ! s.sink_left t. ! queue ! s.sink_right");
  const Owned<GstContext> context = pipeline.run();
  expect_flat_cycles(pipeline, context);
}
