// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The elements whose calls fail, with their input and expected output.

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "tests/check/common/faults/faults.h"
#include "tests/check/common/filterharness.h"
#include "tests/check/common/stereoharness.h"

namespace check {

using Outputs = std::vector<Owned<GstBuffer>>;

/// An element that can be started and stopped repeatedly.
class Subject {
 public:
  /// From the construction on, allocations of the plug-in are counted.
  Subject() {
    const Owned<GstPlugin> plugin(gst_plugin_load_by_name("cudavision"));
    find_plugin_code();
  }
  virtual ~Subject() = default;
  virtual GstElement* element() const = 0;
  virtual MessageLog& messages() = 0;
  /// Starts the element and feeds it until the last output or an error. Returns the outputs.
  virtual Outputs play() = 0;
  virtual std::size_t frames() const = 0;
  virtual void expect_right(const Outputs& outputs, const std::string& what) = 0;
  /// The element's own remedy in errors about memory. Errors also mention "smaller frames".
  virtual std::string advice() const = 0;

  bool start() {
    share_cuda_context(element());
    return gst_element_set_state(element(), GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE;
  }
  bool failed() { return messages().count(GST_MESSAGE_ERROR) > 0; }
};

enum class Memory {
  system,
  recurring,  ///< the same system memory for all frames, so that it is page-locked
  cuda,       ///< CUDA memory for the output; the input is in system memory
};

class FilterSubject final : public Subject {
 public:
  FilterSubject(const char* format, int frames_in_flight, Memory memory = Memory::system)
      : FilterSubject(tested().element, joined(tested().always, tested().everything), format,
                      tested().memory_advice, frames_in_flight,
                      memory == Memory::recurring ? Size{352, 256} : small) {
    if (memory == Memory::cuda)
      filter_.accept_downstream("video/x-raw(memory:CUDAMemory)");
    if (memory == Memory::recurring)
      recurring_ = in_whole_pages(picture_);
    expected_ = result(picture_);
  }
  FilterSubject(const char* factory, const Properties& properties, const char* format,
                const char* advice, int frames_in_flight = 1, Size size = small)
      : filter_(factory, properties),
        frames_in_flight_(frames_in_flight),
        advice_(advice),
        picture_(make_picture(format_named(format), size.width, size.height, Content::natural, 2)) {
    gst_element_set_state(element(), GST_STATE_NULL);
    filter_.set("frames-in-flight", std::to_string(frames_in_flight));
    messages().on_message([this](GstMessage* message) {
      if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR)
        outputs_at_error_ = gst_harness_buffers_in_queue(filter_.harness());
    });
  }

  GstElement* element() const override { return filter_.element(); }
  MessageLog& messages() override { return filter_.messages(); }
  std::size_t frames() const override { return static_cast<std::size_t>(frames_in_flight_) + 2; }
  std::string advice() const override { return advice_; }

  Outputs play() override {
    Outputs outputs;
    failed_while_playing_ = false;
    if (!start())
      return outputs;
    gst_pad_push_event(filter_.source_pad(), gst_event_new_stream_start("again"));
    const FormatSpec& format = *picture_.format;
    if (!filter_.send_caps(
            caps_of(format, picture_.width, picture_.height, colorimetry(format, false))))
      return outputs;
    GstFlowReturn flow = GST_FLOW_OK;
    for (std::size_t i = 0; i < frames() && flow == GST_FLOW_OK && !failed(); ++i)
      flow = filter_.push(at(i * 40 * ms, next_frame()));
    filter_.send_eos();
    failed_while_playing_ = failed();
    while (Owned<GstBuffer> out = filter_.pull())
      outputs.push_back(std::move(out));
    return outputs;
  }

