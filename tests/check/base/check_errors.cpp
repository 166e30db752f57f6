// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests bad input: one error is posted, and the next good frame is processed.
#include <gst/video/video.h>

#include <functional>
#include <thread>
#include <utility>

#include "tests/check/common/filterharness.h"

namespace {

std::function<void()> on_unmappable;  ///< called once, at the next attempt to map unmappable memory

GstMemory* unmappable_alloc(GstAllocator* allocator, gsize size, GstAllocationParams* params) {
  auto* memory = g_new0(GstMemory, 1);
  gst_memory_init(memory, GST_MEMORY_FLAG_NO_SHARE, allocator, nullptr,
                  size + params->prefix + params->padding, params->align, params->prefix, size);
  return memory;
}

void unmappable_free(GstAllocator*, GstMemory* memory) {
  g_free(memory);
}

gpointer unmappable_map(GstMemory*, gsize, GstMapFlags) {
  if (const auto action = std::exchange(on_unmappable, nullptr))
    action();
  return nullptr;
}

void unmappable_unmap(GstMemory*) {}

struct UnmappableAllocator {
  GstAllocator parent;
};
struct UnmappableAllocatorClass {
  GstAllocatorClass parent;
};
G_DEFINE_TYPE(UnmappableAllocator, unmappable_allocator, GST_TYPE_ALLOCATOR)

void unmappable_allocator_class_init(UnmappableAllocatorClass* klass) {
  klass->parent.alloc = unmappable_alloc;
  klass->parent.free = unmappable_free;
}

void unmappable_allocator_init(UnmappableAllocator* self) {
  auto* allocator = GST_ALLOCATOR(self);
  allocator->mem_type = "unmappable";
  allocator->mem_map = unmappable_map;
  allocator->mem_unmap = unmappable_unmap;
  GST_OBJECT_FLAG_SET(self, GST_ALLOCATOR_FLAG_CUSTOM_ALLOC);
}

using namespace check;

Owned<GstAllocator> new_unmappable_allocator() {
  Owned<GstAllocator> allocator(
      static_cast<GstAllocator*>(g_object_new(unmappable_allocator_get_type(), nullptr)));
  gst_object_ref_sink(allocator);
  return allocator;
}

void expect_error(FilterHarness& filter, GstBuffer* bad, const FormatSpec& format, int width,
                  int height, const std::string& what, bool idle = false) {
  filter.messages().clear();
  const GstFlowReturn flow = filter.push(bad);
  fail_unless(flow == GST_FLOW_ERROR, "%s %s: flow %s", format.name, what.c_str(),
              gst_flow_get_name(flow));
  fail_unless(filter.messages().count(GST_MESSAGE_ERROR) == 1, "%s %s: %d errors", format.name,
              what.c_str(), filter.messages().count(GST_MESSAGE_ERROR));
  fail_unless(filter.messages().text(GST_MESSAGE_ERROR).size() > 20,
              "%s: the error is too short: %s", what.c_str(),
              filter.messages().text(GST_MESSAGE_ERROR).c_str());
  fail_unless(filter.pull() == nullptr, "%s %s: a frame came out", format.name, what.c_str());
  const Picture picture = make_picture(format, width, height, Content::natural, 1);
  expect_picture(filter.process(picture), idle ? picture : result(picture), "after: " + what);
}

void accept_video_meta(FilterHarness& filter) {
  gst_harness_add_propose_allocation_meta(filter.harness(), GST_VIDEO_META_API_TYPE, nullptr);
}

const FormatSpec& start(FilterHarness& filter, int format_number, int width, int height) {
  const FormatSpec& format = formats()[format_number];
  filter.accept_caps(format, width, height, colorimetry(format, false));
  return format;
}

GstVideoMeta* meta_of(GstBuffer* buffer) {
  return gst_buffer_get_video_meta(buffer);
}

/// Expects active-backend to be `active`, and `warnings` warnings.
void expect_backend(const char* backend, const char* active, int warnings) {
  FilterHarness filter{{"backend", backend}};
  for (const char* name : {"GRAY8", "NV12", "RGBA", "P010_10LE"}) {
    const FormatSpec& format = format_named(name);
    filter.accept_caps(format, 45, 31, colorimetry(format, false));
    const Picture picture = make_picture(format, 45, 31, Content::natural, 1);
    expect_picture(filter.process(picture), result(picture), backend);
  }
  fail_unless_equals_int(filter.messages().count(GST_MESSAGE_WARNING), warnings);
  fail_unless_equals_int(filter.messages().count(GST_MESSAGE_ERROR), 0);
  const std::string found = active_backend(filter.element());  // outlives the macro's pointer
  fail_unless_equals_string(found.c_str(), active);
}

}  // namespace

