// SPDX-License-Identifier: LGPL-2.1-or-later
// Headers that take long to parse, precompiled for each program with several sources. No #pragma
// once: GCC warns about that in a precompiled header.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>
