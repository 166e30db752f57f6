// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/pipeline_run.h"

#include <sys/mman.h>

#include <chrono>
#include <ctime>
#include <thread>

#include "tests/kernels/common/contents.h"
#include "tests/kernels/common/layouts.h"

namespace cudavision::bench {
namespace {

void paint_buffer(const GstVideoInfo& info, GstBuffer* buffer, std::uint64_t seed) {
  GstVideoFrame frame;
  if (!gst_video_frame_map(&frame, &info, buffer, GST_MAP_WRITE))
    throw std::runtime_error("a frame cannot be mapped");
  for (guint p = 0; p < GST_VIDEO_FRAME_N_PLANES(&frame); ++p) {
    const int rows = GST_VIDEO_FRAME_COMP_HEIGHT(&frame, p);
    const int bytes =
        GST_VIDEO_FRAME_COMP_WIDTH(&frame, p) * GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, p);
    Frame plane;
    plane.planes[0] = {static_cast<std::uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, p)), bytes,
                       rows, GST_VIDEO_FRAME_PLANE_STRIDE(&frame, p)};
    test::paint(test::gray_layout(bytes, rows), plane, test::Content::natural, seed + p);
  }
  gst_video_frame_unmap(&frame);
}

struct Mapping {
  void* bytes;
  std::size_t size;
};

/// Makes a buffer of mapped memory, which is unmapped when the buffer is freed.
GstBuffer* new_mapped_buffer(std::size_t size) {
  void* bytes = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (bytes == MAP_FAILED)
    throw std::runtime_error("mmap() failed: not enough memory for a frame");
  return gst_buffer_new_wrapped_full(static_cast<GstMemoryFlags>(0), bytes, size, 0, size,
                                     new Mapping{bytes, size}, [](gpointer data) {
                                       auto* mapping = static_cast<Mapping*>(data);
                                       munmap(mapping->bytes, mapping->size);
                                       delete mapping;
                                     });
}

/// Wraps the bytes of a frame in a new GstMemory. The frame must outlive the buffer.
GstBuffer* new_wrapper(GstBuffer* frame) {
  GstMapInfo map;
  if (!gst_buffer_map(frame, &map, GST_MAP_READ))
    throw std::runtime_error("a frame cannot be mapped");
  gst_buffer_unmap(frame, &map);
  return gst_buffer_new_wrapped_full(static_cast<GstMemoryFlags>(0), map.data, map.size, 0,
                                     map.size, nullptr, nullptr);
}

std::string input_caps(const PipelineSubject& subject) {
  const std::string features = subject.memory == FrameMemory::cuda ? "(memory:CUDAMemory)" : "";
  return "video/x-raw" + features + ", format=" + subject.format +
         ", width=" + std::to_string(subject.width) + ", height=" + std::to_string(subject.height) +
         ", framerate=30/1";
}

ObjectPtr<GstElement> parse_pipeline(const std::string& chain) {
  const std::string description = chain + " ! capsfilter name=output ! fakesink name=sink";
  GError* error = nullptr;
  ObjectPtr<GstElement> pipeline(
      gst_parse_launch_full(description.c_str(), nullptr, GST_PARSE_FLAG_FATAL_ERRORS, &error));
  const bool missing = g_error_matches(error, GST_PARSE_ERROR, GST_PARSE_ERROR_NO_SUCH_ELEMENT);
  const std::string reason = error ? error->message : "";
  g_clear_error(&error);
  if (missing)
    throw MissingElement(reason);
  if (!pipeline)
    throw std::runtime_error(chain + ": " + reason);
  return pipeline;
}

}  // namespace

double processor_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

