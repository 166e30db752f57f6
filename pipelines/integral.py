#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Finds the brightest square of each frame. cudaintegral computes the integral image, which arrives as a numpy array, so the
sum over any square takes four reads."""
import argparse

import argtypes
import frames
import numpy


def box_sums(table, width, height):
    """Returns the sums over all boxes of this size. Entry [y, x] is the sum over the box whose top left pixel is (x, y)."""
    # The table and these differences are modulo 2^32, so the result is exact if the sum of each box is below 2^32.
    return table[height:, width:] - table[:-height, width:] - table[height:, :-width] + table[:-height, :-width]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("input", nargs="?", default=frames.examples + "vtest.avi", help="a video, a picture, a camera or a URI (default: %(default)s)")
    parser.add_argument("--size", type=argtypes.number_in(1, 4096), default=64, help="side of the square, in pixels (default: 64)")
    parser.add_argument("--frames", type=argtypes.number_in(1), default=50, help="number of frames to search (default: 50)")
    arguments = parser.parse_args()
    size = arguments.size
    with frames.Player(f"{frames.source_of(frames.readable(arguments.input))} ! cudaintegral element-type=uint32 "
                       "! appsink name=sink max-buffers=4 sync=false") as player:
        for number, (seconds, table) in enumerate(player.frames()):
            if number == arguments.frames:
                break
            if size >= min(table.shape):
                parser.error(f"--size={size} is too large: the frames have only {table.shape[1] - 1}x{table.shape[0] - 1} pixels")
            sums = box_sums(table, size, size)
            y, x = numpy.unravel_index(sums.argmax(), sums.shape)
            print(f"{seconds:8.3f} s: brightest at ({x}, {y}), mean {sums[y, x] / size**2:.2f}; "
                  f"the whole frame {table[-1, -1] / ((table.shape[0] - 1) * (table.shape[1] - 1)):.2f}")


if __name__ == "__main__":
    main()
