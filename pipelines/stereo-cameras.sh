#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Shows the disparities of two cameras: near points are red, far points blue.
#
#   pipelines/stereo-cameras.sh [PROPERTY=VALUE]... [LEFT RIGHT [OUT]]
#
# Shows the disparities in a window until Ctrl-C, or writes them to OUT (.mkv, .mp4 or .webm) if OUT is given, or to
# disparity.mkv if there is no display. LEFT and RIGHT are cameras (/dev/videoN or a URI such as rtsp://…; default:
# /dev/video0 and /dev/video2). The pictures must be rectified: each point of the scene is in the same row of both
# pictures. For ordinary cameras, make a calibration with pipelines/calibrate.py and add calibration=FILE. If the cameras
# are roughly parallel and no distances are needed, add calibration=auto instead. PROPERTY=VALUE sets a property of
# cudasgmstereo, such as num-disparities=64, or preset=balanced to leave unknown pixels black.
set -euo pipefail
# shellcheck source=env.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/env.sh"
properties=(preset=dense) # a picture without black holes
read_arguments 0 3 "$@"
[[ ${#arguments[@]} -ne 1 ]] || usage_error "the right camera is missing"
left=${arguments[0]:-/dev/video0}
right=${arguments[1]:-/dev/video2}
look_at_camera "$left"
look_at_camera "$right"
find_elements
check_stereo_properties "${properties[@]}"
show_or_write "${arguments[2]:-}" disparity.mkv 4000000

# Two frames form a pair if their times differ by at most max-skew, by default half the duration of a frame. cudasgmstereo
# waits for both frames, so each camera needs a queue. The first camera that negotiates its caps sets the frame size of both.
source_of "$left"
pair=("${source[@]}" ! stereo.sink_left)
source_of "$right"
pair+=("${source[@]}" ! stereo.sink_right)
play cudasgmstereo name=stereo "${properties[@]}" ! video/x-raw,format=RGB "${sink[@]}" "${pair[@]}"
