#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes the coloured point cloud of two photographs as a PLY file for MeshLab, CloudCompare or Open3D. Coordinates are in
millimetres: X to the right, Y down, Z away from the cameras."""
import argparse
import sys

import argtypes
import frames
import numpy


def coloured_points(left, right, *properties):
    """Returns an array of points, indexed [y, x, coordinate], with NaN for unknown points; an array of their colours; and True
    if cudasgmstereo warned that the points are wrong."""
    # Takes the colours from the rectified left picture, because rectification moves pixels.
    with frames.Player(" ".join((
            "cudasgmstereo name=stereo", *properties,
            frames.source_of(left), "! stereo.sink_left", frames.source_of(right), "! stereo.sink_right",
            "stereo.rectified ! queue ! videoconvert ! video/x-raw,format=RGB ! appsink name=colors sync=false",
            "stereo.points ! queue ! appsink name=sink sync=false"))) as player:
        return *player.first_frames("sink", "colors"), player.wrong


def write_ply(name, points, colors):
    """Writes the points that are not NaN."""
    known = numpy.isfinite(points).all(axis=2)
    vertices = numpy.zeros(known.sum(), [("point", "<f4", 3), ("color", "u1", 3)])
    vertices["point"] = points[known]
    vertices["color"] = colors[known]
    fields = "".join(f"property float {axis}\n" for axis in "xyz") + "".join(f"property uchar {color}\n" for color in ("red", "green", "blue"))
    with open(name, "wb") as file:
        file.write(f"ply\nformat binary_little_endian 1.0\nelement vertex {len(vertices)}\n{fields}end_header\n".encode())
        file.write(vertices.tobytes())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("left", help="the left picture")
    parser.add_argument("right", help="the right picture")
    parser.add_argument("out", metavar="OUT.ply", help="the file to write")
    parser.add_argument("--focal-length", type=argtypes.number_in(kind=float), help="focal length of the cameras, in pixels of these pictures")
    parser.add_argument("--baseline", type=argtypes.number_in(kind=float), help="the distance between the cameras, in mm")
    parser.add_argument("--calibration", metavar="FILE", help="calibration of the cameras by calibrate.py, instead of --focal-length and --baseline")
    parser.add_argument("--farthest", type=argtypes.number_in(kind=float), default=float("inf"), metavar="MM", help="leave out points beyond this Z (default: none)")
    parser.add_argument("--property", action="append", default=["num-disparities=256"], metavar="NAME=VALUE",
                        help="another property of cudasgmstereo (default: num-disparities=256; can be repeated)")
    arguments = parser.parse_args()
    if not arguments.out.endswith(".ply"):
        parser.error(f'"{arguments.out}" has an unsupported extension: use .ply')
    cameras = [f"{name}={value}" for name, value in (("focal-length", arguments.focal_length), ("baseline", arguments.baseline),
                                                     ("calibration", arguments.calibration)) if value is not None]
    if not arguments.calibration and len(cameras) < 2:
        parser.error("set --focal-length and --baseline, or --calibration")
    left, right = frames.readable(arguments.left), frames.readable(arguments.right)
    frames.check_output(arguments.out, left, right)
    points, colors, wrong = coloured_points(left, right, *cameras, *arguments.property)
    depths = points[:, :, 2]
    depths[depths > arguments.farthest] = numpy.nan
    known = numpy.isfinite(depths)
    print(f"{points.shape[1]}x{points.shape[0]}, points: {known.sum()}")
    if known.any():
        print(f"from {numpy.nanmin(depths):.0f} to {numpy.nanmax(depths):.0f} mm, median {numpy.nanmedian(depths):.0f} mm")
    write_ply(arguments.out, points, colors)
    sys.exit(wrong)


if __name__ == "__main__":
    main()
