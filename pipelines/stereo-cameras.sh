#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Shows the disparities of two cameras in a window: near points are red, far ones blue.
#
#   pipelines/stereo-cameras.sh [PROPERTY=VALUE]... [/dev/videoLEFT /dev/videoRIGHT]
#
# The pictures must be rectified: each point of the scene lies in the same row of both. Properties are
# those of cudasgmstereo, for example num-disparities=64.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
properties=(speckle-size=100)
while [[ ${1:-} == *=* ]]; do
  properties+=("$1")
  shift
done
left=${1:-/dev/video0}
right=${2:-/dev/video2}
for camera in "$left" "$right"; do
  [[ -r $camera ]] || {
    echo "$camera: there is no such camera, or this user may not read it (group video)" >&2
    exit 1
  }
done

# Two cameras never take their pictures at exactly the same moment: two frames form a pair if they are no
# more than max-skew apart, by default half a frame. cudasgmstereo waits for both, so each camera needs a
# queue of its own. Both must have the same size; the first camera to negotiate decides.
exec gst-launch-1.0 cudasgmstereo name=stereo "${properties[@]}" ! video/x-raw,format=RGB \
  ! queue leaky=downstream max-size-buffers=2 ! videoconvert ! autovideosink \
  v4l2src device="$left" ! decodebin ! videoconvert ! queue leaky=downstream max-size-buffers=2 ! stereo.sink_left \
  v4l2src device="$right" ! decodebin ! videoconvert ! queue leaky=downstream max-size-buffers=2 ! stereo.sink_right
