#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# H.264 decoded by the card and equalised on the card; one copy to the host, at the very end.
#
#   pipelines/gpu-decode.sh FILE.mp4|FILE.mkv
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
file=${1:?usage: pipelines/gpu-decode.sh FILE.mp4|FILE.mkv}
gst-inspect-1.0 --exists nvh264dec || {
  echo "GStreamer has no nvh264dec here: it needs an NVIDIA card with its driver and gstreamer1.0-plugins-bad" >&2
  exit 1
}

# The caps between the elements name memory:CUDAMemory: frames stay where the decoder put them.
# Without these caps everything works as well, but a frame may take a way over the host.
exec gst-launch-1.0 filesrc location="$file" ! parsebin ! nvh264dec \
  ! 'video/x-raw(memory:CUDAMemory),format=NV12' ! cudahistequalize \
  ! 'video/x-raw(memory:CUDAMemory),format=NV12' ! cudadownload \
  ! queue ! videoconvert ! autovideosink
