# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints the durations of videos: one line of JSON for each file, in seconds, with null for unknown values. Does not decode.

filmlength.py --header FILE...: prints the duration in the header of each video.
filmlength.py FILE...: also prints where the streams end.

archive.py sends the text of this script to all machines. The system's Python runs it, because Ray's Python seldom has
GStreamer's bindings."""
import json
import signal
import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst

# Creates all enumerations before streaming threads use them; frames.py explains why.
for name in dir(Gst):
    getattr(Gst, name, None)

# Duration in ns of the last part of a video, which is read to find where the streams end.
last_part = 10 * Gst.SECOND
# The whole video is read if the latest end is before the end in the header by more than this time in ns.
tolerance = Gst.SECOND
# Reading ends after an interval of this many seconds without a new buffer. The total time is not limited.
hang = 600


class Reader:
    """Reads the encoded streams of a video, and records the latest end for each kind of stream, such as audio."""

    def __init__(self, name):
        self.header_duration, self.ends, self.flowing, self.buffers = 0, {}, False, 0
        self.pipeline = Gst.parse_launch("filesrc name=file ! parsebin name=streams")
        self.pipeline.get_by_name("file").set_property("location", name)
        self.pipeline.get_by_name("streams").connect("pad-added", self.add)
        self.bus = self.pipeline.get_bus()

    def add(self, _, pad):
        found, duration = pad.query_duration(Gst.Format.TIME)
        self.header_duration = max(self.header_duration, duration if found else 0)
        kind = (pad.get_current_caps() or pad.query_caps()).get_structure(0).get_name().split("/")[0]
        sink = Gst.ElementFactory.make("fakesink")
        sink.set_property("sync", False)
        sink.set_property("async", False)
        self.pipeline.add(sink)
        pad.add_probe(Gst.PadProbeType.BUFFER, self.note, kind)
        pad.link(sink.get_static_pad("sink"))
        sink.sync_state_with_parent()

    def note(self, pad, info, kind):
        buffer = info.get_buffer()
        self.buffers += 1
        if not self.flowing:
            self.flowing = True
            self.bus.post(Gst.Message.new_application(None, Gst.Structure.new_empty("flowing")))
        time = buffer.dts if buffer.pts == Gst.CLOCK_TIME_NONE else buffer.pts
        segment = pad.get_sticky_event(Gst.EventType.SEGMENT, 0).parse_segment()
        if segment.format != Gst.Format.TIME:
            return Gst.PadProbeReturn.OK
        if time != Gst.CLOCK_TIME_NONE:
            time = segment.to_stream_time(Gst.Format.TIME, time)
        if time != Gst.CLOCK_TIME_NONE:
            end = time + (0 if buffer.duration == Gst.CLOCK_TIME_NONE else buffer.duration)
            self.ends[kind] = max(self.ends.get(kind, 0), end)
        return Gst.PadProbeReturn.OK

    def wait(self, kinds):
        """Waits for a message of these kinds. Returns False if an error or EOS comes first, or if no buffer arrives in time."""
        before, message = -1, None
        while not message and self.buffers > before:
            before = self.buffers
            # SIGALRM ends this program if an element hangs in a state change.
            signal.alarm(2 * hang)
            message = self.bus.timed_pop_filtered(hang * Gst.SECOND, kinds | Gst.MessageType.EOS | Gst.MessageType.ERROR)
        return bool(message and message.type & kinds)

    def read(self, begin):
        """Reads from `begin` (ns) to the end, or up to the first error. If `begin` is None, reads only the header."""
        self.pipeline.set_state(Gst.State.PAUSED)
        if self.wait(Gst.MessageType.APPLICATION) and begin is not None:
            if begin:
                self.pipeline.seek_simple(Gst.Format.TIME, Gst.SeekFlags.FLUSH | Gst.SeekFlags.KEY_UNIT | Gst.SeekFlags.SNAP_BEFORE, begin)
            self.pipeline.set_state(Gst.State.PLAYING)
            self.wait(Gst.MessageType.EOS)
        self.pipeline.set_state(Gst.State.NULL)
        return self


def length_of(name, header_only):
    if header_only:
        return {"header": Reader(name).read(None).header_duration / Gst.SECOND or None}
    in_header = Reader(name).read(None).header_duration
    reader = Reader(name).read(max(0, in_header - last_part))
    if max(reader.ends.values(), default=0) < in_header - tolerance:
        reader = Reader(name).read(0)
    ends = {kind: end / Gst.SECOND for kind, end in reader.ends.items()}
    return {"header": in_header / Gst.SECOND or None, "end": max(ends.values(), default=None), "video_end": ends.get("video", ends.get("image"))}


def main():
    Gst.init(None)
    header_only = sys.argv[1:2] == ["--header"]
    for name in sys.argv[1 + header_only:]:
        print(json.dumps(length_of(name, header_only)), flush=True)


if __name__ == "__main__":
    main()
