#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Makes docs/equalize.png, the README's picture: a foggy landscape, drawn here, as a camera would see
# it and what cudahistequalize makes of it. Run it where GStreamer finds the element:
#
#   meson devenv -C build ../docs/make-picture.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
width=384 height=256
scene=$(mktemp)
trap 'rm -f "$scene"' EXIT

# Ridges one behind the other, each paler than the one before it, trees on them, and fog over all:
# a few dozen greys are all that is left.
python3 - $width $height >"$scene" <<'PY'
import math, random, sys

width, height = int(sys.argv[1]), int(sys.argv[2])
random.seed(7)


def ridge(octaves, size):
    waves = [(size / 1.7**i, 2 * math.pi * (1.9**i) / width * random.uniform(0.8, 1.3), random.uniform(0, 7))
             for i in range(octaves)]
    return [sum(a * math.sin(f * x + p) for a, f, p in waves) for x in range(width)]


sky = [[188 - 26 * y / height for _ in range(width)] for y in range(height)]
sun_x, sun_y = 0.7 * width, 0.2 * height
for y in range(height):
    for x in range(width):
        sky[y][x] += 14 * math.exp(-((x - sun_x) ** 2 + (y - sun_y) ** 2) / 900) + random.gauss(0, 1.2)

picture = sky
layers = 5
for layer in range(layers):
    nearness = (layer + 1) / layers
    top = [height * (0.34 + 0.14 * layer) + dy for dy in ridge(5, 7 + 7 * nearness)]
    shade = 168 - 52 * nearness
    trees = {}
    for _ in range(int(130 * nearness)):
        trees[random.randrange(width)] = random.uniform(6, 10 + 22 * nearness)
    for x in range(width):
        for y in range(max(0, int(top[x])), height):
            depth = (y - top[x]) / height
            picture[y][x] = shade + 60 * depth * (1 - 0.4 * nearness) + random.gauss(0, 1.2)
    for x, tall in trees.items():
        for up in range(int(tall)):
            half = (tall - up) * 0.22
            y = int(top[x]) + 2 - up
            for at in range(int(x - half), int(x + half) + 1):
                if 0 <= at < width and 0 <= y < height:
                    picture[y][at] = shade - 16 * nearness + random.gauss(0, 1.5)

sys.stdout.buffer.write(bytes(max(0, min(255, round(128 + (v - 150) * 0.42))) for row in picture for v in row))
PY

gst-launch-1.0 -q filesrc location="$scene" blocksize=$((width * height)) \
  ! rawvideoparse format=gray8 width=$width height=$height framerate=1/1 ! tee name=both \
  both. ! queue ! videoconvert ! mixer.sink_0 \
  both. ! queue ! cudahistequalize ! videoconvert ! mixer.sink_1 \
  compositor name=mixer background=white sink_1::xpos=$((width + 8)) \
  ! videoconvert ! video/x-raw,format=GRAY8 ! pngenc snapshot=true ! filesink location=equalize.png
echo "$PWD/equalize.png"
