// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The headers that take longest to parse, precompiled once for each test program that has several
// sources. It has no #pragma once, because GCC warns about that in a precompiled header; no other
// file includes it.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>
