#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Shows a video or a picture: the original on the left, the equalised picture on the right.
#
#   pipelines/file.sh FILE [OUT]
#
# Shows both in a window; closing the window ends the script. Writes them to OUT instead if OUT is given (.mkv, .mp4 or .webm;
# for a picture, .png or .jpg), or to equalised.mkv or equalised.png if there is no display.
set -euo pipefail
# shellcheck source=env.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/env.sh"
read_arguments 1 2 "$@"
find_elements
look_at "${arguments[0]}"
source_of "${arguments[0]}"

# tee passes the same frame to both branches. Each branch needs a queue, because the compositor waits for frames of both
# branches. With strength=0.8, the result is a blend of 80 % equalised and 20 % original.
size=video/x-raw,width=640,height=480,pixel-aspect-ratio=1/1
both=("${source[@]}" ! tee name=both
  both. ! queue ! videoscale ! "$size" ! mixer.sink_0
  both. ! queue ! cudahistequalize strength=0.8 ! videoscale ! "$size" ! mixer.sink_1
  compositor name=mixer sink_1::xpos=640)
if [[ $kind != photograph ]]; then
  show_or_write "${arguments[1]:-}" equalised.mkv 4000000
  play "${both[@]}" "${sink[@]}"
elif [[ ${#arguments[@]} -eq 2 ]] || ! display_set; then
  [[ ${#arguments[@]} -eq 2 ]] || say "$no_display"
  write_picture "${arguments[1]:-equalised.png}" png jpg jpeg
  play_photograph "${both[@]}" ! videoconvert ! video/x-raw,format=RGB "${sink[@]}"
else
  need_window
  # A picture is one frame; imagefreeze repeats it.
  play "${both[@]}" ! imagefreeze ! videoconvert ! autovideosink
fi
