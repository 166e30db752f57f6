// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

namespace cudavision {

/// What becomes of a right camera that has turned in its mount: nothing, a message and a warning,
/// or another map for its pictures as well.
enum class CalibrationDrift { off, warn, correct };

}  // namespace cudavision
