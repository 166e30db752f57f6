#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The street video, another film or a camera, out of focus until nobody in the crowd can be
# recognised, and back: a controller sweeps the sigma of cudagaussblur.
#
#   pipelines/blur.sh [--sigma LARGEST] [--period SECONDS] [FILE|/dev/videoN [OUT.mkv]]
#
# In a window; into OUT.mkv where one is named, and into blur.mkv where there is no display.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
sweep=("$(program blur-sweep)")
while [[ ${1:-} == --sigma || ${1:-} == --period ]]; do
  sweep+=("$1" "${2:?$1 needs a number}")
  shift 2
done
input=${1:-/usr/share/doc/opencv-doc/examples/data/vtest.avi}
out=${2:-}
[[ -r $input ]] || {
  echo "$input: there is no such file or camera, or it cannot be read (the street video is in Debian's package opencv-doc)" >&2
  exit 1
}
[[ -n $out || -n ${WAYLAND_DISPLAY:-${DISPLAY:-}} ]] || out=blur.mkv

if [[ $input == /dev/video* ]]; then
  source=(v4l2src "device=$input")
else
  source=(filesrc "location=$input")
fi
if [[ -z $out ]]; then
  sink=(! queue ! videoconvert ! autovideosink)
else
  sink=(! queue ! videoconvert ! vp8enc deadline=1 target-bitrate=2000000 ! matroskamux ! filesink "location=$out")
  echo "Writing $out"
fi

# blur-sweep takes a pipeline as gst-launch-1.0 does, and attaches the controller. The sweep follows
# the time of the frames, so a file gets the same one however long its encoding takes.
exec "${sweep[@]}" "${source[@]}" ! decodebin ! videoconvert ! cudagaussblur "${sink[@]}"
