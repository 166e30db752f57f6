#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Shows a camera in a window, equalised.
#
#   pipelines/camera.sh [/dev/videoN]
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
camera=${1:-/dev/video0}
[[ -r $camera ]] || {
  echo "$camera: there is no such camera, or this user may not read it (group video)" >&2
  exit 1
}

# decodebin passes raw frames on, and decodes those of cameras that send JPEG or H.264. The queue lets the
# camera go on while a frame is processed; leaky drops the oldest frames if the rest is too slow, so that
# the window always shows a recent one.
exec gst-launch-1.0 v4l2src device="$camera" ! decodebin ! videoconvert \
  ! queue leaky=downstream max-size-buffers=2 \
  ! cudahistequalize ! videoconvert ! autovideosink
