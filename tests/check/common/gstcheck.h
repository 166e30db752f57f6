// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// GStreamer's test header without its macro fail, which is a name in the standard library.
#include <gst/check/gstcheck.h>
#undef fail