  /// The frames before an error must be pushed before the error is posted. No frame may follow it.
  void expect_right(const Outputs& outputs, const std::string& what) override {
    if (failed_while_playing_)
      fail_unless(outputs.size() == outputs_at_error_, "%s: %d outputs, %d before the error",
                  what.c_str(), static_cast<int>(outputs.size()),
                  static_cast<int>(outputs_at_error_));
    GstClockTime next = 0;
    for (const Owned<GstBuffer>& out : outputs) {
      fail_unless_equals_uint64(GST_BUFFER_PTS(out.get()), next);
      next += 40 * ms;
      if (expected_) {
        expect_picture(from_buffer(out, *picture_.format, picture_.width, picture_.height),
                       *expected_, what);
        continue;
      }
      if (first_.empty())
        first_ = bytes_of(out);
      fail_unless(bytes_of(out) == first_, "%s: the output changed", what.c_str());
    }
  }

 private:
  static constexpr Size small{44, 28};

  // Memory can be page-locked only if no other data shares its pages.
  static Owned<GstBuffer> in_whole_pages(const Picture& picture) {
    const std::vector<std::uint8_t> bytes = bytes_of(Owned<GstBuffer>(to_buffer(picture)).get());
    GstAllocationParams params;
    gst_allocation_params_init(&params);
    params.align = 4095;
    Owned<GstBuffer> buffer(gst_buffer_new_allocate(nullptr, bytes.size(), &params));
    gst_buffer_fill(buffer, 0, bytes.data(), bytes.size());
    return buffer;
  }

  GstBuffer* next_frame() const {
    return recurring_ ? gst_buffer_copy(recurring_) : to_buffer(picture_);
  }

  FilterHarness filter_;
  const int frames_in_flight_;
  std::atomic<std::size_t> outputs_at_error_{0};
  bool failed_while_playing_ = false;
  const std::string advice_;
  const Picture picture_;
  Owned<GstBuffer> recurring_;
  std::optional<Picture> expected_;
  std::vector<std::uint8_t> first_;
};

class StereoSubject final : public Subject {
 public:
  explicit StereoSubject(const Properties& properties)
      : stereo_(properties), confidence_(stereo_.open("confidence")) {
    gst_element_set_state(element(), GST_STATE_NULL);
    expected_ = bytes_of(play().at(0));
    gst_element_set_state(element(), GST_STATE_NULL);
  }

  GstElement* element() const override { return stereo_.element(); }
  MessageLog& messages() override { return stereo_.messages(); }
  std::string advice() const override { return "num-disparities or, on CUDA, memory-budget"; }
  std::size_t frames() const override { return 3; }

  Outputs play() override {
    Outputs outputs;
    if (!start())
      return outputs;
    for (GstHarness* harness : stereo_.harnesses()) {
      gst_pad_push_event(harness->srcpad, gst_event_new_stream_start("again"));
      if (!stereo_.send_caps(harness, caps_of(format_named("GRAY8"), 32, 16)))
        return outputs;
    }
    for (std::size_t i = 0; i < frames() && !failed(); ++i) {
      for (GstHarness* harness : stereo_.harnesses())
        gst_harness_push(harness, small_frame({0}));
      wait_until([&] { return failed() || gst_harness_buffers_in_queue(stereo_.left()) > 0; },
                 "a map or an error");
      if (Owned<GstBuffer> map{gst_harness_try_pull(stereo_.left())})
        outputs.push_back(std::move(map));
      wait_until([&] { return failed() || gst_harness_buffers_in_queue(confidence_) > 0; },
                 "confidences or an error");
      Owned<GstBuffer>{gst_harness_try_pull(confidence_)};
    }
    return outputs;
  }

  void expect_right(const Outputs& outputs, const std::string& what) override {
    for (const Owned<GstBuffer>& out : outputs)
      fail_unless(bytes_of(out) == expected_, "%s: the map changed", what.c_str());
  }

 private:
  StereoHarness stereo_;
  GstHarness* const confidence_;
  std::vector<std::uint8_t> expected_;
};

}  // namespace check
