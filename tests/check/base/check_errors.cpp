// SPDX-License-Identifier: LGPL-2.1-or-later
// Bad input: each kind ends in one element error that says what is wrong, and the next good frame
// is processed as if nothing had been.
#include <gst/video/video.h>

#include "tests/check/common/filterharness.h"

namespace {

// Memory that nobody can map, as protected or vanished device memory would be.
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

GstAllocator* new_unmappable_allocator() {
  auto* allocator =
      static_cast<GstAllocator*>(g_object_new(unmappable_allocator_get_type(), nullptr));
  gst_object_ref_sink(allocator);
  return allocator;
}

using namespace check;

/// The frame is refused with an error, and a good one behind it comes out right.
void expect_error(FilterHarness& filter, GstBuffer* bad, const FormatSpec& format, int width,
                  int height, const std::string& what) {
  filter.messages().clear();
  const GstFlowReturn flow = filter.push(bad);
  fail_unless(flow == GST_FLOW_ERROR, "%s %s: flow %s", format.name, what.c_str(),
              gst_flow_get_name(flow));
  fail_unless(filter.messages().count(GST_MESSAGE_ERROR) == 1, "%s %s: %d errors", format.name,
              what.c_str(), filter.messages().count(GST_MESSAGE_ERROR));
  fail_unless(filter.messages().text(GST_MESSAGE_ERROR).size() > 20, "%s: says only: %s",
              what.c_str(), filter.messages().text(GST_MESSAGE_ERROR).c_str());
  fail_unless(filter.pull() == nullptr, "%s %s: a frame came out", format.name, what.c_str());
  const Picture picture = make_picture(format, width, height, Content::natural, 1);
  expect_picture(filter.process(picture), result(picture), "after: " + what);
}

const FormatSpec& start(FilterHarness& filter, int format_number, int width, int height) {
  const FormatSpec& format = formats()[static_cast<std::size_t>(format_number)];
  filter.accept_caps(format, width, height, colorimetry(format, false));
  return format;
}

GstVideoMeta* meta_of(GstBuffer* buffer) {
  return gst_buffer_get_video_meta(buffer);
}

}  // namespace

GST_START_TEST(test_short_buffer) {
  FilterHarness filter;
  const FormatSpec& format = start(filter, __i__, 35, 21);
  const Picture picture(format, 35, 21);
  GstVideoInfo info;
  gst_video_info_set_format(&info, gst_video_format_from_string(format.name), 35, 21);
  for (gsize size : {info.size / 2, gsize{1}, gsize{0}}) {
    GstBuffer* buffer = to_buffer(picture);
    gst_buffer_set_size(buffer, static_cast<gssize>(size));
    expect_error(filter, buffer, format, 35, 21, std::to_string(size) + " bytes");
  }
}
GST_END_TEST

// The frame's own strides and offsets lead outside its memory, if only by one byte.
GST_START_TEST(test_short_buffer_with_meta) {
  FilterHarness filter;
  const FormatSpec& format = start(filter, __i__, 35, 21);
  const Picture picture(format, 35, 21);
  Layout layout;
  layout.meta = true;
  layout.first = 5;
  GstBuffer* exact = to_buffer(picture, layout);
  const gssize size = static_cast<gssize>(gst_buffer_get_size(exact));
  GstBuffer* out = filter.process(exact);
  expect_picture(from_buffer(out, format, 35, 21), result(picture), "just large enough");
  gst_buffer_unref(out);

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
    buffer = to_buffer(picture, layout);
    meta_of(buffer)->offset[plane] = G_MAXSIZE - 3;
    expect_error(filter, buffer, format, 35, 21, "offset that wraps around");
  }
}
GST_END_TEST

GST_START_TEST(test_meta_contradicts_caps) {
  FilterHarness filter;
  const FormatSpec& format = start(filter, __i__, 34, 20);
  const Picture picture(format, 34, 20);
  GstBuffer* buffer = to_buffer(picture, padded_layout);
  meta_of(buffer)->width = 33;
  expect_error(filter, buffer, format, 34, 20, "less width");
  buffer = to_buffer(picture, padded_layout);
  meta_of(buffer)->height = 19;
  expect_error(filter, buffer, format, 34, 20, "less height");
  buffer = to_buffer(picture, padded_layout);
  meta_of(buffer)->format = GST_VIDEO_FORMAT_AYUV64;
  expect_error(filter, buffer, format, 34, 20, "another format");
  buffer = to_buffer(picture, padded_layout);
  meta_of(buffer)->n_planes = 0;
  expect_error(filter, buffer, format, 34, 20, "no planes");
}
GST_END_TEST

