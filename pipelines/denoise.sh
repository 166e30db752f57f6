#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Shows a noisy video and, beside it, the same video denoised by the non-local means of cudaintegral.
#
#   pipelines/denoise.sh [--strength LEVELS] [--search PIXELS] [FILE|/dev/videoN [OUT.mkv]]
#
# The default is the street video of Debian's package opencv-doc, with noise added. Shows it in a window, or
# writes it to OUT.mkv if that is given, or to denoised.mkv if there is no display. This is slow on a CPU;
# half the search size takes a quarter of the time.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
strength=12
search=11
while [[ ${1:-} == --strength || ${1:-} == --search ]]; do
  [[ $1 == --strength ]] && strength=${2:?$1 needs a number} || search=${2:?$1 needs an odd number}
  shift 2
done
street=/usr/share/doc/opencv-doc/examples/data/vtest.avi
input=${1:-$street}
out=${2:-}
[[ -r $input ]] || {
  echo "$input: there is no such file or camera, or it cannot be read (the street video is in Debian's package opencv-doc)" >&2
  exit 1
}
[[ -n $out || -n ${WAYLAND_DISPLAY:-${DISPLAY:-}} ]] || out=denoised.mkv

if [[ $input == /dev/video* ]]; then
  source=(v4l2src "device=$input")
else
  source=(filesrc "location=$input")
fi
size='video/x-raw,format=I420,width=384,height=288'
frames=("${source[@]}" ! decodebin ! videoconvert ! videoscale ! "$size,pixel-aspect-ratio=1/1")
if [[ $# -eq 0 ]]; then
  # Almost transparent snow in front of the video makes it as noisy as a camera on a dark evening.
  frames=("${frames[@]}" ! noise.sink_0
    videotestsrc pattern=snow ! "$size,framerate=10/1" ! noise.sink_1
    compositor name=noise sink_1::alpha=0.12 sink_1::zorder=2 ! "$size" ! identity eos-after=150)
fi
if [[ -z $out ]]; then
  sink=(! queue ! videoconvert ! autovideosink)
else
  sink=(! queue ! videoconvert ! vp8enc deadline=1 target-bitrate=4000000 ! matroskamux ! filesink "location=$out")
  echo "Writing $out"
fi
# -e ends the file properly when the pipeline is interrupted with Ctrl-C.
exec gst-launch-1.0 -e "${frames[@]}" ! tee name=both \
  both. ! queue ! mixer.sink_0 \
  both. ! queue ! cudaintegral output=denoise "denoise-strength=$strength" "search-size=$search" ! mixer.sink_1 \
  compositor name=mixer sink_1::xpos=384 "${sink[@]}"
