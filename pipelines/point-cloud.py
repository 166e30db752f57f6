#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Two photographs as a coloured point cloud, a PLY file for MeshLab, CloudCompare or Open3D: X to the right, Y down,
Z away from the cameras, in millimetres."""
import argparse

import frames
import numpy


def coloured_points(left, right, *properties):
    """The points of two pictures, [y, x] over X, Y and Z, not a number where unknown; and the left picture's colours."""
    with frames.Player(" ".join((
            "cudasgmstereo name=stereo", *properties,
            frames.source_of(left), "! tee name=left",
            "left. ! queue ! stereo.sink_left",
            "left. ! queue ! videoconvert ! video/x-raw,format=RGB ! appsink name=colors sync=false",
            frames.source_of(right), "! stereo.sink_right",
            "stereo.points ! appsink name=sink sync=false"))) as player:
        for _, points in player.frames():
            return points, frames.array_of(player["colors"].emit("pull-sample"))


def write_ply(name, points, colors):
    """Writes the known points."""
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
    parser.add_argument("left")
    parser.add_argument("right")
    parser.add_argument("out", metavar="OUT.ply")
    parser.add_argument("--focal-length", type=float, required=True, help="of the cameras, in pixels of these pictures")
    parser.add_argument("--baseline", type=float, required=True, help="the distance between the cameras, in mm")
    parser.add_argument("--farthest", type=float, default=float("inf"), metavar="MM", help="leave out points beyond this Z (default: none)")
    parser.add_argument("--property", action="append", default=["num-disparities=256"], metavar="NAME=VALUE",
                        help="another property of cudasgmstereo")
    arguments = parser.parse_args()
    if not arguments.out.endswith(".ply"):
        parser.error(f'"{arguments.out}" would not be what its name says: let it end in .ply')
    left, right = frames.readable(arguments.left), frames.readable(arguments.right)
    frames.check_output(arguments.out, left, right)
    points, colors = coloured_points(left, right, f"focal-length={arguments.focal_length}", f"baseline={arguments.baseline}",
                                     *arguments.property)
    depths = points[:, :, 2]
    depths[depths > arguments.farthest] = numpy.nan
    known = numpy.isfinite(depths)
    print(f"{points.shape[1]}x{points.shape[0]}, points: {known.sum()}")
    if known.any():
        print(f"from {numpy.nanmin(depths):.0f} to {numpy.nanmax(depths):.0f} mm, median {numpy.nanmedian(depths):.0f} mm")
    write_ply(arguments.out, points, colors)


if __name__ == "__main__":
    main()
