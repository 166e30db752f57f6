#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Blurs a street video, another video or a camera until nobody in the crowd can be recognised, and back
# to sharp again: a controller sweeps the sigma of cudagaussblur.
#
#   pipelines/blur.sh [--sigma LARGEST] [--period SECONDS] [FILE|/dev/videoN [OUT.mkv]]
#
# Shows it in a window, or writes it to OUT.mkv if that is given, or to blur.mkv if there is no display.
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
# the timestamps of the frames, so it does not depend on how long encoding takes.
exec "${sweep[@]}" "${source[@]}" ! decodebin ! videoconvert ! cudagaussblur "${sink[@]}"
