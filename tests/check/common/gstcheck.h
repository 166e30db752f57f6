// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// GStreamer's header of tests without its macro fail, a name in the standard library.
#include <gst/check/gstcheck.h>
#undef fail
