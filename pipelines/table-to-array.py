#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Finds the brightest square of each frame as integral.py does, but on the GPU: the table of sums becomes an array of CuPy or
PyTorch without a copy, and only the result is downloaded. Without CuPy and PyTorch, or without a GPU, the table is a numpy array."""
import argparse

import argtypes
import cudatensors
import frames
import integral


def brightest_square(table, size):
    """Returns the top left pixel and the mean of the brightest square. Works with arrays of all three libraries."""
    sums = integral.box_sums(table, size, size)
    y, x = divmod(int(sums.argmax()), sums.shape[1])
    return x, y, int(sums[y, x]) / size**2


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("input", nargs="?", default=frames.examples + "vtest.avi", help="a video, a picture, a camera or a URI (default: %(default)s)")
    # Up to 2048, the sums of 8-bit samples fit into the signed 32-bit integers that PyTorch uses.
    parser.add_argument("--size", type=argtypes.number_in(1, 2048), default=64, help="side of the square, in pixels (default: 64)")
    parser.add_argument("--frames", type=argtypes.number_in(1), default=50, help="number of frames to search (default: 50)")
    arguments = parser.parse_args()
    library, make_array = cudatensors.array_maker()
    # cudaintegral puts the table into CUDA memory if it has a GPU and the caps allow CUDA memory, otherwise into system memory.
    caps = "other/tensors" if library == "numpy" else "other/tensors(memory:CUDAMemory); other/tensors"
    player = frames.Player(f"{frames.source_of(frames.readable(arguments.input))} ! cudaintegral element-type=uint32 "
                           f'! appsink name=sink caps="{caps}" max-buffers=4 sync=false')
    if library != "numpy":  # decodebin may use nvh264dec, which creates its own context
        cudatensors.share_primary_context(player.pipeline)
    with player:
        for number, (seconds, table) in enumerate(player.frames(make_array)):
            if number == arguments.frames:
                break
            if arguments.size >= min(table.shape):
                parser.error(f"--size={arguments.size} is too large: the frames have only {table.shape[1] - 1}x{table.shape[0] - 1} pixels")
            x, y, mean = brightest_square(table, arguments.size)
            print(f"{seconds:8.3f} s: brightest at ({x}, {y}), mean {mean:.2f}; {type(table).__module__}, {table.dtype}")


if __name__ == "__main__":
    main()
