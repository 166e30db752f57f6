// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests the streams that CUDA memory carries, with libgstcuda's own pools, and the choice of a CUDA
// context: on a GPU, or with the fake driver of fakecuda.cpp.
#include <gmodule.h>
#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudautils.h>

#include "gst/memory/cudabufferpool.h"
#include "gst/memory/cudastream.h"
#include "gst/memory/mappedbuffer.h"
#include "tests/check/common/messagelog.h"
#include "tests/check/common/owned.h"
#include "tests/check/common/testcase.h"

using namespace check;
using namespace cudavision;

namespace {

// A fake driver is not probed, because it must work.
std::string unless_driver() {
  return g_getenv("CUDAVISION_TEST_FAKE_DRIVER") ? "" : probe_cuda(-1);
}

std::string unless_fake_driver() {
  return g_getenv("CUDAVISION_TEST_FAKE_DRIVER") ? "" : "CUDAVISION_TEST_FAKE_DRIVER is not set";
}

/// Calls a function of fakecuda.cpp.
template <class... Arguments>
int fake(const char* name, Arguments... arguments) {
  GModule* driver = g_module_open("libcuda.so.1", G_MODULE_BIND_LOCAL);
  gpointer function = nullptr;
  fail_unless(driver && g_module_symbol(driver, name, &function), "%s", g_module_error());
  return reinterpret_cast<int (*)(Arguments...)>(function)(arguments...);
}

struct Negotiator {
  GstElement element;
  CudaContextSlot* slot;
  int device_id;
};
using NegotiatorClass = GstElementClass;
GType negotiator_get_type();
G_DEFINE_TYPE(Negotiator, negotiator, GST_TYPE_ELEMENT)

void negotiator_class_init(NegotiatorClass* klass) {
  G_OBJECT_CLASS(klass)->finalize = [](GObject* object) {
    delete reinterpret_cast<Negotiator*>(object)->slot;
    G_OBJECT_CLASS(negotiator_parent_class)->finalize(object);
  };
  klass->set_context = [](GstElement* element, GstContext* context) {
    const auto* self = reinterpret_cast<Negotiator*>(element);
    self->slot->offer(element, context, self->device_id);
    GST_ELEMENT_CLASS(negotiator_parent_class)->set_context(element, context);
  };
}

void negotiator_init(Negotiator* self) {
  self->slot = new CudaContextSlot;
  self->device_id = -1;
}

class Negotiators {
 public:
  Negotiators() {
    const std::string obstacle = probe_cuda(-1);
    fail_unless(obstacle.empty(), "%s", obstacle.c_str());
    const GstPadDirection directions[] = {GST_PAD_SRC, GST_PAD_SINK};
    for (int i = 0; i < 2; ++i) {
      elements_[i] = static_cast<GstElement*>(g_object_new(negotiator_get_type(), nullptr));
      gst_element_add_pad(elements_[i], gst_pad_new("pad", directions[i]));
      gst_bin_add(GST_BIN(pipeline_.get()), elements_[i]);
    }
    fail_unless(gst_element_link_pads(elements_[0], "pad", elements_[1], "pad"));
  }

  GstElement* pipeline() const { return pipeline_; }
  GstElement* element(int i) const { return elements_[i]; }
  CudaContext negotiate(int i, int device_id = -1, int choice = 0) {
    auto* const negotiator = reinterpret_cast<Negotiator*>(elements_[i]);
    negotiator->device_id = device_id;
    const CudaContext context =
        negotiator->slot->negotiate(elements_[i], device_id, [=](int) { return choice; });
    fail_unless(static_cast<bool>(context), "there is no CUDA context");
    return context;
  }

 private:
  const Owned<GstElement> pipeline_{GST_ELEMENT(gst_object_ref_sink(gst_pipeline_new(nullptr)))};
  GstElement* elements_[2];
};

CudaContext new_context() {
  return Negotiators().negotiate(0);
}

/// Makes a context that no element uses yet, like one of an application or a neighbour.
Owned<GstContext> new_foreign_context(const CudaContext& primary, CudaContext& foreign) {
  GstCudaContext* made = gst_cuda_context_new(static_cast<guint>(primary.device_id()));
  fail_unless(made != nullptr);
  foreign = CudaContext(GST_OBJECT_CAST(made));
  gst_object_unref(made);
  return Owned<GstContext>(
      gst_context_new_cuda_context(reinterpret_cast<GstCudaContext*>(foreign.object())));
}

class Pool {
 public:
  explicit Pool(const CudaContext& context, const std::string& format = "NV12")
      : caps_(gst_caps_from_string(("video/x-raw(memory:CUDAMemory), width=64, height=48, "
                                    "framerate=30/1, format=" +
                                    format)
                                       .c_str())),
        format_(frame_format_from_caps(caps_)),
        pool_(new_cuda_frame_pool(context, format_)) {}
  ~Pool() { gst_buffer_pool_set_active(pool_, FALSE); }

