// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests which foreign memory is page-locked and unlocked, with a fake device.
#include <sys/mman.h>

#include <thread>
#include <utility>
#include <vector>

#include "tests/check/base/memory/mappingelement.h"

using namespace check;

namespace {

Owned<GstBufferPool> new_pool(guint buffers) {
  Owned<GstBufferPool> pool(gst_buffer_pool_new());
  GstAllocationParams params;
  gst_allocation_params_init(&params);
  params.align = page_alignment;
  GstStructure* config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, nullptr, frame_bytes, buffers, buffers);
  gst_buffer_pool_config_set_allocator(config, nullptr, &params);
  fail_unless(gst_buffer_pool_set_config(pool, config));
  fail_unless(gst_buffer_pool_set_active(pool, TRUE));
  return pool;
}

Owned<GstBuffer> take(GstBufferPool* pool) {
  GstBuffer* buffer = nullptr;
  fail_unless_equals_int(gst_buffer_pool_acquire_buffer(pool, &buffer, nullptr), GST_FLOW_OK);
  return Owned<GstBuffer>(buffer);
}

/// Expects these locks and unlocks since the last reset, and no failed lock. Resets the counts.
void expect_locks(int locks, int unlocks, const std::string& what) {
  const FakeTransfers done = fake_transfers();
  fail_unless(done.locks == locks && done.unlocks == unlocks, "%s: %d locks, %d unlocks",
              what.c_str(), done.locks, done.unlocks);
  fail_unless_equals_int(done.failed_locks, 0);
  fail_unless_equals_int(done.pageable, 0);
  reset_fake_transfers();
}

}  // namespace

TEST(test_pool_is_locked_once, .times(2)) {
  reset_fake_transfers();
  const auto transfer = index == 1 ? &MappingElement::write : &MappingElement::read;
  MappingElement element(new_fake_context());
  const Owned<GstBufferPool> pool = new_pool(4);
  for (int round = 1; round <= 6; ++round) {
    for (int i = 0; i < 4; ++i)
      (element.*transfer)(take(pool).get());
    fail_unless_equals_int(fake_transfers().direct, round < 3 ? 0 : 4);
    fail_unless((fake_transfers().staged > 0) == (round < 3));
    expect_locks(round == 3 ? 4 : 0, 0, "round " + std::to_string(round));
  }
  // The pool holds all references, so it frees the buffers now.
  gst_buffer_pool_set_active(pool, FALSE);
  expect_locks(0, 4, "the pool is inactive");
}

TEST(test_unlocked_by_whichever_thread_frees) {
  reset_fake_transfers();
  MappingElement element(new_fake_context());
  GstBuffer* buffer = new_frame();
  for (int i = 0; i < 3; ++i)
    element.read(buffer);
  expect_locks(1, 0, "locked");
  const CudaContext other = new_fake_context();
  std::thread([&] {
    const CudaScope scope(other);
    gst_buffer_unref(buffer);
    fail_unless(current_fake_context() == other.object());
  }).join();
  expect_locks(0, 1, "freed");
}

// An element that stops unlocks the memory and releases the context, even if the memory lives on.
TEST(test_unlocked_when_the_element_stops) {
  reset_fake_transfers();
  const CudaContext context = new_fake_context();
  Owned<GstBuffer> buffer(new_frame());
  {
    MappingElement element(context);
    for (int i = 0; i < 3; ++i)
      element.read(buffer);
    fail_unless_equals_int(fake_transfers().locked_now, 1);
    fail_unless(references_to(context) > 1);
  }
  expect_locks(1, 1, "stopped");
  fail_unless_equals_int(references_to(context), 1);

  // Another element, possibly at the same address, counts uses from 0 again.
  {
    MappingElement element(context);
    for (int i = 0; i < 2; ++i)
      element.read(buffer);
    expect_locks(0, 0, "another element");
    element.read(buffer);
    expect_locks(1, 0, "its third frame");
  }
  expect_locks(0, 1, "stopped again");
  buffer.reset();
  expect_locks(0, 0, "freed");
}

TEST(test_memory_that_does_not_come_back_is_not_locked) {
  reset_fake_transfers();
  MappingElement element(new_fake_context());
  for (int i = 0; i < 50; ++i) {
    const Owned<GstBuffer> buffer(new_frame());
    element.read(buffer);
    // Reads a copy that shares the memory, as videorate pushes when it doubles the rate.
    element.read_what_is_there(Owned<GstBuffer>(gst_buffer_copy(buffer)).get(),
                               static_cast<guint8>(i + 1));
  }
  fail_unless_equals_int(fake_transfers().direct, 0);
  expect_locks(0, 0, "new memory for each frame");
}

