// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

namespace cudavision {

/// For messages. Uses a decimal point in all languages, because properties accept no comma.
std::string number_text(double number, int decimals);

}  // namespace cudavision
