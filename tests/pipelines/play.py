#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""play.py ELEMENT...: plays a pipeline to its end, with the arguments of gst-launch-1.0 -q.

gst-launch-1.0 prerolls the pipeline before it sets the state to PLAYING. If several pipelines play at once, a few in a
thousand never end: GstBin (1.22) commits PAUSED in a streaming thread. If this thread is interrupted before it records
the new state, the main thread can change the state to PLAYING meanwhile. When PAUSED is recorded afterwards, GstBin
assumes that PLAYING was not announced, and holds back the EOS that its sinks have posted. A pipeline that goes to
PLAYING in one step is not affected, because the thread that commits PAUSED also continues to PLAYING."""
import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402  pylint: disable=wrong-import-position


def main():
    Gst.init(None)
    pipeline = Gst.parse_launchv(sys.argv[1:])
    pipeline.set_state(Gst.State.PLAYING)
    message = pipeline.get_bus().timed_pop_filtered(Gst.CLOCK_TIME_NONE, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    failed = message.type == Gst.MessageType.ERROR
    if failed:
        error, details = message.parse_error()
        print(f"ERROR: {message.src.get_name()}: {error.message}\n{details}", file=sys.stderr)
    pipeline.set_state(Gst.State.NULL)
    sys.exit(failed)


if __name__ == "__main__":
    main()
