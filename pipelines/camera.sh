#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Shows the video of a camera, equalised by cudahistequalize.
#
#   pipelines/camera.sh [/dev/videoN|URI [OUT]]
#
# Shows the result in a window until Ctrl-C, or writes it to OUT (.mkv, .mp4 or .webm) if OUT is given, or to
# equalised.mkv if there is no display. The default is /dev/video0. A camera on the network has a URI, such as rtsp://….
set -euo pipefail
# shellcheck source=env.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/env.sh"
read_arguments 0 2 "$@"
camera=${arguments[0]:-/dev/video0}
look_at_camera "$camera"
find_elements
source_of "$camera"
show_or_write "${arguments[1]:-}" equalised.mkv 4000000
play "${source[@]}" ! cudahistequalize "${sink[@]}"
