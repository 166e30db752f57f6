#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Renders a road for a stereo camera, and measures the errors of disparity maps of it.

usage: docs/roadscene.py render FOLDER
       docs/roadscene.py judge FOLDER MAP...

render writes left.gray and right.gray, WIDTH×HEIGHT bytes each. A MAP is a file of disparities in
sixteenths of a pixel, as int16, from cudasgmstereo. judge prints the shares of pixels that are unknown
or wrong by more than 1 pixel, and by more than 0.5 pixels: of all pixels without the sky, of the road,
and of the rest. It writes picture.rgb: above the left picture and the true disparities, below the maps.
"""
import array
import math
import random
import sys

WIDTH, HEIGHT, GAP = 400, 224, 8
FOCAL, BASELINE, EYE = 350.0, 0.5, 1.5  # pixels, metres, metres above the road
CENTER_X, HORIZON = 200.0, 80.0
SLOPE = 0.04  # cross slope of the road, down to the right
SUBPIXELS = (0.25, 0.75)

# Upright rectangles: distances of the left and the right edge, x of both edges, bottom, top, all in metres; grey level.
CARS = [
    (9.0, 9.0, 0.9, 2.7, 0.2, 1.5, 70),
    (9.0, 13.0, 0.9, 0.9, 0.2, 1.5, 95),
    (16.0, 16.0, -3.6, -1.8, 0.2, 1.5, 150),
]
POLES = [(z, z, -3.98, -3.82, -0.5, 5.0, 60) for z in (6.5, 12.0, 20.0)]
WALLS = [(3.0, 40.0, -6.0, -5.0, -0.5, 3.5, 170), (40.0, 5.0, 7.0, 5.0, -0.5, 4.5, 135)]
RECTANGLES = CARS + POLES + WALLS


def lattice(i, j, seed):
    """Returns a pseudorandom number from -1 to 1 for a point of a grid."""
    n = (i * 374761393 + j * 668265263 + seed * 974634777) & 0xFFFFFFFF
    n = ((n ^ (n >> 13)) * 1274126177) & 0xFFFFFFFF
    return (n ^ (n >> 16)) / 0x7FFFFFFF - 1


def texture(u, v, distance, seed):
    """Returns noise without details finer than a pixel at this distance in metres."""
    level, size = 0.0, 1.6
    while size > 1.5 * distance / FOCAL and size > 0.02:
        x, y = u / size, v / size
        i, j = math.floor(x), math.floor(y)
        a, b = x - i, y - j
        level += (1 - b) * ((1 - a) * lattice(i, j, seed) + a * lattice(i + 1, j, seed))
        level += b * ((1 - a) * lattice(i, j + 1, seed) + a * lattice(i + 1, j + 1, seed))
        size /= 2
    return level


def look(dx, dy, eye):
    """Intersects the ray of direction (dx, dy, 1) with the scene. Returns the depth, the grey level and the kind of the surface."""
    depth, gray, kind = math.inf, 205 + 60 * dy, "sky"
    falls = dy - SLOPE * dx
    if falls > 0.005:
        depth, kind = (EYE + SLOPE * eye) / falls, "road"
        x, z = eye + dx * depth, depth
        gray = 105 + 4 * texture(x, z, depth * max(1, depth / 8), 1)
        if abs(x + 0.6) < 0.07 and z % 6 < 3:
            gray = 190
    for index, (z0, z1, x0, x1, bottom, top, base) in enumerate(RECTANGLES):
        # Solves the equation of the plane, (z - z0) (x1 - x0) = (x - x0) (z1 - z0), for z, with x = eye + dx z.
        divisor = (x1 - x0) - dx * (z1 - z0)
        if abs(divisor) < 1e-9:
            continue
        z = (z0 * (x1 - x0) + (eye - x0) * (z1 - z0)) / divisor
        if not 0.5 < z < depth:
            continue
        x, height = eye + dx * z, EYE - dy * z
        along = (x - x0) / (x1 - x0) if x0 != x1 else (z - z0) / (z1 - z0)
        if 0 <= along < 1 and bottom <= height < top:
            span = along * math.hypot(x1 - x0, z1 - z0)
            strength = 5 if base in (170, 135) else 9
            depth, kind, gray = z, "thing", base + strength * texture(span, height, z, 2 + index)
    return depth, gray, kind


def camera(eye, noise):
    gray = bytearray()
    for y in range(HEIGHT):
        for x in range(WIDTH):
            level = sum(look((x + i - CENTER_X) / FOCAL, (y + j - HORIZON) / FOCAL, eye)[1]
                        for i in SUBPIXELS for j in SUBPIXELS) / 4
            gray.append(min(255, max(0, round(level + noise.gauss(0, 1)))))
    return gray


def truth():
    """Returns (disparity, kind) for each pixel of the left picture."""
    points = []
    for y in range(HEIGHT):
        for x in range(WIDTH):
            depth, _, kind = look((x + 0.5 - CENTER_X) / FOCAL, (y + 0.5 - HORIZON) / FOCAL, 0.0)
            points.append((FOCAL * BASELINE / depth, kind))
    return points


def color(disparity):
    if disparity is None:
        return 0, 0, 0
    t = min(1.0, max(0.0, disparity / 50))
    return tuple(round(255 * min(1, max(0, 1.5 - abs(4 * t - peak)))) for peak in (3, 2, 1))


def read_map(name):
    numbers = array.array("h")
    with open(name, "rb") as file:
        numbers.frombytes(file.read(2 * WIDTH * HEIGHT))
    return [None if number < 0 else number / 16 for number in numbers]


def share(found, points, limit, kinds):
    judged = [(d, t) for d, (t, kind) in zip(found, points) if kind in kinds]
    return sum(d is None or abs(d - t) > limit for d, t in judged) / len(judged)


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in ("render", "judge"):
        sys.exit(__doc__)
    folder = sys.argv[2]
    if sys.argv[1] == "render":
        noise = random.Random(5)
        for name, eye in (("left", 0.0), ("right", BASELINE)):
            with open(f"{folder}/{name}.gray", "wb") as file:
                file.write(camera(eye, noise))
        return
    points = truth()
    with open(f"{folder}/left.gray", "rb") as file:
        tiles = [[(level,) * 3 for level in file.read()]]
    tiles.append([color(t if kind != "sky" else None) for t, kind in points])
    for name in sys.argv[3:]:
        found = read_map(name)
        print(name.rsplit("/", 1)[-1] + ", > 1 / > 0.5:")
        for kinds in (("road", "thing"), ("road",), ("thing",)):
            shares = [share(found, points, limit, kinds) for limit in (1, 0.5)]
            print("  %s: %.4f / %.4f" % (" and ".join(kinds), *shares))
        tiles.append([color(d) for d in found])
    white = bytes([255])
    with open(f"{folder}/picture.rgb", "wb") as file:
        for top in range(0, len(tiles), 2):
            if top:
                file.write(white * (3 * GAP * (2 * WIDTH + GAP)))
            for y in range(HEIGHT):
                rows = [tile[y * WIDTH:(y + 1) * WIDTH] for tile in tiles[top:top + 2]]
                file.write((white * (3 * GAP)).join(bytes(sum(row, ())) for row in rows))


main()
