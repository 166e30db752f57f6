// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/fuzz/hostilepeers.h"

#include "tests/fuzz/actions.h"
#include "tests/fuzz/hostilepools.h"

namespace fuzz {

using namespace check;

namespace {

// Queries that the element sends to its peer, before they get there.
gulong add_query_probe(GstPad* pad, GstPadProbeCallback answer, gpointer data,
                       GDestroyNotify free_data) {
  const auto direction = gst_pad_get_direction(pad) == GST_PAD_SRC
                             ? GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM
                             : GST_PAD_PROBE_TYPE_QUERY_UPSTREAM;
  return gst_pad_add_probe(pad, static_cast<GstPadProbeType>(direction | GST_PAD_PROBE_TYPE_PUSH),
                           answer, data, free_data);
}

GstPadProbeReturn on_caps_query(GstPad*, GstPadProbeInfo* info, gpointer caps) {
  GstQuery* const query = GST_PAD_PROBE_INFO_QUERY(info);
  if (GST_QUERY_TYPE(query) != GST_QUERY_CAPS)
    return GST_PAD_PROBE_OK;
  gst_query_set_caps_result(query, static_cast<GstCaps*>(caps));
  return GST_PAD_PROBE_HANDLED;
}

GstPadProbeReturn on_allocation_query(GstPad*, GstPadProbeInfo* info, gpointer) {
  GstQuery* const query = GST_PAD_PROBE_INFO_QUERY(info);
  if (GST_QUERY_TYPE(query) != GST_QUERY_ALLOCATION)
    return GST_PAD_PROBE_OK;
  offer_failing_pools(query);
  return GST_PAD_PROBE_HANDLED;
}

}  // namespace

bool answer_caps_query(GstQuery* query) {
  static const char* const answers[] = {
      "ANY",
      "ANY",
      "video/x-raw",
      "video/x-raw(ANY)",
      "video/x-raw, format=v216",
      "video/x-raw, height=[2, 8], format={NV12, GRAY8}",
      "video/x-raw, format=GRAY8, width=16, height=8, framerate=25/1",
      "other/tensors; video/x-raw",
      "other/tensors(memory:CUDAMemory)",
      "audio/x-raw",
      "EMPTY"};
  if (GST_QUERY_TYPE(query) != GST_QUERY_CAPS || g_random_int() % 4 != 0)
    return false;
  const Owned<GstCaps> caps(gst_caps_from_string(answers[g_random_int() % G_N_ELEMENTS(answers)]));
  gst_query_set_caps_result(query, caps);
  count_action("answer a CAPS query without a look at its filter");
  return true;
}

UnfilteredPeer::UnfilteredPeer(GstPad* pad, const char* caps)
    : pad_(GST_PAD(gst_object_ref(pad))),
      probe_(add_query_probe(
          pad, on_caps_query, gst_caps_from_string(caps),
          +[](gpointer data) { gst_caps_unref(static_cast<GstCaps*>(data)); })) {}

UnfilteredPeer::~UnfilteredPeer() {
  gst_pad_remove_probe(pad_, probe_);
}

FailingPools::FailingPools(GstPad* pad)
    : pad_(GST_PAD(gst_object_ref(pad))),
      probe_(add_query_probe(pad, on_allocation_query, nullptr, nullptr)) {}

FailingPools::~FailingPools() {
  gst_pad_remove_probe(pad_, probe_);
}

}  // namespace fuzz