TEST(test_short_buffer, .for_each_element().times(formats().size())) {
  FilterHarness filter;
  const FormatSpec& format = start(filter, index, 35, 21);
  const Picture picture(format, 35, 21);
  GstVideoInfo info;
  gst_video_info_set_format(&info, gst_video_format_from_string(format.name), 35, 21);
  for (gsize size : {info.size / 2, gsize{1}, gsize{0}}) {
    GstBuffer* buffer = to_buffer(picture);
    gst_buffer_set_size(buffer, static_cast<gssize>(size));
    expect_error(filter, buffer, format, 35, 21, std::to_string(size) + " bytes");
    expect_words(filter.messages().text(GST_MESSAGE_ERROR),
                 {"its caps (", "usually", "a parser or appsrc"});
  }
}

// A short buffer must not be pushed even unchanged: the next element would read beyond its end.
TEST(test_short_buffer_unchanged, .for_each_element().times(formats().size())) {
  FilterHarness filter{tested().idle};
  accept_video_meta(filter);
  const FormatSpec& format = start(filter, index, 35, 20);
  const Picture picture(format, 35, 20);
  for (bool meta : {false, true}) {
    Layout layout;
    layout.meta = meta;
    const Owned<GstBuffer> whole(to_buffer(picture, layout));
    const gsize size = gst_buffer_get_size(whole);
    const Owned<GstBuffer> out = filter.process(gst_buffer_ref(whole));
    fail_unless(out.get() == whole.get(), "%s: the frame was copied", format.name);
    // Removes more than the padding of a row (up to 3 bytes). The height is even, because I422_10LE
    // has an unused row at odd heights.
    for (gsize missing : {gsize{4}, size / 2, size - 1, size}) {
      GstBuffer* buffer = to_buffer(picture, layout);
      gst_buffer_set_size(buffer, static_cast<gssize>(size - missing));
      expect_error(filter, buffer, format, 35, 20, std::to_string(missing) + " bytes missing",
                   true);
    }
  }
}

// The strides and offsets of the GstVideoMeta exceed the memory, by as little as one byte.
TEST(test_short_buffer_with_meta, .for_each_element().times(formats().size())) {
  FilterHarness filter;
  const FormatSpec& format = start(filter, index, 35, 21);
  const Picture picture(format, 35, 21);
  Layout layout;
  layout.meta = true;
  layout.first = 5;
  GstBuffer* exact = to_buffer(picture, layout);
  const gssize size = static_cast<gssize>(gst_buffer_get_size(exact));
  filter.expect(exact, result(picture), "just large enough");

  for (gssize missing : {gssize{1}, size / 2}) {
    GstBuffer* buffer = to_buffer(picture, layout);
    gst_buffer_set_size(buffer, size - missing);
    expect_error(filter, buffer, format, 35, 21, std::to_string(missing) + " bytes missing");
  }
  for (std::size_t plane = 0; plane < format.planes.size(); ++plane) {
    GstBuffer* buffer = to_buffer(picture, layout);
    meta_of(buffer)->offset[plane] = static_cast<gsize>(size) + 1000;
    expect_error(filter, buffer, format, 35, 21, "offset outside");
    buffer = to_buffer(picture, layout);
    meta_of(buffer)->stride[plane] = 1 << 28;
    expect_error(filter, buffer, format, 35, 21, "stride outside");
    expect_words(filter.messages().text(GST_MESSAGE_ERROR),
                 {"its GstVideoMeta (", "stride " + std::to_string(1 << 28) + " at offset",
                  "correct the GstVideoMeta"});
    buffer = to_buffer(picture, layout);
    meta_of(buffer)->offset[plane] = G_MAXSIZE - 3;
    expect_error(filter, buffer, format, 35, 21, "offset that wraps around");
  }
}

