#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Computes the disparities of two photographs as a numpy array, in pixels. NaN marks unknown disparities."""
import argparse
import sys

import frames
import numpy


def disparities(left, right, *properties):
    """Returns the disparity map of two pictures, and True if cudasgmstereo warned that the map is wrong."""
    with frames.Player(" ".join((
            "cudasgmstereo name=stereo", *properties, "! video/x-raw,format=GRAY16_LE ! appsink name=sink sync=false",
            frames.source_of(left), "! stereo.sink_left", frames.source_of(right), "! stereo.sink_right"))) as player:
        # Samples are 16-bit two's complement, in units of 1/disparity-scale pixel.
        counts = player.first_frames("sink")[0].view("<i2")
        unknown = numpy.array(player["stereo"].get_property("invalid-value"), "int64").astype("<i2")
        scale = player["stereo"].get_property("disparity-scale")
        return numpy.where(counts == unknown, numpy.nan, counts / scale).astype("float32"), player.wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("left", nargs="?", help="the left picture (default: the aloe of Debian's package opencv-doc)")
    parser.add_argument("right", nargs="?", help="the right picture (default: the aloe of opencv-doc)")
    parser.add_argument("out", nargs="?", metavar="OUT.npy", help="file for numpy.save()")
    parser.add_argument("--property", action="append", default=["num-disparities=256"], metavar="NAME=VALUE",
                        help="a property of cudasgmstereo (default: num-disparities=256; can be repeated)")
    arguments = parser.parse_args()
    if arguments.out and not arguments.out.endswith(".npy"):
        parser.error(f'"{arguments.out}" has an unsupported extension: use .npy')
    if arguments.left and not arguments.right:
        parser.error("the right picture is missing")
    left = frames.readable(arguments.left or frames.examples + "aloeL.jpg")
    right = frames.readable(arguments.right or frames.examples + "aloeR.jpg")
    if arguments.out:
        frames.check_output(arguments.out, left, right)
    disparity, wrong = disparities(left, right, *arguments.property)

    known = numpy.isfinite(disparity)
    height, width = disparity.shape
    print(f"{width}x{height}, {100 * known.mean():.1f} % of the disparities known")
    if known.any():
        y, x = numpy.unravel_index(numpy.nanargmax(disparity), disparity.shape)
        print(f"disparities from {numpy.nanmin(disparity):.2f} to {numpy.nanmax(disparity):.2f} pixels, "
              f"median {numpy.nanmedian(disparity):.2f}; the nearest point is at x={x}, y={y}")
    if arguments.out:
        numpy.save(arguments.out, disparity)
    sys.exit(wrong)


if __name__ == "__main__":
    main()
