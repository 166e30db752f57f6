#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Makes the pictures of README.md and docs/, from photographs, a video and scenes that are drawn here.
set -euo pipefail

usage() {
  cat <<'END'
usage: meson devenv -C build ../docs/make-picture.sh

Makes the pictures of README.md and docs/. Run it where GStreamer finds the elements, as above.

  docs/equalize.png   a foggy landscape, and the same after cudahistequalize
  docs/clahe.png      a street under a cloudy sky, equalised by cudahistequalize as a whole and by CLAHE, from a
                      photograph in Debian's package opencv-doc
  docs/chroma.png     the same photograph as a dark frame, equalised with chroma=keep and chroma=scale
  docs/blur.png       a crowd, and the same blurred and sharpened by cudagaussblur
  docs/privacy.png    a street, and the same with blurred heads by cudagaussblur, from the video in Debian's
                      package opencv-doc
  docs/binarise.png   a page in bad light, and the same in black and white by cudathreshold
  docs/denoise.png    a street at night with noise, the same denoised by cudadenoise, and the removed noise
  docs/guided.png     fruits, smoothed by cudaguidedfilter and blurred by cudagaussblur, from a photograph in
                      that package
  docs/flicker.svg    how the brightness of a lawn changes in a video, equalised with smoothing and without,
                      from the video of a street in Debian's package opencv-doc
  docs/stereo.png     an aloe, and its disparities by cudasgmstereo, from the photographs in Debian's
                      package opencv-doc
  docs/rectification.png
                      one of OpenCV's photographs of a chessboard in that package, and its disparities
                      without and with a calibration
  docs/stereo-road.png
                      a road that docs/roadscene.py renders, its true disparities, and the disparities of
                      cudasgmstereo with slanted-surfaces and without; prints how many are wrong
  docs/stereo-accuracy.png
                      cones and the aloe by the previous and by the present definition of cudasgmstereo,
                      if CUDAVISION_STEREO_PAIRS names a folder as described in stereo_pairs.h

  -h, --help          this text
END
}

case ${1:-} in
  '') ;;
  -h | --help)
    usage
    exit 0
    ;;
  *)
    usage >&2
    exit 2
    ;;
esac

cd "$(dirname "${BASH_SOURCE[0]}")"
scene=$(mktemp)
trap 'rm -f "$scene"' EXIT

width=384 height=256
# Ridges with trees, paler with their distance. The fog leaves only a few dozen greys.
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

# One of OpenCV's photographs, equalised as a whole and by CLAHE.
examples=/usr/share/doc/opencv-doc/examples/data
width=256 height=192
size="video/x-raw,width=$width,height=$height"
gst-launch-1.0 -q filesrc location="$examples/leuvenB.jpg" ! jpegdec ! videoconvert ! video/x-raw,format=RGBx ! tee name=all \
  all. ! queue ! videoscale method=bilinear2 ! "$size" ! mixer.sink_0 \
  all. ! queue ! cudahistequalize ! videoscale method=bilinear2 ! "$size" ! mixer.sink_1 \
  all. ! queue ! cudahistequalize method=clahe clip-limit=3 ! videoscale method=bilinear2 ! "$size" ! mixer.sink_2 \
  compositor name=mixer background=white sink_1::xpos=$((width + 8)) sink_2::xpos=$((2 * width + 16)) \
  ! videoconvert ! video/x-raw,format=RGB ! avenc_png pred=up compression-level=9 ! filesink location=clahe.png
echo "$PWD/clahe.png"

# The same photograph as a dark frame, equalised with chroma=keep and chroma=scale.
gst-launch-1.0 -q filesrc location="$examples/leuvenB.jpg" ! jpegdec ! videoconvert ! video/x-raw,format=I420 \
  ! videobalance contrast=0.2 saturation=0.2 ! tee name=all \
  all. ! queue ! videoscale method=bilinear2 ! "$size" ! mixer.sink_0 \
  all. ! queue ! cudahistequalize method=clahe clip-limit=8 ! videoscale method=bilinear2 ! "$size" ! mixer.sink_1 \
  all. ! queue ! cudahistequalize method=clahe clip-limit=8 chroma=scale ! videoscale method=bilinear2 ! "$size" ! mixer.sink_2 \
  compositor name=mixer background=white sink_1::xpos=$((width + 8)) sink_2::xpos=$((2 * width + 16)) \
  ! videoconvert ! video/x-raw,format=RGB ! avenc_png pred=up compression-level=9 ! filesink location=chroma.png
