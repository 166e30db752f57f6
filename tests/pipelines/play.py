#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""play.py ELEMENT...: plays a pipeline to its end, as gst-launch-1.0 -q does, whose words these are.

gst-launch-1.0 prerolls the pipeline and then sets it to PLAYING, and a few in a thousand of such pipelines never end
where several play at once: GstBin (1.22) commits PAUSED in a streaming thread, which is interrupted before it notes that;
meanwhile the main thread changes the state to PLAYING; then the note arrives, GstBin believes that it has not announced
PLAYING, and holds back the EOS that its sinks have posted. A pipeline that goes to PLAYING in one step is not exposed to
this: the thread that commits PAUSED is then the one that goes on to PLAYING."""
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
