// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// GStreamer's header of tests, without its macro fail: the headers of the standard library have
// functions of this name.
#include <gst/check/gstcheck.h>
#undef fail
