// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/flight/frameslotpool.h"

namespace cudavision {

struct FrameSlot {
  explicit FrameSlot(FrameSlotPool& owner) : pool(owner) {}

  std::optional<FrameMapper>& output(std::size_t i) { return mappers[i]; }
  std::optional<FrameMapper>& input(std::size_t i) { return mappers[max_outputs + i]; }

  template <class Visit>
  void for_each_mapped(Visit visit) {
    for (std::optional<FrameMapper>& mapper : mappers)
      if (mapper && mapper->is_mapped())
        visit(*mapper);
  }
  // The device works in order: when all outputs are complete, all inputs have been read. Inputs are
  // therefore visited only if there is no output.
  template <class Visit>
  void for_each_completion(Visit visit) {
    bool writes = false;
    for_each_mapped([&](FrameMapper& mapper) { writes |= mapper.writes(); });
    for_each_mapped([&](FrameMapper& mapper) {
      if (mapper.writes() == writes)
        visit(mapper);
    });
  }

  FrameSlotPool& pool;
  std::array<std::optional<FrameMapper>, max_outputs + max_inputs> mappers;
};

// Buffers are released last, without a current context, because a release may call the element.
void FreeSlot::operator()(FrameSlot* slot) const noexcept {
  std::array<OwnedBuffer, max_outputs + max_inputs> buffers;
  FrameSlotPool& pool = slot->pool;
  {
    const ReleaseScope scope(pool.context_);
    std::size_t count = 0;
    slot->for_each_mapped([&](FrameMapper& mapper) { buffers[count++] = mapper.unmap(); });
  }
  const std::lock_guard lock(pool.mutex_);
  pool.free_.push_back(slot);  // cannot throw: the constructor has allocated the capacity
  pool.freed_.notify_all();
}

FrameSlotPool::FrameSlotPool(const FrameQueues& queues, CudaContext context, PageLocks* page_locks,
                             std::size_t count)
    : queues_(queues), context_(std::move(context)), page_locks_(page_locks) {
  for (std::size_t i = 0; i < count; ++i)
    slots_.push_back(std::make_unique<FrameSlot>(*this));
  for (const auto& slot : slots_)
    free_.push_back(slot.get());
}

FrameSlotPool::~FrameSlotPool() {
  std::unique_lock lock(mutex_);
  freed_.wait(lock, [this] { return free_.size() == slots_.size(); });
}

void FrameSlotPool::set_input(std::size_t i, const FrameFormat& format) {
  for (const auto& slot : slots_)
    slot->input(i).emplace(queues_, context_, page_locks_, format, GST_MAP_READ);
}

void FrameSlotPool::set_output(std::size_t i, const FrameFormat& format) {
  for (const auto& slot : slots_)
    slot->output(i).emplace(queues_, context_, page_locks_, format, GST_MAP_WRITE);
}

void FrameSlotPool::clear_output(std::size_t i) {
  for (const auto& slot : slots_)
    slot->output(i).reset();
}

const FrameFormat& FrameSlotPool::input_format(std::size_t i) const {
  return slots_.front()->input(i)->format();
}

const FrameFormat& FrameSlotPool::output_format(std::size_t i) const {
  return slots_.front()->output(i)->format();
}

PendingGpuWork FrameSlotPool::map(const InputFrames& in, const OutputFrames& out) {
  std::unique_lock lock(mutex_);
  freed_.wait(lock, [this] { return !free_.empty(); });
  FrameSlot* const slot = free_.front();
  PendingGpuWork work(slot);
  free_.erase(free_.begin());
  lock.unlock();
  for (std::size_t i = 0; i < in.size(); ++i)
    if (in[i])
      slot->input(i)->map(in[i]);
  for (std::size_t i = 0; i < out.size(); ++i)
    if (out[i])
      slot->output(i)->map(out[i]);
  return work;
}

void FrameSlotPool::finish() {
  if (!std::exchange(unfinished_, false))
    return;
  const CudaScope scope(context_);
  queues_.compute.finish();
}

ConstFrame PendingGpuWork::input(std::size_t i) const {
  return slot_->input(i)->frame();
}

ConstFrame PendingGpuWork::stored_input(std::size_t i) const {
  return slot_->input(i)->stored();
}

const Frame* PendingGpuWork::output(std::size_t i) const {
  const std::optional<FrameMapper>& mapper = slot_->output(i);
  return mapper && mapper->is_mapped() ? &mapper->frame() : nullptr;
}

void PendingGpuWork::end(bool on_host) {
  in_stream_order_ = !on_host;
  slot_->for_each_mapped([this](FrameMapper& mapper) {
    in_stream_order_ = in_stream_order_ && mapper.is_stream_ordered();
  });
  if (in_stream_order_) {
    slot_->for_each_mapped([](FrameMapper& mapper) { mapper.end_in_stream_order(); });
    slot_->pool.unfinished_ = true;
  } else {
    slot_->for_each_completion([](FrameMapper& mapper) { mapper.end(); });
  }
}

bool PendingGpuWork::done() noexcept {
  if (!slot_ || in_stream_order_)
    return true;
  try {
    const CudaScope scope(slot_->pool.context_);
    bool all = true;
    slot_->for_each_completion(
        [&](FrameMapper& mapper) { all = all && mapper.completion().done(); });
    return all;
  } catch (const Error&) {
    return true;
  }
}

void PendingGpuWork::when_done(std::function<void()> call) {
  FrameSlotPool& pool = slot_->pool;
  const CudaScope scope(pool.context_);
  if (!pool.notices_) {
    pool.notice_stream_ = SharedStream(pool.context_);
    pool.notices_ = make_cuda_device(pool.notice_stream_.handle());
  }
  slot_->for_each_completion(
      [&](FrameMapper& mapper) { pool.notices_->wait_event(mapper.completion()); });
  notify_when_passed(*pool.notices_, std::move(call));
}

void PendingGpuWork::complete() {
  const auto slot = std::move(slot_);
  if (!slot || in_stream_order_)
    return;
  const CudaScope scope(slot->pool.context_);
  slot->for_each_completion([](FrameMapper& mapper) { mapper.complete(); });
  slot->for_each_mapped([](FrameMapper& mapper) { mapper.completed(); });
}

}  // namespace cudavision
