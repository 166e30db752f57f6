#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Shows a noisy video on the left, and on the right the same video denoised by the non-local means of cudadenoise.
#
#   pipelines/denoise.sh [--strength LEVELS] [--search PIXELS] [FILE|/dev/videoN|URI [OUT]]
#
# Shows both in a window, or writes them to OUT (.mkv, .mp4 or .webm) if OUT is given, or to denoised.mkv if there is no
# display. The default is the street video of Debian's package opencv-doc, with noise added.
#
#   --strength   how far patches may differ and still count as similar, in grey levels, or "auto" (the default), which
#                follows the measured noise. Too much erases thin and pale details.
#   --search     side of the square that is searched for similar patches (odd; default: 11). This is slow on a CPU; half
#                the side takes a quarter of the time.
set -euo pipefail
# shellcheck source=env.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/env.sh"
option=([--strength]=auto [--search]=11)
read_arguments 0 2 "$@"
if [[ ${option[--strength]} == auto ]]; then
  option[--strength]=-1
else
  expect_number --strength 0 255 a
fi
expect_number --search 1 101 "an odd"
find_elements
input=${arguments[0]:-$examples/vtest.avi}
look_at "$input"
[[ $kind != photograph ]] || usage_error "\"$input\" is a picture: name a video or a camera"
source_of "$input"
show_or_write "${arguments[1]:-}" denoised.mkv 4000000

size='video/x-raw,format=I420,width=384,height=288'
frames=("${source[@]}" ! videoscale ! videoconvert ! "$size,pixel-aspect-ratio=1/1")
if [[ ${#arguments[@]} -eq 0 ]]; then
  # Blends in faint random noise, so that the video is as noisy as one taken in the evening.
  frames=("${frames[@]}" ! noise.sink_0
    videotestsrc pattern=snow ! "$size,framerate=10/1" ! noise.sink_1
    compositor name=noise sink_1::alpha=0.08 sink_1::zorder=2 ! "$size" ! identity eos-after=150)
fi
play "${frames[@]}" ! tee name=both \
  both. ! queue ! mixer.sink_0 \
  both. ! queue ! cudadenoise "strength=${option[--strength]}" "search-size=${option[--search]}" \
  ! mixer.sink_1 \
  compositor name=mixer sink_1::xpos=384 "${sink[@]}"
