// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

namespace cudavision::test {

/// The number of calls of operator new so far in this program, which must link new_calls.cpp.
int new_calls();

}  // namespace cudavision::test