TEST(test_meta_contradicts_caps, .for_each_element().times(formats().size())) {
  FilterHarness filter;
  const FormatSpec& format = start(filter, index, 34, 20);
  const Picture picture(format, 34, 20);
  GstBuffer* buffer = to_buffer(picture, padded_layout);
  meta_of(buffer)->width = 33;
  expect_error(filter, buffer, format, 34, 20, "smaller width");
  buffer = to_buffer(picture, padded_layout);
  meta_of(buffer)->height = 19;
  expect_error(filter, buffer, format, 34, 20, "smaller height");
  // The last three values are not formats.
  for (int other : {static_cast<int>(GST_VIDEO_FORMAT_AYUV64),
                    static_cast<int>(GST_VIDEO_FORMAT_UNKNOWN), 9999, -1}) {
    buffer = to_buffer(picture, padded_layout);
    meta_of(buffer)->format = static_cast<GstVideoFormat>(other);
    expect_error(filter, buffer, format, 34, 20, "format " + std::to_string(other));
  }
  buffer = to_buffer(picture, padded_layout);
  meta_of(buffer)->n_planes = 0;
  expect_error(filter, buffer, format, 34, 20, "no planes");
}

// If a plane spans several GstMemory blocks, the output is right or an error is posted.
TEST(test_memory_boundaries_inside_planes, .for_each_element().times(formats().size())) {
  FilterHarness filter;
  const FormatSpec& format = start(filter, index, 34, 20);
  const Picture picture = make_picture(format, 34, 20, Content::natural, 5);
  for (const Layout& layout : {packed_layout, padded_layout}) {
    const Owned<GstBuffer> whole(to_buffer(picture, layout));
    const gsize size = gst_buffer_get_size(whole);
    GstBuffer* pieces = gst_buffer_new();
    if (GstVideoMeta* meta = meta_of(whole))
      gst_buffer_add_video_meta_full(pieces, meta->flags, meta->format, meta->width, meta->height,
                                     meta->n_planes, meta->offset, meta->stride);
    for (gsize at = 0; at < size; at += 97) {
      const gsize length = MIN(gsize{97}, size - at);
      gpointer bytes = g_malloc(length);
      gst_buffer_extract(whole, at, bytes, length);
      gst_buffer_append_memory(pieces, gst_memory_new_wrapped(GST_MEMORY_FLAG_READONLY, bytes,
                                                              length, 0, length, bytes, g_free));
    }
    if (filter.push(pieces) == GST_FLOW_OK) {
      const Owned<GstBuffer> out = filter.pull();
      fail_unless(out != nullptr);
      expect_picture(from_buffer(out, format, 34, 20), result(picture), "in pieces");
    } else {
      fail_unless_equals_int(filter.messages().count(GST_MESSAGE_ERROR), 1);
      filter.messages().clear();
    }
  }
}

TEST(test_unmappable_input, .for_each_element().times(formats().size())) {
  FilterHarness filter;
  const FormatSpec& format = start(filter, index, 34, 20);
  const Owned<GstAllocator> allocator = new_unmappable_allocator();
  for (bool with_meta : {false, true}) {
    const Owned<GstBuffer> model(to_buffer(Picture(format, 34, 20)));
    GstBuffer* buffer = gst_buffer_new_allocate(allocator, gst_buffer_get_size(model), nullptr);
    if (with_meta)
      gst_buffer_add_video_meta(buffer, GST_VIDEO_FRAME_FLAG_NONE,
                                gst_video_format_from_string(format.name), 34, 20);
    expect_error(filter, buffer, format, 34, 20, "memory that cannot be mapped");
  }
}

