#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Shows a video or a picture in a window: the original on the left, equalised on the right.
#
#   pipelines/file.sh FILE
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
file=${1:?usage: pipelines/file.sh FILE}

# tee passes the same frame to both branches. Each needs a queue, because they meet again in the compositor,
# which waits for both. strength=0.8 keeps a fifth of the original.
exec gst-launch-1.0 filesrc location="$file" ! decodebin ! videoconvert ! videoscale \
  ! video/x-raw,width=640,height=480,pixel-aspect-ratio=1/1 ! tee name=both \
  both. ! queue ! videoconvert ! mixer.sink_0 \
  both. ! queue ! cudahistequalize strength=0.8 ! videoconvert ! mixer.sink_1 \
  compositor name=mixer sink_1::xpos=640 ! videoconvert ! autovideosink
