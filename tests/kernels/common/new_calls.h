// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

namespace cudavision::test {

/// Calls of operator new in this program, which is built with news.cpp.
int new_calls();

}  // namespace cudavision::test