// If a frame fails while another thread stops the element, upstream gets FLUSHING, not an error.
TEST(test_failure_beside_stop, .for_each_element().times(2)) {
  for (GstState low : {GST_STATE_READY, GST_STATE_NULL}) {
    FilterHarness filter{{"frames-in-flight", index == 0 ? "1" : "3"}};
    const FormatSpec& format = start(filter, 0, 34, 20);
    const Owned<GstPad> src = pad_of(filter.element(), "src");
    const Owned<GstAllocator> allocator = new_unmappable_allocator();
    std::thread stopper;
    on_unmappable = [&] {
      stopper = std::thread([&] { gst_element_set_state(filter.element(), low); });
      wait_until([&] { return GST_PAD_IS_FLUSHING(src.get()); }, "the stop");
    };
    const Owned<GstBuffer> model(to_buffer(Picture(format, 34, 20)));
    fail_unless_equals_int(
        filter.push(gst_buffer_new_allocate(allocator, gst_buffer_get_size(model), nullptr)),
        GST_FLOW_FLUSHING);
    fail_unless(stopper.joinable());
    stopper.join();
  }
}

TEST(test_unmappable_output, .for_each_element()) {
  FilterHarness filter;
  gst_harness_set_propose_allocator(filter.harness(), new_unmappable_allocator().release(),
                                    nullptr);
  const FormatSpec& format = format_named("NV12");
  filter.accept_caps(format, 34, 20, colorimetry(format, false));
  const Picture picture = make_picture(format, 34, 20, Content::natural, 5);
  if (filter.push(to_buffer(picture)) == GST_FLOW_OK) {  // the element may use its own memory
    const Owned<GstBuffer> out = filter.pull();
    expect_picture(from_buffer(out, format, 34, 20), result(picture), "own memory");
  } else {
    fail_unless(filter.messages().count(GST_MESSAGE_ERROR) >= 1);
  }
}

TEST(test_read_only_input, .for_each_element().times(formats().size())) {
  FilterHarness filter;
  const FormatSpec& format = start(filter, index, 34, 20);
  const Picture picture = make_picture(format, 34, 20, Content::natural, 5);
  GstBuffer* buffer = to_buffer(picture, padded_layout);
  for (guint i = 0; i < gst_buffer_n_memory(buffer); ++i)
    GST_MINI_OBJECT_FLAG_SET(gst_buffer_peek_memory(buffer, i), GST_MEMORY_FLAG_READONLY);
  filter.expect(buffer, result(picture), "read-only");
}

// Messages quote property values, but must be UTF-8 even if a value is not.
TEST(test_messages_are_utf8, .for_each_element()) {
  FilterHarness filter;
  g_object_set(filter.element(), "regions", "caf\xe9", nullptr);
  filter.send_caps(caps_of(format_named("I420"), 32, 16));
  const std::string text = filter.messages().text(GST_MESSAGE_ERROR);
  expect_words(text, {"regions: \"caf", "is not a rectangle"});
  fail_unless(g_utf8_validate(text.c_str(), -1, nullptr), "%s", text.c_str());
}

TEST(test_auto_without_gpu, .for_each_element().unless(unless_without_gpu())) {
  expect_backend("auto", "cpu", 1);
}

TEST(test_auto_with_gpu,
     .for_each_element().unless(unless_testing_cuda()).unless(unless_with_gpu())) {
  expect_backend("auto", "cuda", 0);
}

TEST(test_cpu_never_warns, .for_each_element()) {
  expect_backend("cpu", "cpu", 0);
}
