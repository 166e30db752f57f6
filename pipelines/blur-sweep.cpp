// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Plays a pipeline like gst-launch-1.0, with a controller that repeatedly sweeps the sigma of each
// cudagaussblur from 0 to LARGEST and back. Any property that gst-inspect-1.0 lists as
// controllable can be driven this way.
//
//   blur-sweep [--sigma LARGEST] [--period SECONDS] ELEMENT ! ELEMENT ...
//
// Build it with Meson together with the plug-in, or anywhere with
//   g++ -std=c++17 blur-sweep.cpp -o blur-sweep $(pkg-config --cflags --libs
//   gstreamer-controller-1.0)

#include <gst/controller/controller.h>
#include <gst/gst.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>

namespace {

constexpr const char* usage =
    "usage: blur-sweep [--sigma LARGEST] [--period SECONDS] ELEMENT ! ELEMENT ...\n"
    "\n"
    "  --sigma    the largest sigma, above 0 and at most 127 pixels (default: 15)\n"
    "  --period   the time in which sigma goes from 0 up and back, in seconds (default: 8)\n"
    "  ELEMENT    a pipeline as for gst-launch-1.0 that contains cudagaussblur\n";

template <class T, void (*release)(T*)>
struct Releaser {
  void operator()(T* object) const { release(object); }
};
using Element = std::unique_ptr<GstElement, Releaser<void, gst_object_unref>>;
using Bus = std::unique_ptr<GstBus, Releaser<void, gst_object_unref>>;
using ControlSource = std::unique_ptr<GstControlSource, Releaser<void, gst_object_unref>>;
using Message = std::unique_ptr<GstMessage, Releaser<GstMessage, gst_message_unref>>;
using Iterator = std::unique_ptr<GstIterator, Releaser<GstIterator, gst_iterator_free>>;

struct Options {
  double sigma = 15, period = 8;
  const char** pipeline = nullptr;  ///< ends with a null pointer
};

double number(const std::string& option, const char* text, int maximum) {
  char* end = nullptr;
  const double value = g_ascii_strtod(text, &end);
  if (end == text || *end != '\0' || !(value > 0 && value <= maximum))
    throw std::invalid_argument(option + " needs a number above 0 and up to " +
                                std::to_string(maximum) + ", not \"" + text + "\"\n" + usage);
  return value;
}

Options parse(int argc, char** argv) {
  Options options;
  int i = 1;
  if (argc > 1 && (std::strcmp(argv[1], "--help") == 0 || std::strcmp(argv[1], "-h") == 0)) {
    std::fputs(usage, stdout);
    std::exit(0);
  }
  for (; i < argc && argv[i][0] == '-'; i += 2) {
    const std::string option = argv[i];
    if (option != "--sigma" && option != "--period")
      throw std::invalid_argument("unknown option \"" + option + "\"\n" + usage);
    if (i + 1 == argc)
      throw std::invalid_argument(option + " needs a value\n" + usage);
    if (option == "--sigma")
      options.sigma = number(option, argv[i + 1], 127);
    else
      options.period = number(option, argv[i + 1], 86400);
  }
  if (i == argc)
    throw std::invalid_argument(std::string("the pipeline is missing\n") + usage);
  options.pipeline = const_cast<const char**>(argv + i);
  return options;
}

Element build(const Options& options) {
  GError* error = nullptr;
  Element pipeline{
      gst_parse_launchv_full(options.pipeline, nullptr, GST_PARSE_FLAG_FATAL_ERRORS, &error)};
  if (error) {
    const std::string text = error->message;
    g_error_free(error);
    throw std::runtime_error(text);
  }
  if (!GST_IS_PIPELINE(pipeline.get()))
    throw std::invalid_argument(std::string("a single element is not a pipeline\n") + usage);
  return pipeline;
}

/// Returns a control source that follows a sine between 0 and the largest sigma.
ControlSource make_sweep(const Options& options) {
  // The binding maps 0 … 1 to the whole range of sigma, −127 … 127.
  const double swing = options.sigma / 254 / 2;
  ControlSource sweep{gst_lfo_control_source_new()};
  g_object_set(sweep.get(), "waveform", GST_LFO_WAVEFORM_SINE, "frequency", 1 / options.period,
               "amplitude", swing, "offset", 0.5 + swing,
               // Starts at the minimum of the sine, a quarter of a period before its mean.
               "timeshift", static_cast<guint64>(options.period * GST_SECOND / 4), nullptr);
  return sweep;
}

/// Attaches the control source to the sigma of each cudagaussblur.
void attach(GstElement* pipeline, GstControlSource* sweep) {
  const Iterator blurs{
      gst_bin_iterate_all_by_element_factory_name(GST_BIN(pipeline), "cudagaussblur")};
  GValue item = G_VALUE_INIT;
  int found = 0;
  for (; gst_iterator_next(blurs.get(), &item) == GST_ITERATOR_OK; ++found) {
    auto* blur = GST_OBJECT(g_value_get_object(&item));
    gst_object_add_control_binding(blur, gst_direct_control_binding_new(blur, "sigma", sweep));
    g_value_reset(&item);
  }
  if (item.g_type != 0)
    g_value_unset(&item);
  if (found == 0)
    throw std::runtime_error("the pipeline has no cudagaussblur to sweep: add this element");
}

volatile std::sig_atomic_t interrupted = 0;

/// Prints the position of the pipeline over the previous position, as gst-launch-1.0 does.
void print_progress(GstElement* pipeline) {
  gint64 position = 0, duration = 0;
  if (!gst_element_query_position(pipeline, GST_FORMAT_TIME, &position))
    return;
  std::printf("\r%.1f s", static_cast<double>(position) / GST_SECOND);
  if (gst_element_query_duration(pipeline, GST_FORMAT_TIME, &duration) && duration > 0)
    std::printf(" of %.1f s", static_cast<double>(duration) / GST_SECOND);
  std::printf("  ");
  std::fflush(stdout);
}

/// Plays until EOS. Throws the text of an error.
void play(GstElement* pipeline) {
  const bool on_terminal = isatty(STDOUT_FILENO) != 0;
  const Bus bus{gst_element_get_bus(pipeline)};
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  for (;;) {
    // Ctrl-C sends EOS, so that an output file becomes complete.
    if (interrupted == 1) {
      interrupted = 2;
      gst_element_send_event(pipeline, gst_event_new_eos());
      std::signal(SIGINT, SIG_DFL);
    }
    const Message message{gst_bus_timed_pop(bus.get(), GST_SECOND / 10)};
    if (on_terminal)
      print_progress(pipeline);
    GError* error = nullptr;
    switch (message ? GST_MESSAGE_TYPE(message.get()) : GST_MESSAGE_UNKNOWN) {
      case GST_MESSAGE_EOS:
        if (on_terminal)
          std::printf("\n");
        return;
      case GST_MESSAGE_ERROR: {
        gst_message_parse_error(message.get(), &error, nullptr);
        const std::string text = error->message;
        g_error_free(error);
        throw std::runtime_error(std::string(GST_MESSAGE_SRC_NAME(message.get())) + ": " + text);
      }
      case GST_MESSAGE_WARNING:
        gst_message_parse_warning(message.get(), &error, nullptr);
        std::printf("warning: %s\n", error->message);
        g_error_free(error);
        break;
      case GST_MESSAGE_LATENCY:
        gst_bin_recalculate_latency(GST_BIN(pipeline));
        break;
      default:
        break;
    }
  }
}

void run(const Options& options) {
  const Element pipeline = build(options);
  const ControlSource sweep = make_sweep(options);
  attach(pipeline.get(), sweep.get());
  std::printf("sigma goes from 0 to %g and back within %g s\n", options.sigma, options.period);
  std::fflush(stdout);
  std::signal(SIGINT, [](int) { interrupted = 1; });
  try {
    play(pipeline.get());
  } catch (...) {
    gst_element_set_state(pipeline.get(), GST_STATE_NULL);
    throw;
  }
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(nullptr, nullptr);
  try {
    run(parse(argc, argv));
    return 0;
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "blur-sweep: %s\n", error.what());
    return 2;
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "blur-sweep: %s\n", exception.what());
    return 1;
  }
}