echo "$PWD/chroma.png"

# Rows of people. A blur removes eyes and mouths first.
width=208 height=144
python3 - $width $height >"$scene" <<'PY'
import math, random, sys

width, height = int(sys.argv[1]), int(sys.argv[2])
random.seed(11)
picture = [[(196, 206, 218)] * width for _ in range(height)]


def ellipse(x, y, across, down, colour):
    for row in range(max(0, int(y - down) - 1), min(height, int(y + down) + 3)):
        for column in range(max(0, int(x - across) - 1), min(width, int(x + across) + 3)):
            reach = math.hypot((column - x) / across, (row - y) / down)
            cover = min(1, max(0, (1 - reach) * min(across, down) + 0.5))
            if cover > 0:
                picture[row][column] = tuple(old + cover * (new - old) for old, new in zip(picture[row][column], colour))


def person(x, y, size):
    skin = random.choice([(244, 208, 180), (226, 176, 140), (176, 122, 84), (120, 78, 54)])
    hair = random.choice([(40, 30, 26), (92, 58, 30), (196, 158, 84), (150, 150, 152), (150, 66, 34)])
    coat = random.choice([(178, 44, 48), (38, 86, 150), (52, 120, 74), (216, 168, 52), (86, 62, 120), (60, 64, 72)])
    look = random.uniform(-0.15, 0.15) * size
    ellipse(x, y + 2.5 * size, 1.5 * size, 1.7 * size, coat)
    ellipse(x, y + 0.9 * size, 0.4 * size, 0.5 * size, [0.85 * part for part in skin])
    ellipse(x, y - 0.25 * size, 0.92 * size, 1.02 * size, hair)
    ellipse(x, y + 0.1 * size, 0.76 * size, 0.95 * size, skin)
    for side in (-1, 1):
        eye = x + look + side * 0.32 * size
        ellipse(eye, y - 0.05 * size, 0.17 * size, 0.11 * size, (250, 250, 250))
        ellipse(eye + 0.3 * look, y - 0.05 * size, 0.085 * size, 0.095 * size, (24, 24, 30))
        ellipse(eye, y - 0.27 * size, 0.2 * size, 0.045 * size, hair)
    ellipse(x + 1.3 * look, y + 0.25 * size, 0.09 * size, 0.14 * size, [0.82 * part for part in skin])
    ellipse(x + look, y + 0.58 * size, random.uniform(0.18, 0.34) * size, 0.07 * size, (168, 56, 60))


rows = 4
for row in range(rows):
    size = height * (0.06 + 0.035 * row)
    at = random.uniform(-1, 0.5) * size
    while at < width + size:
        person(at, height * (0.16 + 0.19 * row) + random.uniform(-0.3, 0.3) * size, size * random.uniform(0.9, 1.1))
        at += random.uniform(2.3, 3.1) * size

sys.stdout.buffer.write(bytes(round(part) for line in picture for pixel in line for part in pixel))
PY

gst-launch-1.0 -q filesrc location="$scene" blocksize=$((3 * width * height)) \
  ! rawvideoparse format=rgb width=$width height=$height framerate=1/1 ! tee name=all \
  all. ! queue ! videoconvert ! mixer.sink_0 \
  all. ! queue ! cudagaussblur sigma=5 ! videoconvert ! mixer.sink_1 \
  all. ! queue ! cudagaussblur sigma=-2 ! videoconvert ! mixer.sink_2 \
  compositor name=mixer background=white sink_1::xpos=$((width + 8)) sink_2::xpos=$((2 * width + 16)) \
  ! videoconvert ! video/x-raw,format=RGB ! avenc_png pred=up compression-level=9 ! filesink location=blur.png
echo "$PWD/blur.png"

# A page with a lamp at the upper left and a shadow at the lower right. The darkest paper is darker than the ink elsewhere.
width=312 height=208
python3 - $width $height >"$scene" <<'PY'
import math, random, sys

