#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Brightens a video that was taken in the dark: removes its noise with automatic strength, equalises the frames, and scales
# the colours with the brightness, on the GPU if there is one. Writes H.264 in Matroska with 8 bits per sample.
#
#   pipelines/night.sh [--frames NUMBER] [--search PIXELS] FILE OUT.mkv
#
# Processes 10 bits per sample, because denoising computes means between the levels of 8 bits, and equalisation makes such
# small differences visible. Keeps the sound, without transcoding if Matroska takes its format, and applies the video's
# orientation tag. Prints the progress on a terminal.
#
#   --frames   number of frames that are searched for similar patches (odd; default: 3). More frames keep more detail and
#              take longer; 1 searches each frame alone.
#   --search   side of the square that is searched in each frame (odd; default: 11). This is slow on a CPU; half the side
#              takes a quarter of the time.
set -euo pipefail
# shellcheck source=env.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/env.sh"
option=([--frames]=3 [--search]=11)
read_arguments 2 2 "$@"
expect_number --frames 1 9 "an odd"
expect_number --search 1 101 "an odd"
find_elements
file=${arguments[0]} out=${arguments[1]}
look_at "$file"
[[ $kind == video ]] || usage_error "\"$file\" is not a video: name a video file"
check_output "$out" mkv
need_element x264enc "sudo apt-get install gstreamer1.0-plugins-ugly"

look_into "$file" mkv

brighten=(cudadenoise strength=-1 "search-size=${option[--search]}" "frames=${option[--frames]}"
  ! cudahistequalize chroma=scale smoothing-time=1000000000)
play "${film[@]}" film. ! 'video/x-raw(ANY)' ! queue ! videoconvert ! "${upright[@]}" ! video/x-raw,format=I420_10LE \
  ! "${brighten[@]}" ! queue ! videoconvert ! video/x-raw,format=I420 ! x264enc ! h264parse ! mux. \
  "${sound[@]}" matroskamux name=mux ! filesink "$(at_file "$out")"