  const FrameFormat& format() const { return format_; }

  /// The caller owns the configuration.
  GstStructure* new_config() {
    GstStructure* config = gst_buffer_pool_get_config(pool_);
    gst_buffer_pool_config_set_params(config, caps_, static_cast<guint>(format_.size), 0, 0);
    return config;
  }

  Owned<GstBuffer> frame(GstStructure* config) {
    fail_unless(gst_buffer_pool_set_config(pool_, config), "the pool cannot be configured");
    fail_unless(gst_buffer_pool_set_active(pool_, TRUE), "the pool has no memory");
    GstBuffer* buffer = nullptr;
    fail_unless_equals_int(gst_buffer_pool_acquire_buffer(pool_, &buffer, nullptr), GST_FLOW_OK);
    return Owned<GstBuffer>(buffer);
  }

  Owned<GstBuffer> frame(const SharedStream& stream) {
    GstStructure* config = new_config();
    carry_stream(config, stream);
    return frame(config);
  }

 private:
  const Owned<GstCaps> caps_;
  const FrameFormat format_;
  const Owned<GstBufferPool> pool_;
};

/// Returns the handle if memory carries streams (GStreamer 1.24 and later), otherwise nullptr.
CudaStream if_carried(const SharedStream& stream) {
  return memory_carries_streams ? stream.handle() : nullptr;
}

CudaStream stream_of(const Owned<GstBuffer>& frame) {
  return stream_of_cuda_memory(cuda_memory_of(frame));
}

void map_on_device(GstMemory* memory, GstMapFlags access) {
  GstMapInfo map;
  fail_unless(gst_memory_map(memory, &map, static_cast<GstMapFlags>(access | cuda_map_flag())));
  gst_memory_unmap(memory, &map);
}

}  // namespace

TEST(test_obstacles, .unless(unless_fake_driver())) {
  fail_unless(probe_cuda(1).empty());
  expect_words(probe_cuda(2), {"GPUs 0 to 1 to this process (see CUDA_VISIBLE_DEVICES)"});
  fake("fake_set_devices", 1);
  expect_words(probe_cuda(1), {"cuda-device-id=1", "CUDA offers only GPU 0 to this process"});
  fake("fake_set_devices", 0);
  expect_words(probe_cuda(-1), {"finds no GPU that it can use (CUDA_ERROR_FAKE",
                                "check nvidia-smi and CUDA_VISIBLE_DEVICES"});
  fake("fake_set_devices", 2);
}

TEST(test_pipelines_share_the_primary_context, .unless(unless_driver())) {
  const bool can_count = unless_fake_driver().empty();
  for (int round = 0; round < 2; ++round) {
    {
      Negotiators one, other;
      const CudaContext context = one.negotiate(0);
      fail_unless_equals_int(context.device_id(), 0);
      fail_unless(one.negotiate(1) == context, "another context in the same pipeline");
      fail_unless(other.negotiate(0) == context, "another context in another pipeline");
      fail_unless(!can_count || fake("fake_primary_retained") == 1);
    }
    fail_unless(!can_count || fake("fake_primary_retained") == 0, "the context outlives its users");
  }
}

TEST(test_each_device_has_a_primary_context, .unless(unless_fake_driver())) {
  Negotiators one, other, third;
  const CudaContext context = one.negotiate(0, 1);
  fail_unless_equals_int(context.device_id(), 1);
  fail_unless(!(other.negotiate(0, 0) == context));
  fail_unless(other.negotiate(1, 1) == context);
  // A device is chosen only if the pipeline has no context yet.
  fail_unless_equals_int(third.negotiate(0, -2, 1).device_id(), 1);
  fail_unless(third.negotiate(1, -2, 0) == context, "another context in the same pipeline");
  // An offered context is ignored if it belongs to another device.
  fail_unless_equals_int(one.negotiate(0, 0).device_id(), 0);
  fail_unless_equals_int(fake("fake_primary_retained"), 2);
}