// If locking fails, frames are staged, and locking the same memory is not tried again.
TEST(test_failed_locks) {
  reset_fake_transfers();
  MappingElement element(new_fake_context());
  const Owned<GstBuffer> buffer(new_frame());
  fail_page_locks(true);
  for (int i = 0; i < 10; ++i) {
    element.read(buffer);
    element.write(buffer);
  }
  fail_page_locks(false);
  fail_unless_equals_int(fake_transfers().failed_locks, 1);
  element.read(buffer);
  fail_unless_equals_int(fake_transfers().failed_locks, 1);
  fail_unless_equals_int(fake_transfers().locks, 0);
  fail_unless_equals_int(fake_transfers().direct, 0);
  fail_unless_equals_int(fake_transfers().pageable, 0);
}

// Memory is not locked if it is part of other memory, read-only, a copy, or of another type.
TEST(test_memory_of_others_is_not_locked) {
  reset_fake_transfers();
  MappingElement element(new_fake_context());
  const auto expect_staged = [&](GstBuffer* buffer, const char* what) {
    for (int i = 0; i < 10; ++i)
      element.read_what_is_there(buffer, 7);
    expect_locks(0, 0, what);
  };
  const auto new_filled = [](gsize bytes) {
    Owned<GstBuffer> buffer(new_frame(page_alignment, bytes));
    gst_buffer_memset(buffer, 0, 7, bytes);
    return buffer;
  };

  const Owned<GstBuffer> whole = new_filled(2 * frame_bytes);
  const Owned<GstBuffer> part(
      gst_buffer_copy_region(whole, GST_BUFFER_COPY_MEMORY, frame_bytes, frame_bytes));
  expect_staged(part, "a part of other memory");

  const Owned<GstBuffer> read_only = new_filled(frame_bytes);
  GST_MINI_OBJECT_FLAG_SET(gst_buffer_peek_memory(read_only, 0), GST_MEMORY_FLAG_READONLY);
  expect_staged(read_only, "read-only memory");

  const Owned<GstBuffer> two(gst_buffer_new());
  for (int i = 0; i < 2; ++i)
    gst_buffer_append_memory(two, gst_buffer_get_memory(new_filled(frame_bytes / 2).get(), 0));
  // Without a second reference, mapping would replace the buffer's memories by the copy.
  const Owned<GstBuffer> held(gst_buffer_ref(two));
  expect_staged(two, "two memories, mapped as a copy");

  // Memory of other types may be mapped at a different address each time.
  const Owned<GstBuffer> other = new_filled(frame_bytes);
  GstAllocator* const allocator = gst_buffer_peek_memory(other, 0)->allocator;
  const gchar* const type = std::exchange(allocator->mem_type, "FdMemory");
  expect_staged(other, "memory of another type");
  allocator->mem_type = type;
}