// Memory boundaries inside a plane: right or refused, never read past a boundary.
GST_START_TEST(test_memory_boundaries_inside_planes) {
  FilterHarness filter;
  const FormatSpec& format = start(filter, __i__, 34, 20);
  const Picture picture = make_picture(format, 34, 20, Content::natural, 5);
  for (const Layout& layout : {packed_layout, padded_layout}) {
    GstBuffer* whole = to_buffer(picture, layout);
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
    gst_buffer_unref(whole);
    if (filter.push(pieces) == GST_FLOW_OK) {
      GstBuffer* out = filter.pull();
      fail_unless(out != nullptr);
      expect_picture(from_buffer(out, format, 34, 20), result(picture), "in pieces");
      gst_buffer_unref(out);
    } else {
      fail_unless_equals_int(filter.messages().count(GST_MESSAGE_ERROR), 1);
      filter.messages().clear();
    }
  }
}
GST_END_TEST

GST_START_TEST(test_unmappable_input) {
  FilterHarness filter;
  const FormatSpec& format = start(filter, __i__, 34, 20);
  GstAllocator* allocator = new_unmappable_allocator();
  for (bool with_meta : {false, true}) {
    GstBuffer* model = to_buffer(Picture(format, 34, 20));
    GstBuffer* buffer = gst_buffer_new_allocate(allocator, gst_buffer_get_size(model), nullptr);
    gst_buffer_unref(model);
    if (with_meta)
      gst_buffer_add_video_meta(buffer, GST_VIDEO_FRAME_FLAG_NONE,
                                gst_video_format_from_string(format.name), 34, 20);
    expect_error(filter, buffer, format, 34, 20, "memory that cannot be mapped");
  }
  gst_object_unref(allocator);
}
GST_END_TEST

// Downstream proposes an allocator whose memory the element cannot write to.
GST_START_TEST(test_unmappable_output) {
  FilterHarness filter;
  GstAllocator* allocator = new_unmappable_allocator();
  gst_harness_set_propose_allocator(filter.harness(), allocator, nullptr);
  const FormatSpec& format = format_named("NV12");
  filter.accept_caps(format, 34, 20, colorimetry(format, false));
  const Picture picture = make_picture(format, 34, 20, Content::natural, 5);
  if (filter.push(to_buffer(picture)) == GST_FLOW_OK) {  // it may well prefer memory of its own
    GstBuffer* out = filter.pull();
    expect_picture(from_buffer(out, format, 34, 20), result(picture), "own memory");
    gst_buffer_unref(out);
  } else {
    fail_unless(filter.messages().count(GST_MESSAGE_ERROR) >= 1);
  }
}
GST_END_TEST

GST_START_TEST(test_read_only_input) {
  FilterHarness filter;
  const FormatSpec& format = start(filter, __i__, 34, 20);
  const Picture picture = make_picture(format, 34, 20, Content::natural, 5);
  GstBuffer* buffer = to_buffer(picture, padded_layout);
  for (guint i = 0; i < gst_buffer_n_memory(buffer); ++i)
    GST_MINI_OBJECT_FLAG_SET(gst_buffer_peek_memory(buffer, i), GST_MEMORY_FLAG_READONLY);
  GstBuffer* out = filter.process(buffer);
  expect_picture(from_buffer(out, format, 34, 20), result(picture), "read-only");
  gst_buffer_unref(out);
}
GST_END_TEST

// backend=cuda where no GPU can be used: one sentence with the way out, and nothing is started.
GST_START_TEST(test_cuda_without_gpu) {
  GstElement* element = make_subject({{"backend", "cuda"}});
  MessageLog messages;
  gst_element_set_bus(element, messages.bus());
  fail_unless_equals_int(gst_element_set_state(element, GST_STATE_READY), GST_STATE_CHANGE_FAILURE);
  fail_unless_equals_int(messages.count(GST_MESSAGE_ERROR), 1);
  const std::string text = messages.text(GST_MESSAGE_ERROR);
  fail_unless(text.find("backend=cpu") != std::string::npos ||
                  text.find("backend=auto") != std::string::npos,
              "names no remedy: %s", text.c_str());
  for (GstMessage* message : messages.take(GST_MESSAGE_ERROR)) {
    GError* error = nullptr;
    gst_message_parse_error(message, &error, nullptr);
    fail_unless(g_error_matches(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND), "%s",
                error->message);
    g_error_free(error);
    gst_message_unref(message);
  }
  // The way out works on the very same element.
  gst_util_set_object_arg(G_OBJECT(element), "backend", "cpu");
  fail_unless_equals_int(gst_element_set_state(element, GST_STATE_READY), GST_STATE_CHANGE_SUCCESS);
  gst_element_set_state(element, GST_STATE_NULL);
  gst_element_set_bus(element, nullptr);
  gst_object_unref(element);
}
GST_END_TEST