PipelineRun::PipelineRun(const PipelineSubject& subject, const Options& options)
    : subject_(subject),
      pipeline_(parse_pipeline(subject.chain)),
      caps_(gst_caps_from_string(input_caps(subject).c_str())) {
  GstBin* bin = GST_BIN(pipeline_.get());
  for (GList* child = bin->children; child; child = child->next)
    if (g_object_class_find_property(G_OBJECT_GET_CLASS(child->data), "backend")) {
      gst_util_set_object_arg(G_OBJECT(child->data), "backend", options.backend.c_str());
      if (subject.chain.find("frames-in-flight") == std::string::npos)
        g_object_set(child->data, "frames-in-flight", options.frames_in_flight, nullptr);
      ours_.emplace_back(GST_ELEMENT(gst_object_ref(child->data)));
    }
  const ObjectPtr<GstElement> filter(gst_bin_get_by_name(bin, "output")),
      sink(gst_bin_get_by_name(bin, "sink"));
  elements_ = GST_BIN_NUMCHILDREN(bin) - 2;
  gst_util_set_object_arg(G_OBJECT(filter.get()), "caps", subject.output_caps.c_str());
  g_object_set(sink.get(), "sync", FALSE, "async", FALSE, "enable-last-sample", FALSE, nullptr);

  const ObjectPtr<GstPad> end_pad(gst_element_get_static_pad(sink.get(), "sink"));
  gst_pad_add_probe(
      end_pad.get(), GST_PAD_PROBE_TYPE_BUFFER,
      [](GstPad*, GstPadProbeInfo* info, gpointer self) {
        auto& run = *static_cast<PipelineRun*>(self);
        ++run.outputs_;
        run.size_ = gst_buffer_get_size(GST_PAD_PROBE_INFO_BUFFER(info));
        return GST_PAD_PROBE_OK;
      },
      this, nullptr);

  link_sources();
  if (gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE)
    throw failure("the pipeline does not start");
  send_caps();
  prepare_frames();
}

PipelineRun::~PipelineRun() {
  for (const ObjectPtr<GstPad>& source : sources_)
    gst_pad_set_active(source.get(), FALSE);
  gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
  if (pool_)
    gst_buffer_pool_set_active(pool_.get(), FALSE);
}

void PipelineRun::link_sources() {
  while (const ObjectPtr<GstPad> sink{
      gst_bin_find_unlinked_pad(GST_BIN(pipeline_.get()), GST_PAD_SINK)}) {
    sources_.emplace_back(GST_PAD(gst_object_ref_sink(gst_pad_new(nullptr, GST_PAD_SRC))));
    gst_pad_set_active(sources_.back().get(), TRUE);
    if (gst_pad_link(sources_.back().get(), sink.get()) != GST_PAD_LINK_OK)
      throw std::runtime_error("a sink pad of the elements cannot be linked");
  }
}

void PipelineRun::send_caps() {
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  for (const ObjectPtr<GstPad>& source : sources_) {
    gst_pad_push_event(source.get(), gst_event_new_stream_start("bench"));
    if (!gst_pad_push_event(source.get(), gst_event_new_caps(caps_.get())))
      throw failure("the elements refuse these caps");
    gst_pad_push_event(source.get(), gst_event_new_segment(&segment));
  }
}

void PipelineRun::prepare_frames() {
  if (!gst_video_info_from_caps(&info_, caps_.get()))
    throw std::runtime_error("the input caps do not describe video");
  if (subject_.memory == FrameMemory::proposed || subject_.memory == FrameMemory::cuda)
    take_proposed_pool();
  // Fresh memory must not be in a CPU cache, so use more frames than caches can hold.
  const std::uint64_t count = subject_.memory == FrameMemory::fresh ? 32 : 4;
  for (std::uint64_t i = 0; i < count; ++i) {
    frames_.emplace_back(new_frame());
    paint_buffer(info_, frames_.back().get(), i * 10);
  }
}

GstBuffer* PipelineRun::new_frame() {
  if (subject_.memory == FrameMemory::mapped)
    return new_mapped_buffer(info_.size);
  if (!pool_)
    return gst_buffer_new_allocate(nullptr, info_.size, nullptr);
  GstBuffer* buffer = nullptr;
  if (gst_buffer_pool_acquire_buffer(pool_.get(), &buffer, nullptr) != GST_FLOW_OK)
    throw std::runtime_error("the proposed pool gives no buffer");
  return buffer;
}

