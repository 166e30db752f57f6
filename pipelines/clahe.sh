#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Shows a picture, a video or a camera on the left, and its adaptive histogram equalisation (CLAHE) by cudahistequalize on
# the right.
#
#   pipelines/clahe.sh [--clip-limit LIMIT] [--tiles NUMBER] [FILE|/dev/videoN|URI [OUT]]
#
# Writes a photograph to OUT (.png or .jpg; default: clahe.png). Shows a camera or a video in a window, or writes it
# to OUT (.mkv, .mp4 or .webm) if that is given, or to clahe.mkv if there is no display. The default is the street video of
# Debian's package opencv-doc.
#
#   --clip-limit   limit of the contrast (default: 3). With 1, the picture hardly changes; 0 means no limit, which makes
#                  noise visible.
#   --tiles        number of tiles along each side of the picture, from 1 to 64 (default: 8). More tiles give contrast to
#                  smaller details.
set -euo pipefail
# shellcheck source=env.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/env.sh"
option=([--clip-limit]=3 [--tiles]=8)
read_arguments 0 2 "$@"
expect_number --clip-limit 0 65536 a
expect_number --tiles 1 64
find_elements
input=${arguments[0]:-$examples/vtest.avi}
look_at "$input"
source_of "$input"

# tee passes the same frame to both branches. Each branch needs a queue, because the compositor waits for frames of both
# branches.
size=video/x-raw,width=640,height=480,pixel-aspect-ratio=1/1
both=("${source[@]}" ! tee name=both
  both. ! queue ! videoscale ! "$size" ! mixer.sink_0
  both. ! queue ! cudahistequalize method=clahe "clip-limit=${option[--clip-limit]}" "tiles-x=${option[--tiles]}"
  "tiles-y=${option[--tiles]}" ! videoscale ! "$size" ! mixer.sink_1
  compositor name=mixer sink_1::xpos=640)
if [[ $kind == photograph ]]; then
  write_picture "${arguments[1]:-clahe.png}" png jpg jpeg
  play_photograph "${both[@]}" ! videoconvert ! video/x-raw,format=RGB "${sink[@]}"
else
  show_or_write "${arguments[1]:-}" clahe.mkv 4000000
  play "${both[@]}" "${sink[@]}"
fi
