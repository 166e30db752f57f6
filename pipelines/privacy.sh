#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Blurs faces, plates or whole people in a video so that nobody recognises them, and leaves every other pixel
# as it is. Where they are, and when, is in a text file, so no detector is needed.
#
#   pipelines/privacy.sh [OPTION ...] [REGIONS FILM [OUT]]
#
# Shows the video in a window, or writes it to OUT (.mkv, .mp4 or .webm) if that is given, or to privacy.mkv if there
# is no display. A film that stands on its side is turned first, and its sound goes into OUT. FILM may be a URI,
# such as rtsp://…, whose sound is left out if it is RTSP. The default is the street video of Debian's package
# opencv-doc, with a few of its people. At the end, it says which frames had no region; if all had none, its exit
# status is 1.
#
#   REGIONS        a region in each line: BEGIN END X Y WIDTH HEIGHT [LABEL], times in seconds, the rest in pixels of
#                  the picture as people see it; lines that begin with # do not count. pipelines/street-regions.txt is
#                  an example.
#   --missing      all: blur frames for which the file has no region as a whole (default); pass: leave them as they
#                  are, because nobody is in them
#   --persistence  seconds for which the last regions stay before that (default: 0.2)
#   --margin       pixels by which each region is extended, and once more while it stays (default: 0)
#   --sigma        how much to blur, in pixels (default: a quarter of the widest region, or a mosaic of 3 blocks in its
#                  width where that is above 127). Less than a quarter of a face's width can be undone.
#   --shape        of the blurred part of each rectangle: rectangle or ellipse (default: ellipse)
#   --feather      pixels around it over which the blur fades away (default: 8)
#   --keep-tags    keep titles, comments, places and all else that the film says about itself; without this, only the
#                  languages of its sound stay
set -euo pipefail
# shellcheck source=env.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/env.sh"
option=([--missing]=all [--persistence]=0.2 [--margin]=0 [--sigma]='' [--shape]=ellipse [--feather]=8 [--keep-tags]=no)
read_arguments 0 3 "$@"
expect_choice --missing all pass
expect_number --persistence 0 86400 a
expect_number --margin 0 65535
[[ -z ${option[--sigma]} ]] || expect_number --sigma 0.1 127 a
expect_choice --shape rectangle ellipse
expect_number --feather 0 65535
[[ ${#arguments[@]} -ne 1 ]] || usage_error "the video for \"${arguments[0]}\" is missing"
regions=${arguments[0]:-$pipelines/street-regions.txt}
[[ -r $regions && -f $regions ]] || die "$regions: there is no such file, or it cannot be read"
find_elements
mark=$(program mark-regions)
input=${arguments[1]:-$examples/vtest.avi}
look_at "$input"
[[ $kind == video || $kind == stream ]] || usage_error "\"$input\" is not a video, but the regions have times"
show_or_write "${arguments[2]:-}" privacy.mkv 2000000
container=${out##*.} container=${container,,}
formats=${sound_formats[${container:=mkv}]}
if [[ ${option[--keep-tags]} == no ]]; then
  # These have comments of their own in the sound.
  formats=${formats//audio\/x-vorbis;/} formats=${formats//audio\/x-flac,framed=true;/}
fi
look_into "$input" "$container" "$formats"
# A window makes no sound.
[[ -n $out ]] || sound=()
persistence=$(awk -v seconds="${option[--persistence]}" 'BEGIN { printf "%.0f", 1e9 * seconds }')

if [[ -n ${option[--sigma]} ]]; then
  hide=(cudagaussblur "sigma=${option[--sigma]}")
else
  hiding "$regions"
fi

# mark-regions takes a pipeline as gst-launch-1.0 does, and gives the frames that pass "mark" the metas that a
# detector would give them. What comes after videoflip is the picture as people see it.
player=("$mark")
[[ ${option[--keep-tags]} == no ]] || player+=(--keep-tags)
player+=("$regions")
play "${film[@]}" film. ! 'video/x-raw(ANY)' ! videoconvert ! queue ! videoflip video-direction=auto ! identity name=mark ! \
  "${hide[@]}" use-roi-meta=true "regions-missing=${option[--missing]}" \
  "region-persistence=$persistence" "region-margin=${option[--margin]}" "region-shape=${option[--shape]}" \
  "region-feather=${option[--feather]}" "${sink[@]}" "${sound[@]}"
