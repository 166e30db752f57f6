// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests the streams that CUDA memory carries, with libgstcuda's own pools: on a GPU, or with a
// driver that does nothing (fakecuda.cpp).
#include <gmodule.h>

#include <memory>

#include "gst/memory/cudabufferpool.h"
#include "gst/memory/cudastream.h"
#include "gst/memory/mappedbuffer.h"
#include "tests/check/common/owned.h"
#include "tests/check/common/testcase.h"

using namespace check;
using namespace cudavision;

namespace {

// Where there is a fake driver, it must work.
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

CudaContext new_context() {
  const std::string obstacle = probe_cuda(-1);
  fail_unless(obstacle.empty(), "%s", obstacle.c_str());
  const Owned<GstElement> bin(GST_ELEMENT(gst_object_ref_sink(gst_bin_new(nullptr))));
  CudaContextSlot slot;
  const CudaContext context = slot.negotiate(bin, -1);
  fail_unless(static_cast<bool>(context), "there is no CUDA context");
  return context;
}

/// A pool of small frames in CUDA memory.
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
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  const FrameFormat& format() const { return format_; }
  GstBufferPool* pool() const { return pool_.get(); }

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

void map_on_device(GstMemory* memory, GstMapFlags access) {
  GstMapInfo map;
  fail_unless(gst_memory_map(memory, &map, static_cast<GstMapFlags>(access | cuda_map_flag())));
  gst_memory_unmap(memory, &map);
}

}  // namespace

// Includes a format that libgstcuda does not know.
TEST(test_memory_carries_the_stream, .unless(unless_driver())) {
  const CudaContext context = new_context();
  const SharedStream stream(context);
  fail_unless(stream && stream.handle() != nullptr);
  for (const char* format : {"NV12", "GRAY8"}) {
    Pool pool(context, format);
    const Owned<GstBuffer> frame = pool.frame(stream);
    fail_unless(stream_of_cuda_memory(cuda_memory_of(frame)) ==
                    (memory_carries_streams ? stream.handle() : nullptr),
                "%s", format);
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
  fail_unless(stream_of_cuda_memory(cuda_memory_of(frame)) ==
              (memory_carries_streams ? neighbours.handle() : nullptr));
}

// With a stream of its own, an element works on that of downstream's pool.
TEST(test_stream_of_a_pool, .unless(unless_driver())) {
  const CudaContext context = new_context();
  for (const char* format : {"NV12", "GRAY8"}) {
    Pool pool(context, format);
    fail_unless(!stream_of_pool(pool.pool()), "%s", format);
    const SharedStream stream(context);
    const Owned<GstBuffer> frame = pool.frame(stream);
    const SharedStream found = stream_of_pool(pool.pool());
    fail_unless(found.handle() == (memory_carries_streams ? stream.handle() : nullptr), "%s",
                format);
    fail_unless(static_cast<bool>(found) == memory_carries_streams, "%s", format);
  }
}

TEST(test_stream_of_another_configuration, .unless(unless_driver())) {
  const CudaContext context = new_context();
  const SharedStream stream(context);
  Pool pool(context), other(context), third(context);
  GstStructure* config = pool.new_config();
  carry_stream(config, stream);
  GstStructure* copy = other.new_config();
  copy_stream(config, copy);
  const Owned<GstBuffer> frame = other.frame(copy);
  fail_unless(stream_of_cuda_memory(cuda_memory_of(frame)) ==
              (memory_carries_streams ? stream.handle() : nullptr));
  gst_structure_free(config);

  GstStructure* none = pool.new_config();
  GstStructure* still_none = third.new_config();
  copy_stream(none, still_none);
  carry_stream(still_none, SharedStream());
  const Owned<GstBuffer> plain = third.frame(still_none);
  fail_unless(stream_of_cuda_memory(cuda_memory_of(plain)) == nullptr);
  gst_structure_free(none);
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

// Mapping uploads what the CPU has written, on the stream that the memory carries.
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

// Nobody could wait for such memory.
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
  Owned<GstBuffer> frame;
  {
    Pool pool(context);
    frame = pool.frame(SharedStream(context));
  }
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