GST_START_TEST(test_auto_without_gpu) {
  FilterHarness filter{{"backend", "auto"}};
  gint active = 0;
  for (const char* name : {"GRAY8", "NV12", "RGBA", "P010_10LE"}) {
    const FormatSpec& format = format_named(name);
    filter.accept_caps(format, 45, 31, colorimetry(format, false));
    const Picture picture = make_picture(format, 45, 31, Content::natural, 1);
    expect_picture(filter.process(picture), result(picture), "backend=auto");
  }
  fail_unless_equals_int(filter.messages().count(GST_MESSAGE_WARNING), 1);
  fail_unless_equals_int(filter.messages().count(GST_MESSAGE_ERROR), 0);
  g_object_get(filter.element(), "active-backend", &active, nullptr);
  GParamSpec* spec =
      g_object_class_find_property(G_OBJECT_GET_CLASS(filter.element()), "active-backend");
  fail_unless_equals_string(
      g_enum_get_value(G_PARAM_SPEC_ENUM(spec)->enum_class, active)->value_nick, "cpu");
}
GST_END_TEST

GST_START_TEST(test_auto_with_gpu) {
  FilterHarness filter{{"backend", "auto"}};
  const FormatSpec& format = format_named("NV12");
  filter.accept_caps(format, 45, 31, colorimetry(format, false));
  const Picture picture = make_picture(format, 45, 31, Content::natural, 1);
  expect_picture(filter.process(picture), result(picture), "backend=auto");
  fail_unless_equals_int(filter.messages().count(GST_MESSAGE_WARNING), 0);
  gint active = 0;
  g_object_get(filter.element(), "active-backend", &active, nullptr);
  GParamSpec* spec =
      g_object_class_find_property(G_OBJECT_GET_CLASS(filter.element()), "active-backend");
  fail_unless_equals_string(
      g_enum_get_value(G_PARAM_SPEC_ENUM(spec)->enum_class, active)->value_nick, "cuda");
}
GST_END_TEST

GST_START_TEST(test_no_such_card) {
  GstElement* element = make_subject({{"backend", "cuda"}, {"cuda-device-id", "4095"}});
  MessageLog messages;
  gst_element_set_bus(element, messages.bus());
  fail_unless_equals_int(gst_element_set_state(element, GST_STATE_READY), GST_STATE_CHANGE_FAILURE);
  fail_unless_equals_int(messages.count(GST_MESSAGE_ERROR), 1);
  gst_element_set_state(element, GST_STATE_NULL);
  gst_element_set_bus(element, nullptr);
  gst_object_unref(element);
}
GST_END_TEST

GST_START_TEST(test_cpu_never_warns) {
  FilterHarness filter{{"backend", "cpu"}};
  const FormatSpec& format = format_named("I420");
  filter.accept_caps(format, 45, 31, colorimetry(format, false));
  const Picture picture = make_picture(format, 45, 31, Content::natural, 1);
  expect_picture(filter.process(picture), result(picture), "backend=cpu");
  fail_unless_equals_int(
      filter.messages().count(static_cast<GstMessageType>(GST_MESSAGE_WARNING | GST_MESSAGE_ERROR)),
      0);
}
GST_END_TEST

static Suite* check_errors_suite() {
  Suite* suite = suite_create("errors");
  const int count = static_cast<int>(formats().size());
  for_each_subject(suite, "input", [&](TCase* input) {
    tcase_add_loop_test(input, test_short_buffer, 0, count);
    tcase_add_loop_test(input, test_short_buffer_with_meta, 0, count);
    tcase_add_loop_test(input, test_meta_contradicts_caps, 0, count);
    tcase_add_loop_test(input, test_memory_boundaries_inside_planes, 0, count);
    tcase_add_loop_test(input, test_unmappable_input, 0, count);
    tcase_add_test(input, test_unmappable_output);
    tcase_add_loop_test(input, test_read_only_input, 0, count);
  });
  for_each_subject(suite, "device", [&](TCase* device) {
    ADD_TEST_UNLESS(device, test_cuda_without_gpu, unless_without_gpu());
    ADD_TEST_UNLESS(device, test_auto_without_gpu, unless_without_gpu());
    ADD_TEST_UNLESS(device, test_auto_with_gpu,
                    testing_cuda() ? unless_with_gpu() : unless_testing_cuda());
    ADD_TEST_UNLESS(device, test_no_such_card,
                    testing_cuda() ? unless_with_gpu() : unless_testing_cuda());
    tcase_add_test(device, test_cpu_never_warns);
  });
  return suite;
}

GST_CHECK_MAIN(check_errors)
