// SPDX-License-Identifier: LGPL-2.1-or-later
// Wrong or rare behaviour of the neighbours of an element with one input and one output.
#include "tests/fuzz/episode.h"
#include "tests/fuzz/hostile/hostilebuffers.h"
#include "tests/fuzz/hostile/hostilecontrols.h"
#include "tests/fuzz/hostile/hostilepeers.h"

namespace fuzz {

using namespace check;

void Episode::bad_caps() {
  static const char* const list[] = {
      "video/x-raw, format=AYUV, width=8, height=8, framerate=25/1",
      "video/x-raw, format=I420, width=32, height=16, framerate=25/1, interlace-mode=alternate",
      "video/x-raw(format:Interlaced), format=I420, width=32, height=16, framerate=25/1, "
      "interlace-mode=alternate",
      "video/x-raw(memory:DMABuf), format=NV12, width=32, height=16, framerate=25/1",
      "video/x-raw, format=GRAY8, width=2147483647, height=2147483647, framerate=25/1",
      "video/x-raw, format=RGBA, width=65536, height=65536, framerate=25/1",
      "video/x-raw, format=NV12, framerate=25/1",
      "video/x-raw",
      "video/x-bayer, width=8, height=8",
      "audio/x-raw"};
  drain_and_judge();
  if (filter_.send_caps(one_of(list)))
    fail_unless(false, "episode %u: impossible caps were accepted", seed());
  started_ = false;
}

void Episode::bad_frame() {
  if (!started_)
    return good_caps();
  Layout layout = any_layout();
  layout.meta = below(5) != 0;
  Picture picture(*format_, width_, height_);
  picture.interlaced = scan_ != Scan::progressive;
  GstBuffer* buffer = to_buffer(picture, layout);
  if (GstVideoMeta* meta = gst_buffer_get_video_meta(buffer); meta != nullptr && below(6) > 0) {
    damage(*this, meta, static_cast<int>(format_->planes.size()));
  } else if (below(2) == 0) {
    gst_buffer_set_size(buffer, below(static_cast<int>(gst_buffer_get_size(buffer))));
  } else {
    gst_buffer_unref(buffer);
    buffer = gst_buffer_new();
  }
  push(stamped(buffer), std::nullopt);
}

// Neighbours answer CAPS queries without regard to the filter. The element must behave as before.
void Episode::ignore_filters() {
  drain_and_judge();
  const Owned<GstPad> source(gst_element_get_static_pad(filter_.element(), "src"));
  const Owned<GstPad> sink(gst_element_get_static_pad(filter_.element(), "sink"));
  const UnfilteredPeer downstream(source, one_of({"ANY", "video/x-raw(ANY); other/tensors(ANY)",
                                                  "video/x-raw; other/tensors"}));
  const UnfilteredPeer upstream(sink, one_of({"ANY", "video/x-raw(ANY)", "audio/x-raw; ANY"}));
  restricted_ = false;
  filter_.accept_downstream("ANY");
  for (int i = below(3); i >= 0; --i) {
    good_caps();
    ask();
    good_frame();
  }
  drain_and_judge();
}

// If a push fails, an error must have been posted, for this frame or for a frame in flight.
void Episode::use_failing_pools() {
  if (!started_)
    return good_caps();
  drain_and_judge();
  {
    const Owned<GstPad> source(gst_element_get_static_pad(filter_.element(), "src"));
    const FailingPools pools(source);
    filter_.messages().clear();
    for (int i = below(6); i >= 0; --i) {
      gst_harness_push_upstream_event(filter_.harness(), gst_event_new_reconfigure());
      GstBuffer* buffer = to_buffer(Picture(*format_, width_, height_), any_layout());
      if (filter_.push(tracked(stamped(buffer))) == GST_FLOW_ERROR)
        fail_unless(filter_.messages().count(GST_MESSAGE_ERROR) >= 1,
                    "episode %u: a frame failed without an element error", seed());
    }
    drain();
    while (filter_.pull() != nullptr) {
    }
    ++interruptions_;
  }
  gst_harness_push_upstream_event(filter_.harness(), gst_event_new_reconfigure());
  // Without a flush, the next push would return the failure of frames that drain() has pushed.
  filter_.flush();
  good_caps();
}

void Episode::control_properties() {
  drain_and_judge();
  {
    const HostileControls controls(*this, filter_.element());
    for (int i = below(5); started_ && i >= 0; --i)
      push(stamped(to_buffer(Picture(*format_, width_, height_), any_layout())), std::nullopt);
    drain();
    judge_rest();
  }
  filter_.flush();
  good_caps();
}

}  // namespace fuzz