width, height = int(sys.argv[1]), int(sys.argv[2])
random.seed(5)
letters = {
    "A": "01110 10001 10001 11111 10001 10001 10001", "B": "11110 10001 10001 11110 10001 10001 11110",
    "C": "01110 10001 10000 10000 10000 10001 01110", "D": "11110 10001 10001 10001 10001 10001 11110",
    "E": "11111 10000 10000 11110 10000 10000 11111", "F": "11111 10000 10000 11110 10000 10000 10000",
    "G": "01110 10001 10000 10111 10001 10001 01110", "H": "10001 10001 10001 11111 10001 10001 10001",
    "I": "01110 00100 00100 00100 00100 00100 01110", "K": "10001 10010 10100 11000 10100 10010 10001",
    "L": "10000 10000 10000 10000 10000 10000 11111", "M": "10001 11011 10101 10101 10001 10001 10001",
    "N": "10001 11001 10101 10011 10001 10001 10001", "O": "01110 10001 10001 10001 10001 10001 01110",
    "P": "11110 10001 10001 11110 10000 10000 10000", "R": "11110 10001 10001 11110 10100 10010 10001",
    "S": "01111 10000 10000 01110 00001 00001 11110", "T": "11111 00100 00100 00100 00100 00100 00100",
    "U": "10001 10001 10001 10001 10001 10001 01110", "V": "10001 10001 10001 10001 10001 01010 00100",
    "W": "10001 10001 10001 10101 10101 11011 10001", "X": "10001 10001 01010 00100 01010 10001 10001",
    "Y": "10001 10001 01010 00100 00100 00100 00100", " ": "00000 00000 00000 00000 00000 00000 00000",
}
text = ["THE SUM OF A BOX", "IS WHAT IS LEFT", "OF FOUR CORNERS", "NO MATTER HOW", "WIDE THE BOX MAY", "EVER BECOME"]
ink = [[0.0] * width for _ in range(height)]
scale, step = 3, 32
for line, words in enumerate(text):
    for place, letter in enumerate(words):
        for row, bits in enumerate(letters[letter].split()):
            for column, bit in enumerate(bits):
                for y in range(scale):
                    for x in range(scale):
                        if bit == "1":
                            ink[14 + line * step + row * scale + y][14 + place * 6 * scale + column * scale + x] = 1.0


def paper(x, y):
    lamp = 235 - 0.32 * math.hypot(x, y)
    shadow = 1 / (1 + math.exp(-(x - 0.9 * (height - y) - 95 + 14 * math.sin(y / 17)) / 9))
    return lamp * (1 - 0.68 * shadow)


def inked(x, y):  # the lens is not quite in focus
    around = [ink[min(max(y + dy, 0), height - 1)][min(max(x + dx, 0), width - 1)] for dy in (-1, 0, 1) for dx in (-1, 0, 1)]
    return 0.5 * ink[y][x] + 0.5 * sum(around) / 9


sys.stdout.buffer.write(bytes(
    max(0, min(255, round(paper(x, y) * (1 - 0.55 * inked(x, y)) + random.gauss(0, 2)))) for y in range(height) for x in range(width)))
PY

gst-launch-1.0 -q filesrc location="$scene" blocksize=$((width * height)) \
  ! rawvideoparse format=gray8 width=$width height=$height framerate=1/1 ! tee name=both \
  both. ! queue ! videoconvert ! mixer.sink_0 \
  both. ! queue ! cudathreshold radius=12 ratio=0.2 ! videoconvert ! mixer.sink_1 \
  compositor name=mixer background=white sink_1::xpos=$((width + 8)) \
  ! videoconvert ! video/x-raw,format=GRAY8 ! pngenc snapshot=true ! filesink location=binarise.png
echo "$PWD/binarise.png"

# The regions of pipelines/street-regions.txt, extrapolated to the first frame.
crop="videocrop left=232 right=48 top=120 bottom=216"
# shellcheck disable=SC2086
gst-launch-1.0 -q filesrc location=/usr/share/doc/opencv-doc/examples/data/vtest.avi ! decodebin ! videoconvert \
  ! tee name=both both. ! queue ! $crop ! mixer.sink_0 \
  both. ! queue ! cudagaussblur sigma=12 "regions=244,202,48,52;489,138,48,52;633,222,48,52" \
  region-shape=ellipse region-feather=8 ! $crop ! mixer.sink_1 \
  compositor name=mixer background=white sink_1::xpos=496 \
  ! videoconvert ! video/x-raw,format=RGB ! pngenc snapshot=true ! filesink location=privacy.png
echo "$PWD/privacy.png"

