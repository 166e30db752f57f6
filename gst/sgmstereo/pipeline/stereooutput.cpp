// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gst/video/video.h>

#include <algorithm>
#include <string>
#include <utility>

#include "gst/base/allocationquery.h"
#include "gst/base/framemetas.h"
#include "gst/core/elementerror.h"
#include "gst/memory/streamorder.h"
#include "gst/sgmstereo/pipeline/stereostream.h"

namespace cudavision {
namespace {

// Moves everything, the output pool included, to the context of the memory. Without a new
// negotiation, the output would go on in the pool of the old context, so if that fails, the answer
// is GstAggregator's own.
GstFlowReturn move_to_context(StereoStream& stream, GstMemory* memory) {
  stereo_release_processor(stream);
  stream.state.session.move_to(memory);
  if (gst_aggregator_negotiate(stream.self))
    return GST_FLOW_OK;
  return GST_PAD_IS_FLUSHING(stream.self->srcpad) ? GST_FLOW_FLUSHING : GST_FLOW_NOT_NEGOTIATED;
}

// If nothing is linked to any pad, src is open: pushing there tells GstAggregator so, and an
// application may block or watch an unlinked src.
OpenPads open_pads(StereoStream& stream) {
  OpenPads pads{gst_pad_is_linked(stream.self->srcpad) && !stream.src.ended,
                open_request_pads(stream)};
  const bool any_requested = std::any_of(pads.requested.begin(), pads.requested.end(),
                                         [](const auto& pad) { return pad != nullptr; });
  if (!any_requested && !stream.src.ended)
    pads.src = true;
  if (!pads.src)
    stream.src.pad_discont = true;
  return pads;
}

bool must_negotiate(StereoStream& stream, const OpenPads& pads) {
  return std::any_of(pads.requested.begin(), pads.requested.end(),
                     [&](const auto& pad) { return pad && stereo_must_negotiate(stream, *pad); });
}

// No pair may be in flight. Closes the pads that alone can get no buffer.
GstFlowReturn negotiate(StereoStream& stream, OpenPads& pads) {
  for (auto& pad : pads.requested) {
    if (!pad || !stereo_must_negotiate(stream, *pad))
      continue;
    const GstFlowReturn flow = stereo_negotiate_request_pad(stream, *pad);
    if (flow == GST_FLOW_NOT_LINKED || flow == GST_FLOW_EOS)
      pad.reset();
    else if (flow != GST_FLOW_OK)
      return flow;
  }
  return GST_FLOW_OK;
}

// True if no pair crosses the bus, as all memory carries a stream.
bool stays_in_stream_order(StereoStream& stream, const OpenPads& pads) {
  return order_is_known(*stream.left.format) &&
         (stream.packing.packed() || order_is_known(*stream.right.format)) &&
         (!pads.src || order_is_known(*stream.src.format)) &&
         std::all_of(pads.requested.begin(), pads.requested.end(), [&](const auto& pad) {
           return !pad || order_is_known(*pad->branch(stream).format);
         });
}

std::unique_ptr<StereoProcessor> new_processor(StereoStream& stream, const OpenPads& pads) {
  const std::optional<Rectification> rectification = stereo_rectification(stream);
  const StereoSettings settings = stereo_settings(stream.self);  // with what that has set
  const bool packed = stream.packing.packed();
  const FrameFormat& right = packed ? *stream.left.format : *stream.right.format;
  GST_DEBUG_OBJECT(stream.self, "%s and %s on %s", stream.left.format->description().c_str(),
                   packed ? "the same" : right.description().c_str(),
                   stream.state.session.on_cuda() ? "CUDA" : "the CPU");
  return std::make_unique<StereoProcessor>(
      stream.state.session, *stream.left.format, right, stream.packing, settings, rectification,
      settings.max_in_flight(stream.state.session.device().kind(),
                             stays_in_stream_order(stream, pads)));
}

// A handler of a WARNING, such as the one about invalid settings, may stop the element: returns
// GST_FLOW_FLUSHING then.
GstFlowReturn prepare_processor(StereoStream& stream, const OpenPads& pads) {
  if (!stream.state.session.started())
    throw ElementError(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED,
                       "The element has lost its GPU: set it to NULL and start it again.");
  const StereoSettings settings = stereo_settings(stream.self);
  const bool lengths =
      std::any_of(pads.requested.begin(), pads.requested.end(),
                  [](const auto& pad) { return pad && measures_lengths(pad->output); });
  const std::string error = validation_error(settings, lengths);
  stereo_warn_of_unknown_lengths(stream, settings,
                                 lengths || (pads.src && measures_lengths(settings.output)));
  const auto is_new = [&](SourcePad pad) {
    return !stream.processor || !stream.processor->is_prepared(pad);
  };
  const bool src_is_new = pads.src && is_new(SourcePad::always);
  const bool any_is_new =
      src_is_new || std::any_of(pads.requested.begin(), pads.requested.end(),
                                [&](const auto& pad) { return pad && is_new(pad->id); });
  // The last valid settings do for new pads as well, unless they lack the lengths that these need.
  if (!stream.processor ||
      (any_is_new && !validation_error(stream.processor->settings(), lengths).empty()))
    stream.guard.require(error);
  const bool valid = stream.guard.allows(GST_ELEMENT_CAST(stream.self), error);
  if (GST_PAD_IS_FLUSHING(stream.self->srcpad))
    return GST_FLOW_FLUSHING;
  if (!valid && !any_is_new)
    return GST_FLOW_OK;
  const DeviceScope scope(stream.state.session);
  if (!stream.processor)
    stream.processor = new_processor(stream, pads);
  else if (valid)
    stream.processor->apply(settings);
  if (src_is_new)
    stream.processor->prepare(SourcePad::always, settings.output, *stream.src.format);
  for (const auto& pad : pads.requested)
    if (pad && is_new(pad->id))
      stream.processor->prepare(pad->id, pad->output, *pad->branch(stream).format);
  return GST_FLOW_OK;
}

// Returns GST_FLOW_EOS if the pairs in flight have all buffers of the pool.
GstFlowReturn acquire(StereoStream& stream, GstBufferPool* pool, const FrameFormat& format,
                      OwnedBuffer& out) {
  if (!pool)
    return GST_FLOW_NOT_NEGOTIATED;
  GstBuffer* buffer = nullptr;
  GstFlowReturn flow = GST_FLOW_ERROR;
  if (gst_buffer_pool_set_active(pool, TRUE)) {
    GstBufferPoolAcquireParams params{};
    if (!stream.in_flight.empty())
      params.flags = GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT;
    flow = gst_buffer_pool_acquire_buffer(pool, &buffer, &params);
  }
  if (flow == GST_FLOW_ERROR)
    refuse_output(format);
  out.reset(buffer);
  return flow;
}

// Closes request pads that have been released while they waited for a buffer.
GstFlowReturn acquire_outputs(StereoStream& stream, OpenPads& pads, OutputBuffers& out) {
  if (pads.src) {
    const ObjectPtr<GstBufferPool> pool(gst_aggregator_get_buffer_pool(stream.self));
    const GstFlowReturn flow =
        acquire(stream, pool.get(), *stream.src.format, out[index_of(SourcePad::always)]);
    if (flow != GST_FLOW_OK)
      return flow;
  }
  for (auto& pad : pads.requested) {
    if (!pad)
      continue;
    const GstFlowReturn flow = acquire(stream, pad->branch(stream).pool.get(),
                                       *pad->branch(stream).format, out[index_of(pad->id)]);
    if (flow == GST_FLOW_FLUSHING && pad->released)
      pad.reset();
    else if (flow != GST_FLOW_OK)
      return flow;
  }
  return GST_FLOW_OK;
}

PendingGpuWork start(StereoStream& stream, PeekedBuffer& left, PeekedBuffer* right,
                     const OutputBuffers& out, bool inspect) {
  StereoProcessor::Buffers buffers;
  std::transform(out.begin(), out.end(), buffers.begin(),
                 [](const OwnedBuffer& buffer) { return buffer.get(); });
  const double seconds = static_cast<double>(stream.clock->elapsed(left.times())) / GST_SECOND;
  const DeviceScope scope(stream.state.session);
  return stream.processor->start(left.buffer(), right ? right->buffer() : nullptr, buffers, seconds,
                                 inspect);
}

// Gives an output the times and flags of the left frame, and those of its metas that still apply.
void describe(StereoStream& stream, GstBuffer* left, bool discont, GstBuffer* out) {
  copy_metadata(left, out, !stream.packing.packed());
  GST_BUFFER_FLAG_UNSET(out, GST_VIDEO_BUFFER_FLAG_MULTIPLE_VIEW);
  if (discont)
    GST_BUFFER_FLAG_SET(out, GST_BUFFER_FLAG_DISCONT);
}

void describe_outputs(StereoStream& stream, GstBuffer* left, const OpenPads& pads,
                      const OutputBuffers& out) {
  if (pads.src)
    describe(stream, left, std::exchange(stream.src.pad_discont, false) || stream.outputs_discont,
             out[index_of(SourcePad::always)].get());
  for (const auto& pad : pads.requested)
    if (pad)
      describe(stream, left,
               std::exchange(pad->branch(stream).pad_discont, false) || stream.outputs_discont,
               out[index_of(pad->id)].get());
  stream.outputs_discont = false;
}

}  // namespace

GstFlowReturn stereo_push_output(StereoStream& stream, PeekedBuffer& left, PeekedBuffer* right) {
  // A handler of a signal or message about this pair may have stopped the element.
  if (GST_PAD_IS_FLUSHING(stream.self->srcpad))
    return GST_FLOW_FLUSHING;
  // If the two frames are in different contexts, the left one's counts.
  GstMemory* memory = cuda_memory_of(left.buffer());
  if (!memory && right)
    memory = cuda_memory_of(right->buffer());
  const bool moves = stream.state.session.should_move_to(memory);
  const bool calibrates = stream.rig && stream.rig->calibration_is_due();
  const bool corrects = stream.rig && stream.rig->correction_is_due();
  OpenPads pads = open_pads(stream);
  GstFlowReturn flow = GST_FLOW_OK;
  // All of these change what pairs in flight still use.
  if (moves || calibrates || corrects || must_negotiate(stream, pads)) {
    flow = stereo_push_pairs(stream, 0);
    if (flow == GST_FLOW_OK && GST_PAD_IS_FLUSHING(stream.self->srcpad))
      flow = GST_FLOW_FLUSHING;
    if (flow == GST_FLOW_OK && moves)
      flow = move_to_context(stream, memory);
    if (flow == GST_FLOW_OK && calibrates)
      flow = stereo_apply_calibration(stream);
    if (flow != GST_FLOW_OK)
      return flow;
    pads = open_pads(stream);
    flow = negotiate(stream, pads);
    if (flow != GST_FLOW_OK)
      return flow;
  }
  flow = prepare_processor(stream, pads);
  if (flow != GST_FLOW_OK)
    return flow;
  if (corrects)
    stereo_apply_correction(stream);
  const auto is_discont = [](GstBuffer* buffer) {
    return GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DISCONT);
  };
  if (std::exchange(stream.temporal_restart, false) || is_discont(left.buffer()) ||
      (right && is_discont(right->buffer())))
    stream.processor->restart();

