#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Computes the disparities of two photographs as a 16-bit PNG and in colours, or of two videos in colours.
#
#   pipelines/stereo-files.sh [PROPERTY=VALUE]... [LEFT RIGHT [OUT]]
#
# For photographs, writes OUT (.png; default: disparity.png), whose 16-bit samples are 16 times the disparity, and a coloured
# picture, named like OUT with -colors before the extension. The result for videos is shown in a window, or written to OUT
# (.mkv, .mp4 or .webm) if that is given, or to disparity.mkv if there is no display. The default is the aloe of Debian's
# package opencv-doc. PROPERTY=VALUE sets a property of cudasgmstereo. If the element warns that the result is wrong, the exit
# status is 1.
set -euo pipefail
# shellcheck source=env.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/env.sh"
properties=(num-disparities=256)
read_arguments 0 3 "$@"
[[ ${#arguments[@]} -ne 1 ]] || usage_error "the right picture is missing"
left=${arguments[0]:-$examples/aloeL.jpg}
right=${arguments[1]:-$examples/aloeR.jpg}
find_elements
look_at "$right"
right_kind=$kind
look_at "$left"
[[ $kind == "$right_kind" && $kind != camera ]] ||
  usage_error "\"$left\" is a $kind, \"$right\" a $right_kind: name two photographs or two videos"
check_stereo_properties "${properties[@]}"
source_of "$left"
pair=("${source[@]}" ! stereo.sink_left)
source_of "$right"
pair+=("${source[@]}" ! stereo.sink_right)
stereo=(cudasgmstereo name=stereo "${properties[@]}")
colors=(! 'video/x-raw,format=RGB')

if [[ $kind == photograph ]]; then
  map=${arguments[2]:-disparity.png}
  write_picture "${map%.*}-colors.${map##*.}" png
  colored=("${stereo[@]}" "${colors[@]}" "${sink[@]}" "${pair[@]}")
  write_picture "$map" png
  # pngenc accepts 16-bit gray only as GRAY16_BE. Without these caps videoconvert would choose 8-bit RGBA.
  play_photograph "${stereo[@]}" ! video/x-raw,format=GRAY16_LE ! videoconvert ! video/x-raw,format=GRAY16_BE \
    "${sink[@]}" "${pair[@]}"
  out=${map%.*}-colors.${map##*.}
  # The same pair is processed again, so its warnings are suppressed.
  play_photograph "${colored[@]}" 2> >(grep -v '^WARNING: ' >&2)
  [[ -z $wrong ]] || exit 1
else
  show_or_write "${arguments[2]:-}" disparity.mkv 4000000
  play "${stereo[@]}" "${colors[@]}" "${sink[@]}" "${pair[@]}"
fi
