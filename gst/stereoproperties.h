// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "elementproperties.h"
#include "stereosettings.h"

namespace cudavision {

/// Installs those properties of cudasgmstereo that a user sets, under the ids from 1 on. The result
/// lives for ever.
const ElementProperties<StereoSettings>& install_stereo_properties(GObjectClass* klass);

}  // namespace cudavision
