// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/elementsettings.h"

#include "gst/base/elementerror.h"

namespace cudavision {

void SettingsGuard::require(const std::string& wrong) {
  if (!wrong.empty())
    throw ElementError(GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, wrong);
  warned_ = false;
}

bool SettingsGuard::allows(GstElement* element, const std::string& wrong) {
  const bool warn = !wrong.empty() && !warned_;
  warned_ = !wrong.empty();
  if (warn)
    post_warning(element, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
                 wrong + " Until then the last valid settings stay in force.");
  return wrong.empty();
}

}  // namespace cudavision
