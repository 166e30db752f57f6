#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Decodes H.264 and equalises it on the GPU; only the results are copied to the host.
#
#   pipelines/gpu-decode.sh FILE.mp4|FILE.mkv
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
file=${1:?usage: pipelines/gpu-decode.sh FILE.mp4|FILE.mkv}
gst-inspect-1.0 --exists nvh264dec || {
  echo "GStreamer has no nvh264dec here: it needs an NVIDIA card with its driver and gstreamer1.0-plugins-bad" >&2
  exit 1
}

# The caps name memory:CUDAMemory, so frames stay in GPU memory. Without them the pipeline works as well,
# but frames may pass through the host's memory.
exec gst-launch-1.0 filesrc location="$file" ! parsebin ! nvh264dec \
  ! 'video/x-raw(memory:CUDAMemory),format=NV12' ! cudahistequalize \
  ! 'video/x-raw(memory:CUDAMemory),format=NV12' ! cudadownload \
  ! queue ! videoconvert ! autovideosink
