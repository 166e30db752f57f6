#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Converts photographed pages, or a page in front of a camera, to black and white for reading and OCR, even in uneven light.
# cudathreshold compares each pixel with its surroundings, and removes specks of noise.
#
#   pipelines/binarise.sh [--method sauvola|bradley] [--radius PIXELS] [--k WEIGHT] [--range LEVELS] [--ratio SHARE] [--speckle-size PIXELS] [FILE|FOLDER|/dev/videoN|URI [OUT]]
#
# Writes a photograph to OUT (.png or .jpg; default: binarised.png), and all pictures of a FOLDER as .png into the folder
# OUT (default: binarised). Shows a camera or a video in a window, or writes it to OUT (.mkv, .mp4 or .webm) if that is
# given, or to binarised.mkv if there is no display. The default is the page of sudoku of Debian's package opencv-doc.
#
#   --method         sauvola (the default), which keeps empty paper white, or bradley
#   --radius         radius of the surroundings in pixels, about the height of a line of letters (default: 20). With a
#                    smaller radius, the inside of bold letters turns white; with a larger one, shadows turn black.
#   --k, --range     for sauvola: with a larger k, fewer pixels of low contrast turn black (default: 0.3); range is the
#                    standard deviation, in levels of 8 bits, of surroundings with full contrast (default: 64). Pale letters
#                    need a smaller range or k, noisy paper needs larger values.
#   --ratio          for bradley: how much darker than the mean of its surroundings a pixel must be to turn black, as a share
#                    of the mean (default: 0.15, which is 15 %)
#   --speckle-size   largest area of removed specks, in pixels (default: 5; 0 removes none). It must be smaller than the
#                    dots of the letters.
set -euo pipefail
# shellcheck source=env.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/env.sh"
option=([--method]=sauvola [--radius]=20 [--k]=0.3 [--range]=64 [--ratio]=0.15 [--speckle-size]=5)
read_arguments 0 2 "$@"
expect_choice --method sauvola bradley
expect_number --radius 0 65535
expect_number --k 0 1 a
expect_number --range 0 255 a
expect_number --ratio 0 1 a
expect_number --speckle-size 0 999999999
find_elements
input=${arguments[0]:-$examples/sudoku.png}

# Converts every input to GRAY8, so that --range is always in levels of 8 bits.
binarise=(! videoconvert ! 'video/x-raw,format=GRAY8' ! cudathreshold)
for property in method radius k range ratio speckle-size; do
  binarise+=("$property=${option[--$property]}")
done

binarise_photograph() { # FILE OUT
  source_of "$1"
  write_picture "$2" png jpg jpeg
  play_photograph "${source[@]}" "${binarise[@]}" "${sink[@]}"
}

# binarise_folder FOLDER OUT: if a picture fails, continues with the others.
binarise_folder() {
  local file name pages=() count=0 failed=0
  local -A stems=()
  [[ ! $1 -ef $2 ]] || die "$2: this is the input folder; name another folder for the results"
  [[ ! -e $2 || -d $2 ]] || die "$2: this is a file; name a folder for the results"
  for file in "$1"/*; do
    [[ -f $file && $(gst-typefind-1.0 "$file" 2>/dev/null) == *' - image/'* ]] || continue
    name=${file##*/}
    pages+=("$file")
    stems[${name%.*}]+=x
  done
  [[ ${#pages[@]} -gt 0 ]] || die "$1: there is no picture in this folder; name a folder with PNG, JPEG or other pictures"
  mkdir -p "$2"
  for file in "${pages[@]}"; do
    name=${file##*/}
    # Pictures that differ only in their extensions, such as page.png and page.jpg, become page.png.png and page.jpg.png.
    [[ ${stems[${name%.*}]} != x ]] || name=${name%.*}
    say "$((++count)) of ${#pages[@]}: $file"
    (binarise_photograph "$file" "$2/$name.png") || ((++failed))
  done
  [[ $failed == 0 ]] || die "$failed of ${#pages[@]} pictures failed; the reasons are above"
}

if [[ -d $input ]]; then
  binarise_folder "${input%/}" "${arguments[1]:-binarised}"
  exit
fi
look_at "$input"
if [[ $kind == photograph ]]; then
  binarise_photograph "$input" "${arguments[1]:-binarised.png}"
else
  source_of "$input"
  show_or_write "${arguments[1]:-}" binarised.mkv 2000000
  play "${source[@]}" "${binarise[@]}" "${sink[@]}"
fi
