#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Blurs faces, plates or whole people in a video so that nobody recognises them, and leaves every other pixel
# as it is. Where they are, and when, is in a text file, so no detector is needed.
#
#   pipelines/privacy.sh [--sigma SIGMA] [--shape rectangle|ellipse] [--feather PIXELS] [REGIONS FILE [OUT]]
#
# Shows the video in a window, or writes it to OUT (.mkv or .webm) if that is given, or to privacy.mkv if there
# is no display. The default is the street video of Debian's package opencv-doc, with a few of its people.
#
#   REGIONS    a region in each line: BEGIN END X Y WIDTH HEIGHT [LABEL], times in seconds, the rest in pixels;
#              lines that begin with # do not count. pipelines/street-regions.txt is an example.
#   --sigma    how much to blur, in pixels (default: 12)
#   --shape    of the blurred part of each rectangle (default: ellipse)
#   --feather  pixels around it over which the blur fades away (default: 8)
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
option=([--sigma]=12 [--shape]=ellipse [--feather]=8)
read_arguments 0 3 "$@"
expect_number --sigma 0.1 127 a
expect_choice --shape rectangle ellipse
expect_number --feather 0 65535
[[ ${#arguments[@]} -ne 1 ]] || usage_error "the video for \"${arguments[0]}\" is missing"
regions=${arguments[0]:-$pipelines/street-regions.txt}
[[ -r $regions && ! -d $regions ]] || die "$regions: there is no such file, or it cannot be read"
find_elements
mark=$(program mark-regions)
input=${arguments[1]:-$examples/vtest.avi}
look_at "$input"
[[ $kind == video ]] || usage_error "\"$input\" is not a video, but the regions have times"
source_of "$input"
show_or_write "${arguments[2]:-}" privacy.mkv 2000000

# mark-regions takes a pipeline as gst-launch-1.0 does, and gives the frames that pass "mark" the metas that a
# detector would give them.
player=("$mark" "$regions")
play "${source[@]}" ! identity name=mark ! cudagaussblur "sigma=${option[--sigma]}" use-roi-meta=true \
  "region-shape=${option[--shape]}" "region-feather=${option[--feather]}" "${sink[@]}"
