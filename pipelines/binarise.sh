#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A photographed page, or one before a camera, in black and white, however unevenly it is lit: each
# pixel is compared with what surrounds it, by cudaintegral.
#
#   pipelines/binarise.sh [--radius PIXELS] [--method bradley|sauvola] [FILE|/dev/videoN [OUT]]
#
# A photograph becomes OUT, a PNG file (binarised.png where none is named). A camera or a film is shown
# in a window; it goes into OUT, a Matroska file, where one is named, and into binarised.mkv where there
# is no display.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
# Some letters wide: smaller, and the inside of bold letters turns white; larger, and shadows turn black.
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
# A camera goes on while a frame is being worked on: leaky drops the oldest where the rest is too slow.
[[ $input != /dev/video* ]] || binarise=(! queue leaky=downstream max-size-buffers=2 "${binarise[@]}")
# -e ends the file properly when the pipeline is interrupted with Ctrl-C.
exec gst-launch-1.0 -e "${source[@]}" ! decodebin ! videoconvert "${binarise[@]}" "${sink[@]}"
