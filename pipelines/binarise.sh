#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Makes a photographed page, or one in front of a camera, black and white, however uneven the light:
# cudaintegral compares each pixel with its surroundings.
#
#   pipelines/binarise.sh [--radius PIXELS] [--method bradley|sauvola] [FILE|/dev/videoN [OUT]]
#
# Writes a photograph to OUT, a PNG file (default: binarised.png). Shows a camera or a video in a window,
# or writes it to OUT, a Matroska file, if that is given, or to binarised.mkv if there is no display.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
# The radius should be a few letters wide. With a smaller one, the inside of bold letters turns white; with
# a larger one, shadows turn black.
radius=20
method=bradley
while [[ ${1:-} == --radius || ${1:-} == --method ]]; do
  [[ $1 == --radius ]] && radius=${2:?$1 needs a number} || method=${2:?$1 needs bradley or sauvola}
  shift 2
done
input=${1:-/usr/share/doc/opencv-doc/examples/data/sudoku.png}
out=${2:-}
[[ -r $input ]] || {
  echo "$input: there is no such file or camera, or it cannot be read (the page of sudoku is in Debian's package opencv-doc)" >&2
  exit 1
}

binarise=(! cudaintegral output=threshold "radius=$radius" "threshold-method=$method" ! videoconvert)
if [[ $input != /dev/video* && $(gst-typefind-1.0 "$input" 2>/dev/null) == *' - image/'* ]]; then
  out=${out:-binarised.png}
  echo "Writing $out"
  exec gst-launch-1.0 -q filesrc location="$input" ! decodebin ! videoconvert "${binarise[@]}" \
    ! pngenc snapshot=true ! filesink location="$out"
fi

[[ -n $out || -n ${WAYLAND_DISPLAY:-${DISPLAY:-}} ]] || out=binarised.mkv
if [[ $input == /dev/video* ]]; then
  source=(v4l2src "device=$input")
else
  source=(filesrc "location=$input")
fi
if [[ -z $out ]]; then
  sink=(! queue ! autovideosink)
else
  sink=(! queue ! vp8enc deadline=1 target-bitrate=2000000 ! matroskamux ! filesink "location=$out")
  echo "Writing $out"
fi
# The queue lets the camera go on while a frame is processed; leaky drops the oldest frames if the rest is too slow.
[[ $input != /dev/video* ]] || binarise=(! queue leaky=downstream max-size-buffers=2 "${binarise[@]}")
# -e ends the file properly when the pipeline is interrupted with Ctrl-C.
exec gst-launch-1.0 -e "${source[@]}" ! decodebin ! videoconvert "${binarise[@]}" "${sink[@]}"
