#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Makes a photographed page, or one in front of a camera, black and white, however uneven the light:
# cudathreshold compares each pixel with its surroundings.
#
#   pipelines/binarise.sh [--radius PIXELS] [--method bradley|sauvola] [FILE|/dev/videoN|URI [OUT]]
#
# Writes a photograph to OUT (.png or .jpg; default: binarised.png). Shows a camera or a video in a window, or
# writes it to OUT (.mkv, .mp4 or .webm) if that is given, or to binarised.mkv if there is no display. The default is
# the page of sudoku of Debian's package opencv-doc.
#
#   --radius   how far the surroundings reach, which should be a few letters wide (default: 20). With a smaller
#              radius, the inside of bold letters turns white; with a larger one, shadows turn black.
#   --method   bradley (the default), or sauvola, which keeps empty paper white
set -euo pipefail
# shellcheck source=env.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/env.sh"
option=([--radius]=20 [--method]=bradley)
read_arguments 0 2 "$@"
expect_number --radius 0 65535
expect_choice --method bradley sauvola
find_elements
input=${arguments[0]:-$examples/sudoku.png}
look_at "$input"
source_of "$input"

binarise=(! cudathreshold "radius=${option[--radius]}" "method=${option[--method]}")
if [[ $kind == photograph ]]; then
  write_picture "${arguments[1]:-binarised.png}" png jpg jpeg
  play_photograph "${source[@]}" "${binarise[@]}" "${sink[@]}"
else
  show_or_write "${arguments[1]:-}" binarised.mkv 2000000
  play "${source[@]}" "${binarise[@]}" "${sink[@]}"
fi