void PipelineRun::take_proposed_pool() {
  GstQuery* query = gst_query_new_allocation(caps_.get(), TRUE);
  GstBufferPool* pool = nullptr;
  guint size = static_cast<guint>(info_.size), minimum = 0, maximum = 0;
  if (gst_pad_peer_query(sources_[0].get(), query) && gst_query_get_n_allocation_pools(query) > 0)
    gst_query_parse_nth_allocation_pool(query, 0, &pool, &size, &minimum, &maximum);
  gst_query_unref(query);
  pool_.reset(pool);
  if (!pool_)
    throw std::runtime_error("the first element proposes no pool");
  GstStructure* config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, caps_.get(), size, 4, 0);
  if (!gst_buffer_pool_set_config(pool, config) || !gst_buffer_pool_set_active(pool, TRUE))
    throw std::runtime_error("the proposed pool cannot be configured");
}

GstBuffer* PipelineRun::buffer_of_frame(std::size_t number) const {
  GstBuffer* const frame = frames_[number % frames_.size()].get();
  return subject_.memory == FrameMemory::fresh ? new_wrapper(frame) : gst_buffer_copy(frame);
}

void PipelineRun::push() {
  if (subject_.sweeps_sigma)
    g_object_set(ours_.front().get(), "sigma", 0.2 * static_cast<double>(pushed_ % 300), nullptr);
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    GstBuffer* const buffer = buffer_of_frame(pushed_ + i);
    GST_BUFFER_PTS(buffer) = pushed_ * GST_SECOND / 30;
    if (gst_pad_push(sources_[i].get(), buffer) != GST_FLOW_OK)
      throw failure("the elements refuse a frame");
  }
  ++pushed_;
}

void PipelineRun::push_until(const std::atomic<bool>& stop) {
  using namespace std::chrono;
  const auto start = steady_clock::now();
  for (long i = 0; !stop; ++i) {
    if (subject_.pace > 0)
      std::this_thread::sleep_until(
          start + duration_cast<steady_clock::duration>(duration<double>(i / subject_.pace)));
    push();
  }
}

PipelineRun::Rates PipelineRun::measure(double seconds) {
  const std::uint64_t outputs = outputs_;
  const double processor_start = processor_seconds();
  const auto start = std::chrono::steady_clock::now();
  std::chrono::duration<double> elapsed{};
  do {
    push();
    elapsed = std::chrono::steady_clock::now() - start;
  } while (elapsed.count() < seconds || outputs_ == outputs);
  const auto frames = static_cast<double>(outputs_ - outputs);
  return {frames / elapsed.count(), 1e6 * (processor_seconds() - processor_start) / frames};
}

void PipelineRun::end() {
  for (const ObjectPtr<GstPad>& source : sources_)
    gst_pad_push_event(source.get(), gst_event_new_eos());
  const ObjectPtr<GstBus> bus(gst_element_get_bus(pipeline_.get()));
  GstMessage* message = gst_bus_timed_pop_filtered(
      bus.get(), 60 * GST_SECOND, static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
  const bool ended = message && GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS;
  if (message)
    gst_message_unref(message);
  if (!ended)
    throw std::runtime_error("an element failed, or EOS did not arrive within 60 s");
}

std::string PipelineRun::active_backend() const {
  if (ours_.empty())
    return "-";
  constexpr const char* names[] = {"none", "cpu", "cuda"};
  int backend = 0;
  g_object_get(ours_.front().get(), "active-backend", &backend, nullptr);
  return names[backend];
}

std::runtime_error PipelineRun::failure(const std::string& sentence) const {
  const ObjectPtr<GstBus> bus(gst_element_get_bus(pipeline_.get()));
  GstMessage* message = gst_bus_pop_filtered(bus.get(), GST_MESSAGE_ERROR);
  if (!message)
    return std::runtime_error(sentence);
  GError* error = nullptr;
  gst_message_parse_error(message, &error, nullptr);
  const std::string text = sentence + ": " + error->message;
  g_error_free(error);
  gst_message_unref(message);
  return std::runtime_error(text);
}

}  // namespace cudavision::bench