# A street at night with camera noise. Too much denoising would erase the lamp post, the fence and the wire.
width=256 height=176
python3 - $width $height >"$scene" <<'PY'
import math, random, sys

width, height = int(sys.argv[1]), int(sys.argv[2])
random.seed(3)
picture = [[44 + 16 * y / height for _ in range(width)] for y in range(height)]


def box(x0, y0, x1, y1, shade):
    for y in range(max(0, y0), min(height, y1)):
        for x in range(max(0, x0), min(width, x1)):
            picture[y][x] = shade


ground = 132
for x0, x1, top, wall in ((0, 58, 52, 70), (58, 104, 70, 82), (104, 150, 40, 64), (150, 214, 62, 76), (214, 256, 48, 68)):
    box(x0, top, x1, ground, wall)
    box(x0, top, x1, top + 2, wall - 14)
    for y in range(top + 9, ground - 20, 19):
        for x in range(x0 + 7, x1 - 8, 14):
            lit = random.random() < 0.4
            box(x, y, x + 7, y + 10, 168 if lit else 46)
            box(x + 3, y, x + 4, y + 10, wall - 8)
box(0, ground, width, height, 58)
for y in range(ground, height):  # the light of the lamp on the street
    for x in range(width):
        picture[y][x] += 90 * math.exp(-((x - 176) / 52) ** 2 - ((y - 150) / 12) ** 2)
box(0, ground + 5, width, ground + 6, 96)
for x in range(4, 118, 6):  # a fence
    box(x, ground - 16, x + 1, ground + 3, 112)
box(0, ground - 13, 118, ground - 12, 112)
for x in range(width):  # a wire
    picture[round(24 + 14 * ((x - 128) / 128) ** 2)][x] = 20
box(175, 34, 178, 152, 118)  # the lamp post
box(168, 30, 186, 34, 128)
for y in range(22, 70):
    for x in range(140, 215):
        picture[y][x] += 120 * math.exp(-math.hypot(x - 177, y - 37) / 9)

sys.stdout.buffer.write(bytes(max(0, min(255, round(v + random.gauss(0, 8)))) for row in picture for v in row))
PY

gst-launch-1.0 -q filesrc location="$scene" blocksize=$((width * height)) \
  ! rawvideoparse format=gray8 width=$width height=$height framerate=1/1 \
  ! cudadenoise strength=-1 ! filesink location="$scene.denoised"
# Side by side, with white gaps. The removed noise is drawn around middle grey, at three times its contrast.
python3 - "$scene" "$scene.denoised" $width $height >"$scene.three" <<'PY'
import sys

noisy, denoised = (open(name, "rb").read() for name in sys.argv[1:3])
width, height = (int(size) for size in sys.argv[3:])
removed = bytes(max(0, min(255, 128 + 3 * (a - b))) for a, b in zip(noisy, denoised))
gap = bytes([255]) * 8
for start in range(0, width * height, width):
    row = slice(start, start + width)
    sys.stdout.buffer.write(noisy[row] + gap + denoised[row] + gap + removed[row])
PY
gst-launch-1.0 -q filesrc location="$scene.three" blocksize=$(((3 * width + 16) * height)) \
  ! rawvideoparse format=gray8 width=$((3 * width + 16)) height=$height framerate=1/1 \
  ! pngenc snapshot=true compression-level=9 ! filesink location=denoise.png
rm "$scene.denoised" "$scene.three"
echo "$PWD/denoise.png"

# Fruits, smoothed by the guided filter, which keeps edges, and by a blur.
width=256 height=240
size="video/x-raw,width=$width,height=$height,pixel-aspect-ratio=1/1"
gst-launch-1.0 -q filesrc location="$examples/fruits.jpg" ! jpegdec ! videoconvert ! video/x-raw,format=RGBx \
  ! videoscale method=bilinear2 ! "$size" ! tee name=all \
  all. ! queue ! mixer.sink_0 \
  all. ! queue ! cudaguidedfilter radius=4 epsilon=600 ! mixer.sink_1 \
  all. ! queue ! cudagaussblur sigma=1.5 ! mixer.sink_2 \
  compositor name=mixer background=white sink_1::xpos=$((width + 8)) sink_2::xpos=$((2 * width + 16)) \
  ! videoconvert ! video/x-raw,format=RGB ! avenc_png pred=up compression-level=9 ! filesink location=guided.png
echo "$PWD/guided.png"

