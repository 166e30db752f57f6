#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Shows the disparities of a stereo camera or a video whose frames hold the left and the right picture: near points are
# red, far points blue.
#
#   pipelines/stereo-packed.sh [PROPERTY=VALUE]... [/dev/videoN|URI|FILE [OUT]]
#
# Shows the disparities in a window, or writes them to OUT (.mkv, .mp4 or .webm) if that is given, or to disparity.mkv if
# there is no display. The default is /dev/video0. The pictures are side by side; with frame-packing=top-bottom, the left
# picture is above the right one. PROPERTY=VALUE sets a property of cudasgmstereo; preset=balanced leaves unknown pixels
# black.
set -euo pipefail
# shellcheck source=env.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/env.sh"
properties=(frame-packing=side-by-side preset=dense)
read_arguments 0 2 "$@"
input=${arguments[0]:-/dev/video0}
find_elements
look_at "$input"
[[ $kind != photograph ]] || usage_error "\"$input\" is a picture: name a video or a camera"
check_stereo_properties "${properties[@]}"
source_of "$input"
show_or_write "${arguments[1]:-}" disparity.mkv 4000000

# Only sink_left is linked; cudasgmstereo splits each frame into both pictures.
play "${source[@]}" ! stereo.sink_left \
  cudasgmstereo name=stereo "${properties[@]}" ! video/x-raw,format=RGB "${sink[@]}"
