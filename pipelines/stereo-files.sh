#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Computes the disparities of two photographs as a 16-bit PNG, or of two videos in colours.
#
#   pipelines/stereo-files.sh [PROPERTY=VALUE]... [LEFT RIGHT [OUT]]
#
# Photographs give OUT, a PNG file (default: disparity.png) whose samples are 16 times the disparity, and a
# picture in colours, named like OUT with -colors before the extension. The result for videos is shown in a
# window, or written to OUT, a Matroska file, if that is given, or to disparity.mkv if there is no display.
# The default is the aloe of Debian's package opencv-doc. Properties are those of cudasgmstereo.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
properties=(num-disparities=256 speckle-size=100)
while [[ ${1:-} == *=* ]]; do
  properties+=("$1")
  shift
done
examples=/usr/share/doc/opencv-doc/examples/data
left=${1:-$examples/aloeL.jpg}
right=${2:-$examples/aloeR.jpg}
out=${3:-}
for file in "$left" "$right"; do
  [[ -r $file ]] || {
    echo "$file: there is no such file, or it cannot be read (the aloe is in Debian's package opencv-doc)" >&2
    exit 1
  }
done
pair=(filesrc "location=$left" ! decodebin ! videoconvert ! queue ! stereo.sink_left
  filesrc "location=$right" ! decodebin ! videoconvert ! queue ! stereo.sink_right)

if [[ $(gst-typefind-1.0 "$left" 2>/dev/null) == *' - image/'* ]]; then
  out=${out:-disparity.png}
  colors=${out%.png}-colors.png
  echo "Writing $out and $colors"
  # pngenc accepts 16-bit gray only as GRAY16_BE. Without these caps videoconvert would choose 8-bit RGBA.
  gst-launch-1.0 -q cudasgmstereo name=stereo "${properties[@]}" ! video/x-raw,format=GRAY16_LE \
    ! videoconvert ! video/x-raw,format=GRAY16_BE ! pngenc snapshot=true ! filesink location="$out" "${pair[@]}"
  exec gst-launch-1.0 -q cudasgmstereo name=stereo "${properties[@]}" ! video/x-raw,format=RGB \
    ! pngenc snapshot=true ! filesink location="$colors" "${pair[@]}"
fi

[[ -n $out || -n ${WAYLAND_DISPLAY:-${DISPLAY:-}} ]] || out=disparity.mkv
if [[ -z $out ]]; then
  sink=(! queue ! videoconvert ! autovideosink)
else
  sink=(! queue ! videoconvert ! vp8enc deadline=1 target-bitrate=4000000 ! matroskamux ! filesink "location=$out")
  echo "Writing $out"
fi
# -e ends the file properly when the pipeline is interrupted with Ctrl-C.
exec gst-launch-1.0 -e cudasgmstereo name=stereo "${properties[@]}" ! video/x-raw,format=RGB "${sink[@]}" "${pair[@]}"