# The mean grey level of a lawn in each frame of the street video, in which people walk by.
folder=$(mktemp -d)
trap 'rm -f "$scene"; rm -rf "$folder"' EXIT
lawn=(! videocrop left=0 right=628 top=360 bottom=36)
gst-launch-1.0 -q filesrc location="$examples/vtest.avi" ! decodebin ! videoconvert ! video/x-raw,format=GRAY8 ! tee name=all \
  all. ! queue "${lawn[@]}" ! filesink location="$folder/input" \
  all. ! queue ! cudahistequalize "${lawn[@]}" ! filesink location="$folder/equalised" \
  all. ! queue ! cudahistequalize smoothing-time=1000000000 "${lawn[@]}" ! filesink location="$folder/smoothed"
python3 - "$folder" >flicker.svg <<'PY'
import pathlib, sys

width, height = 768, 286
left, right, bottom = 40, 760, 256
lawn = 140 * 180
frames_per_second = 10


def means(name):
    data = (pathlib.Path(sys.argv[1]) / name).read_bytes()
    return [sum(data[at:at + lawn]) / lawn for at in range(0, len(data), lawn)]


def change(levels):
    return sum(abs(b - a) for a, b in zip(levels, levels[1:])) / (len(levels) - 1)


series = [("cudahistequalize", "#d98a2b", means("equalised")),
          ("cudahistequalize smoothing-time=1000000000", "#2f6fb0", means("smoothed"))]
of_input = change(means("input"))
lowest = int(min(min(levels) for _, _, levels in series)) - 1
highest = int(max(max(levels) for _, _, levels in series)) + 1
seconds = len(series[0][2]) / frames_per_second


def x(second):
    return left + (right - left) * second / seconds


def y(level):
    return bottom - (bottom - 66) * (level - lowest) / (highest - lowest)


print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="11">')
print('<rect width="100%" height="100%" fill="white"/>')
print('<text x="8" y="16" font-size="13">Mean grey level of a lawn, while people walk by</text>')
for row, (name, colour, levels) in enumerate(series):
    text = f"{name}: changes from frame to frame {change(levels) / of_input:.1f} times as much as in the input"
    print(f'<rect x="{left}" y="{26 + 15 * row}" width="10" height="10" fill="{colour}"/>'
          f'<text x="{left + 14}" y="{35 + 15 * row}">{text}</text>')
for level in range(lowest, highest + 1, 2):
    print(f'<line x1="{left}" y1="{y(level):.1f}" x2="{right}" y2="{y(level):.1f}" stroke="#dddddd"/>')
    print(f'<text x="{left - 6}" y="{y(level) + 4:.1f}" text-anchor="end">{level}</text>')
for second in range(0, int(seconds) + 1, 10):
    print(f'<text x="{x(second):.1f}" y="{bottom + 18}" text-anchor="middle">{second} s</text>')
for name, colour, levels in series:
    points = " ".join(f"{x(i / frames_per_second):.1f},{y(level):.1f}" for i, level in enumerate(levels))
    print(f'<polyline points="{points}" fill="none" stroke="{colour}"/>')
print("</svg>")
PY
echo "$PWD/flicker.svg"

# The aloe of Debian's package opencv-doc, and its disparities.
width=300 height=260
gst-launch-1.0 -q cudasgmstereo name=stereo num-disparities=256 preset=dense ! video/x-raw,format=RGB \
  ! videoconvert ! videoscale method=bilinear2 ! "video/x-raw,width=$width,height=$height" ! mixer.sink_1 \
  filesrc location="$examples/aloeL.jpg" ! jpegdec ! videoconvert ! tee name=left \
  left. ! queue ! stereo.sink_left \
  filesrc location="$examples/aloeR.jpg" ! jpegdec ! videoconvert ! queue ! stereo.sink_right \
  left. ! queue ! videoscale method=bilinear2 ! "video/x-raw,width=$width,height=$height" ! mixer.sink_0 \
  compositor name=mixer background=white sink_1::xpos=$((width + 8)) \
  ! videoconvert ! video/x-raw,format=RGB ! avenc_png pred=up compression-level=9 ! filesink location=stereo.png
echo "$PWD/stereo.png"

