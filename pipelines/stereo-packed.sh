#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A stereo camera, or a film, whose frames hold both pictures: what is near in red, what is far in blue.
#
#   pipelines/stereo-packed.sh [PROPERTY=VALUE]... [/dev/videoN|FILE [OUT.mkv]]
#
# In a window; into OUT.mkv where one is named, and into disparity.mkv where there is no display. The
# pictures lie side by side; frame-packing=top-bottom says that the left one is above the right one.
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
  # A camera goes on while a frame is being worked on: leaky drops the oldest where the rest is too slow.
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
# Only sink_left is linked, and each frame is taken apart where it lies. -e ends the file properly when
# the pipeline is interrupted with Ctrl-C.
exec gst-launch-1.0 -e "${source[@]}" ! stereo.sink_left \
  cudasgmstereo name=stereo "${properties[@]}" ! video/x-raw,format=RGB "${sink[@]}"