TEST(test_primary_context_is_offered, .unless(unless_driver())) {
  Negotiators negotiators;
  const CudaContext context = negotiators.negotiate(0);
  negotiators.negotiate(1);
  const Owned<GstBus> bus(gst_element_get_bus(negotiators.pipeline()));
  int offers = 0;
  while (const Owned<GstMessage> message{gst_bus_pop_filtered(bus, GST_MESSAGE_HAVE_CONTEXT)}) {
    GstContext* offered = nullptr;
    gst_message_parse_have_context(message, &offered);
    CudaContextSlot slot;
    slot.offer(negotiators.element(0), offered, -1);
    fail_unless(slot.negotiate(negotiators.element(0), -1, {}) == context);
    gst_context_unref(offered);
    ++offers;
  }
  fail_unless_equals_int(offers, 1);
}

TEST(test_context_of_the_application, .unless(unless_driver())) {
  const CudaContext primary = new_context();
  Negotiators negotiators;
  CudaContext foreign;
  Owned<GstContext> given = new_foreign_context(primary, foreign);
  const Owned<GstBus> bus(gst_element_get_bus(negotiators.pipeline()));
  gst_bus_set_sync_handler(
      bus,
      [](GstBus*, GstMessage* message, gpointer context) {
        if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_NEED_CONTEXT)
          gst_element_set_context(GST_ELEMENT(GST_MESSAGE_SRC(message)),
                                  static_cast<GstContext*>(context));
        return GST_BUS_PASS;
      },
      given.get(), nullptr);
  fail_unless(negotiators.negotiate(0) == foreign);
  gst_bus_set_sync_handler(bus, nullptr, nullptr, nullptr);
}

TEST(test_context_of_a_neighbour, .unless(unless_driver())) {
  const CudaContext primary = new_context();
  for (int asking : {0, 1}) {
    Negotiators negotiators;
    CudaContext foreign;
    Owned<GstContext> given = new_foreign_context(primary, foreign);
    const Owned<GstPad> neighbour(
        gst_element_get_static_pad(negotiators.element(1 - asking), "pad"));
    g_object_set_data(G_OBJECT(neighbour.get()), "context", given.get());
    gst_pad_set_query_function(neighbour, [](GstPad* pad, GstObject*, GstQuery* query) -> gboolean {
      if (GST_QUERY_TYPE(query) != GST_QUERY_CONTEXT)
        return FALSE;
      gst_query_set_context(query,
                            static_cast<GstContext*>(g_object_get_data(G_OBJECT(pad), "context")));
      return TRUE;
    });
    fail_unless(negotiators.negotiate(asking) == foreign);
  }
}

TEST(test_memory_carries_the_stream_of_a_neighbour, .unless(unless_driver())) {
  const CudaContext context = new_context();
  const SharedStream neighbours(context), own(context);
  Pool pool(context);
  GstStructure* config = pool.new_config();
  carry_stream(config, neighbours);
  carry_stream(config, own);
  const Owned<GstBuffer> frame = pool.frame(config);
  fail_unless(stream_of(frame) == if_carried(neighbours));
}

// Memory carries its pool's stream for other elements, even if libgstcuda lacks the format.
TEST(test_stream_of_a_pool, .unless(unless_driver())) {
  const CudaContext context = new_context();
  for (const char* format : {"NV12", "GRAY8"}) {
    Pool pool(context, format);
    fail_unless(!stream_named_in(Structure(pool.new_config()).get()), "%s", format);
    const SharedStream stream(context);
    fail_unless(stream && stream.handle() != nullptr);
    const Owned<GstBuffer> frame = pool.frame(stream);
    fail_unless(stream_of(frame) == if_carried(stream), "%s", format);
    const SharedStream found = stream_named_in(Structure(pool.new_config()).get());
    fail_unless(found.handle() == if_carried(stream), "%s", format);
    fail_unless(static_cast<bool>(found) == memory_carries_streams, "%s", format);
  }
}

TEST(test_stream_of_another_configuration, .unless(unless_driver())) {
  const CudaContext context = new_context();
  const SharedStream stream(context);
  Pool pool(context), other(context), third(context);
  const Structure config(pool.new_config());
  carry_stream(config.get(), stream);
  GstStructure* copy = other.new_config();
  carry_stream(copy, stream_named_in(config.get()));
  const Owned<GstBuffer> frame = other.frame(copy);
  fail_unless(stream_of(frame) == if_carried(stream));

  const Structure none(pool.new_config());
  GstStructure* still_none = third.new_config();
  carry_stream(still_none, stream_named_in(none.get()));
  carry_stream(still_none, SharedStream());
  const Owned<GstBuffer> plain = third.frame(still_none);
  fail_unless(stream_of(plain) == nullptr);
}

