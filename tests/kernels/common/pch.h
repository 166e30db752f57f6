// SPDX-License-Identifier: LGPL-2.1-or-later
// Precompiled headers. No #pragma once: GCC warns about it here.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>