/// A memory mapping with consecutive frames, in buffers that wrap it.
class Mapping {
 public:
  Mapping(std::size_t frames, std::size_t bytes_per_frame)
      : size_(frames * bytes_per_frame),
        bytes_(static_cast<guint8*>(
            mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    fail_unless(bytes_ != MAP_FAILED);
    for (std::size_t i = 0; i < frames; ++i)
      frames_.emplace_back(gst_buffer_new_wrapped_full(static_cast<GstMemoryFlags>(0),
                                                       bytes_ + i * bytes_per_frame, frame_bytes, 0,
                                                       frame_bytes, nullptr, nullptr));
  }
  ~Mapping() {
    frames_.clear();
    munmap(bytes_, size_);
  }

  const std::vector<Owned<GstBuffer>>& frames() const { return frames_; }

 private:
  const std::size_t size_;
  guint8* const bytes_;
  std::vector<Owned<GstBuffer>> frames_;
};

// Mapped memory comes from v4l2src, which maps the driver's buffers, and from applications.
TEST(test_mapped_memory_is_locked, .times(2)) {
  reset_fake_transfers();
  MappingElement element(new_fake_context());
  {
    const Mapping mapping(4, frame_bytes);
    GstAllocator* const allocator = gst_buffer_peek_memory(mapping.frames()[0], 0)->allocator;
    const gchar* const type =
        std::exchange(allocator->mem_type, index == 0 ? allocator->mem_type : "V4l2Memory");
    for (int round = 1; round <= 4; ++round) {
      for (const Owned<GstBuffer>& frame : mapping.frames())
        element.read(frame);
      fail_unless_equals_int(fake_transfers().direct, round < 3 ? 0 : 4);
      expect_locks(round == 3 ? 4 : 0, 0, "round " + std::to_string(round));
    }
    allocator->mem_type = type;
  }
  expect_locks(0, 4, "freed");
}

// All frames but the first share two pages with other data. Rows in these pages are staged.
TEST(test_frames_that_share_pages, .times(2)) {
  reset_fake_transfers();
  const auto transfer = index == 1 ? &MappingElement::write : &MappingElement::read;
  MappingElement element(new_fake_context());
  const Mapping mapping(5, frame_bytes + 1000);
  for (int round = 1; round <= 4; ++round) {
    for (const Owned<GstBuffer>& frame : mapping.frames())
      (element.*transfer)(frame);
    if (round < 3) {
      expect_locks(0, 0, "before they are locked");
      continue;
    }
    // Only the first frame starts at a page boundary.
    fail_unless_equals_int(fake_transfers().direct, 5);
    fail_unless_equals_int(fake_transfers().staged, 8);
    expect_locks(round == 3 ? 5 : 0, 0, "locked");
  }
}

// Blocks of the C library are locked, too, even after a larger block was freed.
TEST(test_blocks_of_the_c_library) {
  reset_fake_transfers();
  MappingElement element(new_fake_context());
  { const Owned<GstBuffer> freed(new_frame(0, 16 * 1024 * 1024)); }
  std::vector<Owned<GstBuffer>> buffers;
  for (int i = 0; i < 6; ++i)
    buffers.emplace_back(new_frame(0, frame_bytes));
  for (int round = 0; round < 4; ++round)
    for (const Owned<GstBuffer>& buffer : buffers)
      element.read(buffer);
  fail_unless_equals_int(fake_transfers().direct, 12);
  expect_locks(6, 0, "six blocks");
  buffers.clear();
  expect_locks(0, 6, "freed");
}

TEST(test_small_frames_are_not_locked) {
  reset_fake_transfers();
  FakeDevice device;
  const CudaContext context = new_fake_context();
  const CudaScope scope(context);
  PageLocks locks(device, context);
  for (gsize bytes : {gsize{124 * 1024}, gsize{128 * 1024}}) {
    const Owned<GstBuffer> buffer(new_frame(page_alignment, bytes));
    GstMapInfo map;
    fail_unless(gst_buffer_map(buffer, &map, GST_MAP_READ));
    ByteRange locked;
    for (int i = 0; i < 4; ++i)
      locked = locks.note(map);
    fail_unless_equals_int(locked.end - locked.begin, bytes == 128 * 1024 ? bytes : 0);
    gst_buffer_unmap(buffer, &map);
  }
}

// The locked bytes are bounded. Unlocking makes room again.
TEST(test_bound) {
  reset_fake_transfers();
  MappingElement element(new_fake_context(), 3 * frame_bytes);
  std::vector<Owned<GstBuffer>> buffers;
  for (int i = 0; i < 5; ++i)
    buffers.emplace_back(new_frame());
  for (int round = 0; round < 4; ++round)
    for (const Owned<GstBuffer>& buffer : buffers)
      element.read(buffer);
  expect_locks(3, 0, "five buffers");
  buffers.erase(buffers.begin());
  for (const Owned<GstBuffer>& buffer : buffers)
    element.read(buffer);
  expect_locks(1, 1, "four buffers");
}

// After a tee, two elements read the same memory. Elements in the same context share the page lock.
TEST(test_elements_share_locks) {
  reset_fake_transfers();
  const CudaContext context = new_fake_context();
  MappingElement first(context), second(context), elsewhere(new_fake_context());
  const Owned<GstBuffer> buffer(new_frame());
  for (int i = 0; i < 3; ++i) {
    first.read(buffer);
    second.read(buffer);
  }
  fail_unless_equals_int(fake_transfers().direct, 2);
  expect_locks(1, 0, "two elements");
  first.stop();
  expect_locks(0, 0, "one has stopped");
  second.read(buffer);
  fail_unless_equals_int(fake_transfers().direct, 1);
  reset_fake_transfers();
  // An element in another context does not share the lock.
  for (int i = 0; i < 4; ++i)
    elsewhere.read(buffer);
  fail_unless_equals_int(fake_transfers().direct, 0);
  fail_unless_equals_int(fake_transfers().failed_locks, 1);
  reset_fake_transfers();
  second.stop();
  expect_locks(0, 1, "both have stopped");
}

// During transfers, elements start and stop, and other threads free frames.
TEST(test_threads) {
  reset_fake_transfers();
  constexpr int elements = 3, lives = 8, frames = 24;
  const CudaContext context = new_fake_context();
  std::vector<std::thread> threads;
  for (int t = 0; t < elements; ++t)
    threads.emplace_back([&] {
      for (int life = 0; life < lives; ++life) {
        std::vector<GstBuffer*> buffers;
        {
          MappingElement element(context);
          for (int i = 0; i < 3; ++i)
            buffers.push_back(new_frame());
          for (int i = 0; i < frames; ++i)
            element.read(buffers[i % 3]);
          std::thread freeing([buffer = buffers.back()] { gst_buffer_unref(buffer); });
          buffers.pop_back();
          element.stop();
          freeing.join();
        }
        for (GstBuffer* buffer : buffers)
          gst_buffer_unref(buffer);
      }
    });
  for (std::thread& thread : threads)
    thread.join();
  expect_locks(elements * lives * 3, elements * lives * 3, "after all of them");
  fail_unless_equals_int(fake_transfers().locked_now, 0);
  fail_unless_equals_int(references_to(context), 1);
}
