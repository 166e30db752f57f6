// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Precompiled once for each test program of several sources: the headers that take longest to read.
// No other file includes it, and GCC warns of #pragma once in a header that it precompiles.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>
