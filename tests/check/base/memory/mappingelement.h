// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>

#include "gst/memory/framemapper.h"
#include "tests/check/common/fakes/fakedevice.h"
#include "tests/check/common/fakes/fakelibgstcuda.h"
#include "tests/check/common/owned.h"
#include "tests/check/common/testcase.h"

namespace check {

using namespace cudavision;

// A frame fills 36 pages. TBB's threads would copy larger frames and confuse ThreadSanitizer.
constexpr int width = 512, height = 288;
constexpr std::size_t frame_bytes = std::size_t{width} * height;
constexpr gsize page_alignment = 4095;

// Created once, because ThreadSanitizer does not see the GLib lock that guards caps parsing.
inline const FrameFormat& gray_format() {
  static const FrameFormat format = [] {
    const Caps caps(
        gst_caps_from_string("video/x-raw, format=GRAY8, width=512, height=288, framerate=25/1"));
    return frame_format_from_caps(caps.get());
  }();
  return format;
}

/// Makes a frame. By default, the frame fills whole pages, so that all of it can be page-locked.
inline GstBuffer* new_frame(gsize alignment = page_alignment, gsize bytes = frame_bytes) {
  GstAllocationParams params;
  gst_allocation_params_init(&params);
  params.align = alignment;
  return gst_buffer_new_allocate(nullptr, bytes, &params);
}

class MappingElement {
 public:
  explicit MappingElement(const CudaContext& context,
                          std::size_t max_bytes = PageLocks::quarter_of_physical_memory())
      : context_(context) {
    const CudaScope scope(context_);
    locks_.emplace(device_, context_, max_bytes);
    input_.emplace(FrameQueues(device_), context_, &*locks_, gray_format(), GST_MAP_READ);
    output_.emplace(FrameQueues(device_), context_, &*locks_, gray_format(), GST_MAP_WRITE);
  }
  ~MappingElement() { stop(); }

  void stop() {
    const CudaScope scope(context_);
    input_.reset();
    output_.reset();
    locks_.reset();
  }

  /// Fills a frame with a new value, reads it, and expects the value on the device.
  void read(GstBuffer* buffer) {
    gst_buffer_memset(buffer, 0, ++value_, frame_bytes);
    read_what_is_there(buffer, value_);
  }
  void read_what_is_there(GstBuffer* buffer, guint8 value) {
    const CudaScope scope(context_);
    input_->map(buffer);
    fail_unless(all_are(input_->frame().planes[0], value), "wrong samples");
    input_->end();
    input_->complete();
    input_->unmap();
  }

  void write(GstBuffer* buffer) {
    {
      const CudaScope scope(context_);
      output_->map(buffer);
      device_.fill(output_->frame().planes[0], ++value_);
      output_->end();
      output_->complete();
      output_->unmap();
    }
    GstMapInfo map;
    fail_unless(gst_buffer_map(buffer, &map, GST_MAP_READ));
    fail_unless(all_are({map.data, width, height, width}, value_), "wrong samples");
    gst_buffer_unmap(buffer, &map);
  }

 private:
  const CudaContext context_;
  FakeDevice device_;
  std::optional<PageLocks> locks_;
  std::optional<FrameMapper> input_, output_;
  guint8 value_ = 0;
};

}  // namespace check
