#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Blurs a video or a camera more and more, and then less and less until it is sharp again, repeatedly. A controller changes the
# sigma of cudagaussblur.
#
#   pipelines/blur.sh [--sigma LARGEST] [--period SECONDS] [FILE|/dev/videoN|URI [OUT]]
#
# Shows the result in a window, or writes it to OUT (.mkv, .mp4 or .webm) if OUT is given, or to blur.mkv if there is no
# display. The default is the street video of Debian's package opencv-doc.
#
#   --sigma    the largest sigma, in pixels (default: 15)
#   --period   the time from sharp to blurred and back, in seconds (default: 8)
set -euo pipefail
# shellcheck source=env.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/env.sh"
option=([--sigma]=15 [--period]=8)
read_arguments 0 2 "$@"
expect_number --sigma 0.1 127 a
expect_number --period 0.1 86400 a
find_elements
sweep=$(program blur-sweep)
input=${arguments[0]:-$examples/vtest.avi}
look_at "$input"
[[ $kind != photograph ]] || usage_error "\"$input\" is a picture, but the sweep needs many frames: name a video or a camera"
source_of "$input"
show_or_write "${arguments[1]:-}" blur.mkv 2000000

# blur-sweep takes a pipeline as gst-launch-1.0 does, and attaches the controller. The sweep follows
# the timestamps of the frames, so it does not depend on how long encoding takes.
player=("$sweep" --sigma "${option[--sigma]}" --period "${option[--period]}")
play "${source[@]}" ! cudagaussblur "${sink[@]}"
