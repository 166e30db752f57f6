#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Decodes H.264 and equalises it on the GPU; only the results are copied to the host.
#
#   pipelines/gpu-decode.sh FILE.mp4|FILE.mkv [OUT]
#
# Shows the result in a window, or writes it to OUT (.mkv, .mp4 or .webm) if OUT is given, or to equalised.mkv if there is no
# display.
set -euo pipefail
# shellcheck source=env.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/env.sh"
read_arguments 1 2 "$@"
find_elements
look_at "${arguments[0]}"
[[ $kind == video ]] || usage_error "\"${arguments[0]}\" is not a video: name a file with H.264 video"
need_element nvh264dec "it needs an NVIDIA card with its driver and gstreamer1.0-plugins-bad"
show_or_write "${arguments[1]:-}" equalised.mkv 4000000

# The caps with memory:CUDAMemory keep frames in GPU memory. Without these caps, frames may pass through host memory.
play filesrc "$(at_file "${arguments[0]}")" ! parsebin ! nvh264dec \
  ! 'video/x-raw(memory:CUDAMemory),format=NV12' ! cudahistequalize \
  ! 'video/x-raw(memory:CUDAMemory),format=NV12' ! cudadownload ! "${upright[@]}" "${sink[@]}"