  OutputBuffers out;
  flow = acquire_outputs(stream, pads, out);
  if (flow == GST_FLOW_EOS && !stream.in_flight.empty()) {
    flow = stereo_push_pairs(stream, 0);
    if (flow == GST_FLOW_OK)
      flow = acquire_outputs(stream, pads, out);
  }
  if (flow != GST_FLOW_OK)
    return flow;
  const FrameTimes times = left.times();
  // A handler of the messages about an inspected pair may stop the element, which frees the work.
  const std::size_t max_in_flight = stream.processor->max_in_flight();
  const bool inspect =
      stream.inspections.selects(times, stream.processor->settings().diagnostics_interval);
  describe_outputs(stream, left.buffer(), pads, out);  // work makes them read-only until its end
  PendingGpuWork work = start(stream, left, right, out, inspect);
  // Pushing may take long, and meanwhile upstream may need these buffers back.
  left.release();
  if (right)
    right->release();
  stream.in_flight.push_back({std::move(pads), std::move(out), std::move(work)});
  if (inspect) {
    flow = stereo_push_pairs(stream, 1);
    if (flow != GST_FLOW_OK)
      return flow;
    stream.in_flight.back().work.complete();
    stereo_inspect_pair(stream, times);
  }
  return stereo_push_pairs(stream, max_in_flight - 1);
}

}  // namespace cudavision