TEST(test_marks, .unless(unless_driver())) {
  const CudaContext context = new_context();
  const SharedStream stream(context);
  Pool pool(context);
  const Owned<GstBuffer> frame = pool.frame(stream);
  GstMemory* memory = cuda_memory_of(frame);
  fail_unless(!is_marked_unfinished(memory));
  map_on_device(memory, GST_MAP_READ);
  fail_unless(!is_marked_unfinished(memory));
  map_on_device(memory, GST_MAP_WRITE);
  fail_unless(is_marked_unfinished(memory) == memory_carries_streams);
  synchronize_cuda_memory(memory);
  fail_unless(!is_marked_unfinished(memory));
  mark_unfinished(memory);
  fail_unless(is_marked_unfinished(memory) == memory_carries_streams);
  mark_finished(memory);
  fail_unless(!is_marked_unfinished(memory));
}

TEST(test_only_marked_memory_is_waited_for, .unless(unless_fake_driver())) {
  const CudaContext context = new_context();
  Pool pool(context);
  const Owned<GstBuffer> frame = pool.frame(SharedStream(context));
  GstMemory* memory = cuda_memory_of(frame);
  map_on_device(memory, GST_MAP_WRITE);
  const int before = fake("fake_synchronized");
  synchronize_cuda_memory(memory);
  synchronize_cuda_memory(memory);
  fail_unless_equals_int(fake("fake_synchronized") - before, memory_carries_streams ? 1 : 0);
}

// Mapping for CUDA uploads what the CPU has written, on the stream that the memory carries.
TEST(test_upload_is_marked, .unless(unless_driver())) {
  const CudaContext context = new_context();
  const SharedStream stream(context);
  Pool pool(context);
  const Owned<GstBuffer> frame = pool.frame(stream);
  GstMemory* memory = cuda_memory_of(frame);
  GstMapInfo map;
  fail_unless(gst_memory_map(memory, &map, GST_MAP_WRITE));
  gst_memory_unmap(memory, &map);
  fail_unless(!is_marked_unfinished(memory));
  const MappedBuffer mapped(frame, pool.format(), GST_MAP_READ, context, nullptr);
  fail_unless(mapped.on_device());
  fail_unless(is_marked_unfinished(memory) == memory_carries_streams);
}

TEST(test_memory_without_a_stream_is_not_marked, .unless(unless_driver())) {
  const CudaContext context = new_context();
  Pool pool(context);
  const Owned<GstBuffer> frame = pool.frame(SharedStream());
  GstMemory* memory = cuda_memory_of(frame);
  map_on_device(memory, GST_MAP_WRITE);
  mark_unfinished(memory);
  fail_unless(!is_marked_unfinished(memory));
}

TEST(test_streams_live_as_long_as_they_are_carried, .unless(unless_fake_driver())) {
  const CudaContext context = new_context();
  const int before = fake("fake_streams_alive");
  const auto alive = [&] { return fake("fake_streams_alive") - before; };
  {
    SharedStream stream(context);
    fail_unless_equals_int(alive(), 1);
    const SharedStream copy = stream;
    stream = SharedStream();
    fail_unless_equals_int(alive(), 1);
  }
  fail_unless_equals_int(alive(), 0);
  Owned<GstBuffer> frame = Pool(context).frame(SharedStream(context));
  fail_unless_equals_int(alive(), memory_carries_streams ? 1 : 0);
  frame = Owned<GstBuffer>();
  fail_unless_equals_int(alive(), 0);
}

TEST(test_stream_that_cannot_be_created, .unless(unless_fake_driver())) {
  const CudaContext context = new_context();
  for (const int failures : {1, 2}) {
    fake("fake_fail_streams", failures);
    std::string text;
    try {
      const SharedStream stream(context);
    } catch (const Error& e) {
      text = e.what();
    }
    fake("fake_fail_streams", 0);
    const bool reason_lasts = failures == 2 || !memory_carries_streams;
    fail_unless(text.find("Creating a CUDA stream failed") == 0, "%s", text.c_str());
    fail_unless((text.find("CUDA_ERROR_FAKE") != std::string::npos) == reason_lasts, "%s",
                text.c_str());
  }
  fail_unless_equals_int(fake("fake_streams_alive"), 0);
}
