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

// Negotiates again, because the output pool must be in the new context, too.
GstFlowReturn move_to_context(StereoStream& stream, GstMemory* memory) {
  stereo_release_processor(stream);
  stream.state.session.move_to(memory);
  if (gst_aggregator_negotiate(stream.self))
    return GST_FLOW_OK;
  return GST_PAD_IS_FLUSHING(stream.self->srcpad) ? GST_FLOW_FLUSHING : GST_FLOW_NOT_NEGOTIATED;
}

// If no request pad is open, an unlinked src is treated as open, so that GstAggregator gets
// GST_FLOW_NOT_LINKED, and applications can block or probe src.
OpenPads open_pads(StereoStream& stream) {
  const RequestPads requested = open_request_pads(stream);
  OpenPads pads;
  if (!stream.src.ended && (requested.empty() || gst_pad_is_linked(stream.self->srcpad)))
    pads.push_back({SourcePad::always, stereo_settings(stream.self).output, &stream.src, {}, {}});
  else
    stream.src.pad_discont = true;
  for (const auto& pad : requested)
    pads.push_back({pad->id, pad->output, &pad->branch(stream), pad, {}});
  return pads;
}

bool must_negotiate(const OpenPad& pad) {
  return pad.requested &&
         (gst_pad_needs_reconfigure(pad.requested->pad.get()) || !pad.branch->format);
}

// Negotiates the request pads. Removes pads that cannot get a buffer. No pair may be in flight.
GstFlowReturn negotiate(StereoStream& stream, OpenPads& pads) {
  for (auto pad = pads.begin(); pad != pads.end();) {
    GstFlowReturn flow = GST_FLOW_OK;
    if (must_negotiate(*pad))
      flow = stereo_negotiate_request_pad(stream, *pad->requested);
    if (flow == GST_FLOW_NOT_LINKED || flow == GST_FLOW_EOS)
      pad = pads.erase(pad);
    else if (flow != GST_FLOW_OK)
      return flow;
    else
      ++pad;
  }
  return GST_FLOW_OK;
}

// Returns true if all buffers have formats in CUDA memory that can carry a stream.
bool stays_in_stream_order(StereoStream& stream, const OpenPads& pads) {
  return order_is_known(*stream.left.format) &&
         (stream.packing.packed() || order_is_known(*stream.right.format)) &&
         std::all_of(pads.begin(), pads.end(),
                     [](const OpenPad& pad) { return order_is_known(*pad.branch->format); });
}

