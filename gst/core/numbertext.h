// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

namespace cudavision {

/// Returns a number with so many decimals, for messages. The decimal point is one in every language
/// of the application, because properties and gst-launch-1.0 take no comma.
std::string number_text(double number, int decimals);

}  // namespace cudavision
