// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/flight/framelanes.h"

#include <algorithm>
#include <utility>

#include "cuda/core/notify.h"
#include "gst/core/scoped.h"
#include "gst/memory/releasescope.h"

namespace cudavision {

struct FrameLane {
  explicit FrameLane(FrameLanes& all) : lanes(all) {}

  template <class Visit>
  void for_each_mapped(Visit visit) {
    for (auto& output : outputs)
      if (output)
        visit(*output);
    for (auto& input : inputs)
      if (input)
        visit(*input);
  }
  // The device works in order, so when an output is complete, all inputs have been read. Without an
  // output, the end of one input is the end of all.
  template <class Visit>
  void for_each_completion(Visit visit) {
    bool any_output = false;
    for (auto& output : outputs) {
      if (!output)
        continue;
      any_output = true;
      visit(*output);
    }
    if (!any_output)
      visit(*inputs[0]);
  }

  FrameLanes& lanes;
  // Each carries one frame at a time.
  std::array<std::optional<FrameMapper>, max_inputs> in;
  std::array<std::optional<FrameMapper>, max_outputs> out;

  // The frame that is there. It holds its buffers.
  std::array<std::optional<FrameMapper::Input>, max_inputs> inputs;
  std::array<std::optional<FrameMapper::Output>, max_outputs> outputs;
  bool in_stream_order = false;  ///< it has ended so
};

// Whoever gets a buffer back may do anything, so that comes last: the lane is free by then, and no
// context is current.
void FreeLane::operator()(FrameLane* lane) const noexcept {
  std::array<OwnedBuffer, max_inputs + max_outputs> buffers;
  std::size_t count = 0;
  lane->for_each_mapped(
      [&](auto& mapped) { buffers[count++].reset(gst_buffer_ref(mapped.buffer())); });
  FrameLanes& lanes = lane->lanes;
  {
    const ReleaseScope scope(lanes.context_);
    for (auto& output : lane->outputs)
      output.reset();
    for (auto& input : lane->inputs)
      input.reset();
  }
  lanes.take_back(lane);
}

FrameLanes::FrameLanes(const FrameQueues& queues, CudaContext context, PageLocks* page_locks,
                       std::size_t count)
    : queues_(queues), context_(std::move(context)), page_locks_(page_locks) {
  for (std::size_t i = 0; i < count; ++i)
    lanes_.push_back(std::make_unique<FrameLane>(*this));
  for (const auto& lane : lanes_)
    free_.push_back(lane.get());
}

FrameLanes::~FrameLanes() {
  std::unique_lock lock(mutex_);
  freed_.wait(lock, [this] { return free_.size() == lanes_.size(); });
}

OccupiedLane FrameLanes::take_lane() {
  std::unique_lock lock(mutex_);
  freed_.wait(lock, [this] { return !free_.empty(); });
  OccupiedLane lane(free_.front());
  free_.erase(free_.begin());
  return lane;
}

// There is room for all lanes, so this cannot throw.
void FrameLanes::take_back(FrameLane* lane) noexcept {
  const std::lock_guard lock(mutex_);
  free_.push_back(lane);
  freed_.notify_all();
}

void FrameLanes::set_input(std::size_t i, const FrameFormat& format) {
  for (const auto& lane : lanes_)
    lane->in[i].emplace(queues_, context_, page_locks_, format);
}

void FrameLanes::set_output(std::size_t i, const FrameFormat& format) {
  for (const auto& lane : lanes_)
    lane->out[i].emplace(queues_, context_, page_locks_, format);
}

void FrameLanes::clear_output(std::size_t i) {
  for (const auto& lane : lanes_)
    lane->out[i].reset();
}

const FrameFormat& FrameLanes::input_format(std::size_t i) const {
  return lanes_.front()->in[i]->format();
}

const FrameFormat& FrameLanes::output_format(std::size_t i) const {
  return lanes_.front()->out[i]->format();
}

MappedFrames FrameLanes::map(const InputFrames& in, const OutputFrames& out) {
  OccupiedLane lane = take_lane();
  for (std::size_t i = 0; i < in.size(); ++i)
    if (in[i])
      lane->inputs[i].emplace(*lane->in[i], in[i]);
  for (std::size_t i = 0; i < out.size(); ++i)
    if (out[i])
      lane->outputs[i].emplace(*lane->out[i], out[i]);
  return MappedFrames(std::move(lane));
}

void FrameLanes::finish() {
  if (!std::exchange(unfinished_, false))
    return;
  const CudaScope scope(context_);
  queues_.compute.finish();
}

Device& FrameLanes::notices() {
  if (!notices_) {
    SharedStream stream(context_);
    std::unique_ptr<Device> device = make_cuda_device(stream.handle());
    notices_.emplace(Notices{std::move(stream), std::move(device)});
  }
  return *notices_->device;
}

const ConstFrame& MappedFrames::input(std::size_t i) const {
  return lane_->inputs[i]->frame();
}

const ConstFrame& MappedFrames::stored_input(std::size_t i) const {
  return lane_->inputs[i]->stored();
}

const Frame* MappedFrames::output(std::size_t i) const {
  return lane_->outputs[i] ? &lane_->outputs[i]->frame() : nullptr;
}

DeviceWork MappedFrames::end(bool on_host) && {
  bool in_stream_order = !on_host;
  lane_->for_each_mapped(
      [&](auto& mapped) { in_stream_order = in_stream_order && mapped.is_stream_ordered(); });
  if (in_stream_order) {
    lane_->for_each_mapped([](auto& mapped) { mapped.end_in_stream_order(); });
    lane_->lanes.unfinished_ = true;
  } else {
    lane_->for_each_completion([](auto& mapped) { mapped.end(); });
  }
  lane_->in_stream_order = in_stream_order;
  return DeviceWork(std::move(lane_));
}

bool DeviceWork::is_in_stream_order() const noexcept {
  return lane_ && lane_->in_stream_order;
}

bool DeviceWork::done() noexcept {
  if (!lane_ || lane_->in_stream_order)
    return true;
  try {
    const CudaScope scope(lane_->lanes.context_);
    bool all = true;
    lane_->for_each_completion([&](auto& mapped) { all = all && mapped.completion().done(); });
    return all;
  } catch (const Error&) {
    return true;
  }
}

void DeviceWork::when_done(std::function<void()> call) {
  const CudaScope scope(lane_->lanes.context_);
  Device& notices = lane_->lanes.notices();
  lane_->for_each_completion([&](auto& mapped) { notices.wait_event(mapped.completion()); });
  notify_when_passed(notices, std::move(call));
}

void DeviceWork::complete() && {
  const OccupiedLane lane = std::move(lane_);
  if (!lane || lane->in_stream_order)
    return;
  const CudaScope scope(lane->lanes.context_);
  lane->for_each_completion([](auto& mapped) { mapped.complete(); });
  for (auto& input : lane->inputs)
    if (input)
      input->completed();
}

}  // namespace cudavision
