#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Blurs faces, plates or whole people in a video. A text file lists their positions and times, so no detector is needed.
#
#   pipelines/privacy.sh [OPTION ...] [REGIONS VIDEO [OUT]]
#
# Shows the video in a window, or writes it to OUT (.mkv, .mp4 or .webm) if that is given, or to privacy.mkv if there
# is no display. The orientation tag of VIDEO is applied, and OUT keeps the sound. VIDEO may be a URI, such as rtsp://…; the
# sound of RTSP is left out. The default is the street video of Debian's package opencv-doc, with regions for a few people. At
# the end, the script lists the frames without a region. If no frame has a region, the exit status is 1.
#
#   REGIONS        a text file with a region in each line: BEGIN END X Y WIDTH HEIGHT [LABEL]. Times are in seconds, other
#                  numbers in pixels of the rotated picture. Lines that begin with # are ignored. For an example, see
#                  pipelines/street-regions.txt.
#   --missing      what to do with frames without a region: all blurs the whole frame (default); pass leaves the frame
#                  unchanged, for videos in which frames without a region show nobody
#   --persistence  seconds for which the last regions stay before --missing applies (default: 0.2)
#   --margin       pixels by which each region is extended on every side; doubled while the region persists (default: 0)
#   --sigma        strength of the blur, in pixels (default: a quarter of the widest region; above 127, a mosaic of 3 blocks
#                  across that region instead; for regions wider than 768 pixels, one colour). A blur with less than a quarter
#                  of a face's width can be undone.
#   --shape        shape of the blurred part of each rectangle: rectangle or ellipse (default: ellipse)
#   --feather      width in pixels of the border around each blurred part over which the blur fades away (default: 8)
#   --keep-tags    keep titles, comments, locations and all other tags; without this option, only language tags are kept
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
[[ ! -d $regions ]] || die "$regions: this is a folder; name a file"
[[ -r $regions && -f $regions ]] || die "$regions: there is no such file, or it cannot be read; correct its name or permissions"
find_elements
mark=$(program mark-regions)
input=${arguments[1]:-$examples/vtest.avi}
look_at "$input"
[[ $kind == video || $kind == stream ]] || usage_error "\"$input\" is not a video, but the regions have times: name a video"
show_or_write "${arguments[2]:-}" privacy.mkv 2000000
container=${out##*.} container=${container,,}
formats=${sound_formats[${container:=mkv}]}
if [[ ${option[--keep-tags]} == no ]]; then
  # Vorbis and FLAC are transcoded, because their headers contain comments.
  formats=${formats//audio\/x-vorbis;/} formats=${formats//audio\/x-flac,framed=true;/}
fi
look_into "$input" "$container" "$formats"
# The sound is not played.
[[ -n $out ]] || sound=()
persistence=$(awk -v seconds="${option[--persistence]}" 'BEGIN { printf "%.0f", 1e9 * seconds }')

if [[ -n ${option[--sigma]} ]]; then
  hide=(cudagaussblur "sigma=${option[--sigma]}")
else
  hiding "$regions"
fi

# mark-regions plays a pipeline like gst-launch-1.0, and adds region metas to the frames that pass the element "mark", as a
# detector would. The coordinates in REGIONS are pixels of the picture after videoflip.
player=("$mark")
[[ ${option[--keep-tags]} == no ]] || player+=(--keep-tags)
player+=("$regions")
play "${film[@]}" film. ! 'video/x-raw(ANY)' ! videoconvert ! queue ! videoflip video-direction=auto ! identity name=mark ! \
  "${hide[@]}" use-roi-meta=true "regions-missing=${option[--missing]}" \
  "region-persistence=$persistence" "region-margin=${option[--margin]}" "region-shape=${option[--shape]}" \
  "region-feather=${option[--feather]}" "${sink[@]}" "${sound[@]}"
