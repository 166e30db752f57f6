#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Blurs a video with a sigma that follows a smooth curve through given points in time."""
import argparse
import math

import frames
import gi

gi.require_version("GstController", "1.0")
from gi.repository import Gst, GstController


def point(text):
    """Parses SECONDS:SIGMA."""
    try:
        seconds, sigma = map(float, text.split(":"))
    except ValueError:
        seconds = sigma = -math.inf
    if not (0 <= seconds <= 1e9 and -127 <= sigma <= 127):
        raise argparse.ArgumentTypeError(f'needs SECONDS:SIGMA, with SECONDS from 0 to 1e9 and SIGMA from -127 to 127, not "{text}"')
    return seconds, sigma


def control(blur, points):
    """Attaches a control source that interpolates sigma through (seconds, sigma) points."""
    curve = GstController.InterpolationControlSource(mode=GstController.InterpolationMode.CUBIC_MONOTONIC)
    for seconds, sigma in points:
        curve.set(int(seconds * Gst.SECOND), sigma)
    # new_absolute() uses the values of the curve as sigmas; new() would use the values as fractions of sigma's range. Any
    # controllable property can be bound in this way.
    blur.add_control_binding(GstController.DirectControlBinding.new_absolute(blur, "sigma", curve))


def main():
    # --points takes all following arguments, so it must be last.
    parser = argparse.ArgumentParser(description=__doc__, usage="%(prog)s [-h] [input [OUT.mkv]] [--points SECONDS:SIGMA ...]")
    parser.add_argument("input", nargs="?", default=frames.examples + "vtest.avi", help="a video, a camera or a URI (default: %(default)s)")
    parser.add_argument("out", nargs="?", metavar="OUT.mkv", help="the Matroska file to write (default without a display: blur.mkv)")
    parser.add_argument("--points", nargs="+", type=point, metavar="SECONDS:SIGMA", default=[(0, 0), (2, 20), (4, 0)],
                        help="sigma in pixels at these times (default: 0:0 2:20 4:0)")
    arguments = parser.parse_args()
    out = arguments.out or ("" if frames.display_set() else "blur.mkv")
    if out and not out.endswith(".mkv"):
        parser.error(f'"{out}" has an unsupported extension: use .mkv')
    frames.readable(arguments.input)
    if out:
        frames.check_output(out, arguments.input)
    sink = f'vp8enc deadline=1 target-bitrate=2000000 ! matroskamux ! filesink location={frames.quoted(out)}' if out else "autovideosink"
    if out:
        print(f"Writing {out}", flush=True)
    print("sigma goes through " + ", ".join(f"{sigma:g} at {seconds:g} s" for seconds, sigma in arguments.points), flush=True)
    with frames.Player(f"{frames.source_of(arguments.input)} ! cudagaussblur name=blur ! queue "
                       f"! videoconvert ! {sink}") as player:
        control(player["blur"], arguments.points)
        player.to_the_end()


if __name__ == "__main__":
    main()
