# SPDX-License-Identifier: LGPL-2.1-or-later
"""The inputs to explore: cameras, videos and photographs, or two inputs of the same kind as a stereo pair."""
import os
import pathlib

import frames
import gi
from gi.repository import GLib, Gst

gi.require_version("GstPbutils", "1.0")
from gi.repository import GstPbutils  # noqa: E402  (GStreamer's bindings need the version first)

examples = {
    "cudahistequalize": (["vtest.avi"], {}),
    "cudagaussblur": (["fruits.jpg"], {"sigma": "6"}),
    "cudapixelate": (["fruits.jpg"], {}),
    "cudadenoise": (["vtest.avi"], {"strength": "-1", "search-size": "11"}),
    "cudaguidedfilter": (["fruits.jpg"], {"radius": "4", "epsilon": "600"}),
    "cudathreshold": (["sudoku.png"], {"radius": "20"}),
    "cudaintegral": (["sudoku.png"], {"output": "stddev"}),
    "cudasgmstereo": (["aloeL.jpg", "aloeR.jpg"], {"num-disparities": "256", "focal-length": "3740", "baseline": "160"}),
}

# Frames per second of a photograph. The photograph is repeated, so that changes of properties become visible and averages over
# time work.
photograph_rate = 5
# Timeout in ns for inspecting an input and for prerolling, far longer than a busy machine needs.
hang = 600 * Gst.SECOND


class Unusable(Exception):
    """The input or setting cannot be used. The text is a message for users."""


class Input:
    def __init__(self, name):
        self.name = name if frames.is_uri(name) else os.path.abspath(frames.readable(name))
        self.is_live = frames.is_camera(self.name)
        self.is_photograph = not self.is_live and self.discover()

    def discover(self):
        """Returns True for a photograph. Raises Unusable if GStreamer cannot decode the input."""
        uri = self.name if frames.is_uri(self.name) else pathlib.Path(self.name).as_uri()
        try:
            found = GstPbutils.Discoverer.new(hang).discover_uri(uri)
        except GLib.Error as error:
            raise Unusable(f"{self.name}: {error.message}") from None
        streams = found.get_video_streams()
        if found.get_result() == GstPbutils.DiscovererResult.TIMEOUT:
            raise Unusable(f"{self.name}: no data within 10 minutes; try again, or choose another input")
        if not streams:
            raise Unusable(f"{self.name}: GStreamer finds no picture or video that it can decode; choose another input, or install gstreamer1.0-libav for more formats")
        return streams[0].is_image()

    def once(self):
        """Returns the source elements in the syntax of gst-launch-1.0. For a photograph, the elements deliver one frame."""
        return frames.source_of(self.name)

    def endless(self):
        return self.once() + (f" ! imagefreeze ! video/x-raw,framerate={photograph_rate}/1" if self.is_photograph else "")