# One of OpenCV's photographs of a chessboard, and its disparities without and with a calibration.
width=320 height=240
../pipelines/calibrate.py "$folder/stereo.yml" --left "$examples/left??.jpg" --right "$examples/right??.jpg" --square 25 >&2
gst-launch-1.0 -q filesrc location="$examples/left07.jpg" ! decodebin ! videoconvert ! tee name=left \
  filesrc location="$examples/right07.jpg" ! decodebin ! videoconvert ! tee name=right \
  left. ! queue ! videoscale method=bilinear2 ! "video/x-raw,width=$width,height=$height" ! mixer.sink_0 \
  left. ! queue ! raw.sink_left  right. ! queue ! raw.sink_right \
  left. ! queue ! rectified.sink_left  right. ! queue ! rectified.sink_right \
  cudasgmstereo name=raw ! video/x-raw,format=RGB ! videoconvert ! videoscale method=bilinear2 \
  ! "video/x-raw,width=$width,height=$height" ! mixer.sink_1 \
  cudasgmstereo name=rectified calibration="$folder/stereo.yml" ! video/x-raw,format=RGB ! videoconvert \
  ! videoscale method=bilinear2 ! "video/x-raw,width=$width,height=$height" ! mixer.sink_2 \
  compositor name=mixer background=white sink_1::xpos=$((width + 8)) sink_2::xpos=$((2 * width + 16)) \
  ! videoconvert ! video/x-raw,format=RGB ! avenc_png pred=up compression-level=9 ! filesink location=rectification.png
echo "$PWD/rectification.png"

# A rendered road with true disparities.
width=400 height=224
./roadscene.py render "$folder"
maps=()
for slanted in true false; do
  maps+=("$folder/slanted-surfaces=$slanted")
  pictures=()
  for side in left right; do
    pictures+=(filesrc "location=$folder/$side.gray" "blocksize=$((width * height))"
      ! rawvideoparse "width=$width" "height=$height" format=gray8 "framerate=1/1" ! queue ! "stereo.sink_$side")
  done
  gst-launch-1.0 -q cudasgmstereo name=stereo num-disparities=64 preset=dense slanted-surfaces=$slanted \
    ! video/x-raw,format=GRAY16_LE ! filesink location="${maps[-1]}" "${pictures[@]}"
done
./roadscene.py judge "$folder" "${maps[@]}" >&2
width=$((2 * width + 8)) height=$((2 * height + 8))
gst-launch-1.0 -q filesrc location="$folder/picture.rgb" blocksize=$((3 * width * height)) \
  ! rawvideoparse width=$width height=$height format=rgb framerate=1/1 ! videoconvert \
  ! avenc_png pred=up compression-level=9 ! filesink location=stereo-road.png
echo "$PWD/stereo-road.png"

width=300 height=260
[ -n "${CUDAVISION_STEREO_PAIRS:-}" ] || exit 0
pipeline=()
# disparities PAIR NUM-DISPARITIES PAD [PROPERTY=VALUE…] adds the map of a pair as an input of the mixer.
disparities() {
  local name=$1 number=$2 pad=$3
  shift 3
  pipeline+=(cudasgmstereo "name=stereo$pad" "num-disparities=$number" "$@" ! "video/x-raw,format=RGB"
    ! videoconvert ! videoscale "method=bilinear2" ! "video/x-raw,width=$width,height=$height"
    ! "mixer.sink_$pad"
    filesrc "location=$CUDAVISION_STEREO_PAIRS/$name/left.png" ! pngdec ! videoconvert
    ! "video/x-raw,format=GRAY8" ! queue ! "stereo$pad.sink_left"
    filesrc "location=$CUDAVISION_STEREO_PAIRS/$name/right.png" ! pngdec ! videoconvert
    ! "video/x-raw,format=GRAY8" ! queue ! "stereo$pad.sink_right")
}
before=(census=symmetric-9x7 paths=8 subpixel-method=parabola refine=false
  slanted-surfaces=false)
disparities cones 64 0 "${before[@]}"
disparities cones 64 1
disparities aloe 256 2 "${before[@]}"
disparities aloe 256 3
gst-launch-1.0 -q "${pipeline[@]}" \
  compositor name=mixer background=white sink_1::xpos=$((width + 8)) sink_2::ypos=$((height + 8)) \
  sink_3::xpos=$((width + 8)) sink_3::ypos=$((height + 8)) \
  ! videoconvert ! video/x-raw,format=RGB ! avenc_png pred=up compression-level=9 \
  ! filesink location=stereo-accuracy.png
echo "$PWD/stereo-accuracy.png"