std::unique_ptr<StereoProcessor> new_processor(StereoStream& stream, const OpenPads& pads) {
  const std::optional<Rectification> rectification = stereo_rectification(stream);
  const StereoSettings settings =
      stereo_settings(stream.self);  // after stereo_rectification(), which sets lengths
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

// Returns GST_FLOW_FLUSHING if a handler of a warning has stopped the element.
GstFlowReturn prepare_processor(StereoStream& stream, const OpenPads& pads) {
  if (!stream.state.session.started())
    throw ElementError(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED,
                       "The element has lost its GPU: set the element to NULL and start it again.");
  const StereoSettings settings = stereo_settings(stream.self);
  const bool lengths = std::any_of(pads.begin(), pads.end(),
                                   [](const OpenPad& pad) { return measures_lengths(pad.output); });
  const std::string error = validation_error(settings, lengths);
  stereo_check_lengths(stream, settings, lengths || (settings.detections && settings.baseline > 0));
  const auto is_new = [&](const OpenPad& pad) {
    return !stream.processor || !stream.processor->is_prepared(pad.id);
  };
  const bool any_is_new = std::any_of(pads.begin(), pads.end(), is_new);
  // New pads use the last valid settings if these contain the necessary lengths.
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
  for (const OpenPad& pad : pads)
    if (is_new(pad))
      stream.processor->prepare(pad.id, pad.output, *pad.branch->format);
  return GST_FLOW_OK;
}

// Returns GST_FLOW_EOS if the pool is empty and pairs are in flight.
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

// Acquires missing buffers. Removes request pads that were released meanwhile.
GstFlowReturn acquire_outputs(StereoStream& stream, OpenPads& pads) {
  const ObjectPtr<GstBufferPool> src_pool(gst_aggregator_get_buffer_pool(stream.self));
  for (auto pad = pads.begin(); pad != pads.end();) {
    GstFlowReturn flow = GST_FLOW_OK;
    if (!pad->buffer) {
      const auto& pool = pad->requested ? pad->requested->branch(stream).pool : src_pool;
      flow = acquire(stream, pool.get(), *pad->branch->format, pad->buffer);
    }
    if (flow == GST_FLOW_FLUSHING && pad->requested && pad->requested->released)
      pad = pads.erase(pad);
    else if (flow != GST_FLOW_OK)
      return flow;
    else
      ++pad;
  }
  return GST_FLOW_OK;
}

PendingGpuWork start(StereoStream& stream, PeekedBuffer& left, PeekedBuffer* right,
                     const OpenPads& pads, bool inspect, PairDetections* detections) {
  StereoProcessor::Buffers buffers{};
  for (const OpenPad& pad : pads)
    buffers[index_of(pad.id)] = pad.buffer.get();
  const double seconds = static_cast<double>(stream.clock->elapsed(left.times())) / GST_SECOND;
  const DeviceScope scope(stream.state.session);
  return stream.processor->start(left.buffer(), right ? right->buffer() : nullptr, buffers, seconds,
                                 inspect, detections);
}

// Copies the left frame's times, flags and applicable metas to the outputs.
void describe_outputs(StereoStream& stream, GstBuffer* left, const OpenPads& pads) {
  for (const OpenPad& pad : pads) {
    GstBuffer* out = pad.buffer.get();
    copy_metadata(left, out, !stream.packing.packed());
    GST_BUFFER_FLAG_UNSET(out, GST_VIDEO_BUFFER_FLAG_MULTIPLE_VIEW);
    if (std::exchange(pad.branch->pad_discont, false) || stream.outputs_discont)
      GST_BUFFER_FLAG_SET(out, GST_BUFFER_FLAG_DISCONT);
  }
  stream.outputs_discont = false;
}

}  // namespace

GstFlowReturn stereo_push_output(StereoStream& stream, PeekedBuffer& left, PeekedBuffer* right) {
  // A handler of a signal or message may have stopped the element.
  if (GST_PAD_IS_FLUSHING(stream.self->srcpad))
    return GST_FLOW_FLUSHING;
  // If the frames are in different contexts, the left frame's context is used.
  GstMemory* memory = cuda_memory_of(left.buffer());
  if (!memory && right)
    memory = cuda_memory_of(right->buffer());
  const bool moves = stream.state.session.should_move_to(memory);
  const bool calibrates = stream.rig && stream.rig->calibration_is_due();
  const bool corrects = stream.rig && stream.rig->correction_is_due();
  OpenPads pads = open_pads(stream);
  GstFlowReturn flow = GST_FLOW_OK;
  // Pairs in flight use the old context, maps and caps.
  if (moves || calibrates || corrects || std::any_of(pads.begin(), pads.end(), must_negotiate)) {
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

  flow = acquire_outputs(stream, pads);
  if (flow == GST_FLOW_EOS && !stream.in_flight.empty()) {
    flow = stereo_push_pairs(stream, 0);
    if (flow == GST_FLOW_OK)
      flow = acquire_outputs(stream, pads);
  }
  if (flow != GST_FLOW_OK)
    return flow;
  const FrameTimes times = left.times();
  // Read before the inspection, whose message handlers may stop the element.
  const std::size_t max_in_flight = stream.processor->max_in_flight();
  const bool inspect =
      stream.inspections.selects(times, stream.processor->settings().diagnostics_interval);
  describe_outputs(stream, left.buffer(), pads);  // buffers in flight are read-only
  std::unique_ptr<PairDetections> detections;
  if (stream.processor->settings().detections)
    detections = std::make_unique<PairDetections>(times);
  PendingGpuWork work = start(stream, left, right, pads, inspect, detections.get());
  // Pushing may take long, and upstream may need these buffers meanwhile.
  left.release();
  if (right)
    right->release();
  stream.in_flight.push_back({std::move(pads), std::move(work), std::move(detections)});
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
