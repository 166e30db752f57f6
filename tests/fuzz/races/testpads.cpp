// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/fuzz/races/testpads.h"

#include <atomic>
#include <memory>

namespace fuzz {

namespace {

using Flag = std::shared_ptr<std::atomic<bool>>;  // the probe may still run when it is removed

GstPadProbeReturn note(GstPad*, GstPadProbeInfo*, gpointer flag) {
  **static_cast<Flag*>(flag) = true;
  return GST_PAD_PROBE_OK;
}

}  // namespace

check::Owned<GstPad> new_any_pad(const char* name, GstPadDirection direction) {
  const check::Owned<GstCaps> any(gst_caps_new_any());
  const check::Owned<GstPadTemplate> pad_template(
      gst_pad_template_new(name, direction, GST_PAD_ALWAYS, any));
  gst_object_ref_sink(pad_template.get());
  return check::Owned<GstPad>(
      GST_PAD(gst_object_ref_sink(gst_pad_new_from_template(pad_template, name))));
}

bool while_blocked(GstPad* source, const std::function<void()>& change) {
  const auto blocked = std::make_shared<std::atomic<bool>>(false);
  const auto forget = +[](gpointer flag) { delete static_cast<Flag*>(flag); };
  const gulong probe = gst_pad_add_probe(source, GST_PAD_PROBE_TYPE_BLOCK_DOWNSTREAM, note,
                                         new Flag(blocked), forget);
  for (int i = 0; i < 50 && !*blocked; ++i)
    g_usleep(100);
  if (*blocked)
    change();
  gst_pad_remove_probe(source, probe);
  return *blocked;
}

}  // namespace fuzz
