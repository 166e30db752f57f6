#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Shows the disparities of a stereo camera, or a video, whose frames hold both pictures: near points are
# red, far ones blue.
#
#   pipelines/stereo-packed.sh [PROPERTY=VALUE]... [/dev/videoN|FILE [OUT.mkv]]
#
# Shows them in a window, or writes them to OUT.mkv if that is given, or to disparity.mkv if there is no
# display. The pictures lie side by side; with frame-packing=top-bottom the left one lies above the right one.
# Properties are those of cudasgmstereo.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
properties=(frame-packing=side-by-side speckle-size=100)
while [[ ${1:-} == *=* ]]; do
  properties+=("$1")
  shift
done
input=${1:-/dev/video0}
out=${2:-}
[[ -r $input ]] || {
  echo "$input: there is no such camera or file, or this user may not read it (group video)" >&2
  exit 1
}

if [[ $input == /dev/video* ]]; then
  # The queue lets the camera go on while a frame is processed; leaky drops the oldest frames if the rest is too slow.
  source=(v4l2src "device=$input" ! decodebin ! videoconvert ! queue leaky=downstream max-size-buffers=2)
else
  source=(filesrc "location=$input" ! decodebin ! videoconvert ! queue)
fi
[[ -n $out || -n ${WAYLAND_DISPLAY:-${DISPLAY:-}} ]] || out=disparity.mkv
if [[ -z $out ]]; then
  sink=(! queue ! videoconvert ! autovideosink)
else
  sink=(! queue ! videoconvert ! vp8enc deadline=1 target-bitrate=4000000 ! matroskamux ! filesink "location=$out")
  echo "Writing $out"
fi
# Only sink_left is linked; the element splits each frame. -e ends the file properly when the pipeline is
# interrupted with Ctrl-C.
exec gst-launch-1.0 -e "${source[@]}" ! stereo.sink_left \
  cudasgmstereo name=stereo "${properties[@]}" ! video/x-raw,format=RGB "${sink[@]}"
