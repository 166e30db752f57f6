#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Equalises a video and writes it as H.264 in Matroska, on the GPU if there is one, else on the CPU.
#
#   pipelines/encode.sh FILE OUT.mkv
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
file=${1:?usage: pipelines/encode.sh FILE OUT.mkv}
out=${2:?usage: pipelines/encode.sh FILE OUT.mkv}

if gst-inspect-1.0 --exists nvh264enc; then
  # cudaupload uploads each frame once; from there to the encoder it stays in GPU memory.
  encode=(! cudaupload ! cudahistequalize ! 'video/x-raw(memory:CUDAMemory)' ! nvh264enc)
else
  gst-inspect-1.0 --exists x264enc || {
    echo "No encoder: install gstreamer1.0-plugins-ugly (x264enc), or use an NVIDIA card (nvh264enc)" >&2
    exit 1
  }
  encode=(! cudahistequalize ! videoconvert ! x264enc)
fi
# -e ends the file properly when the pipeline is interrupted with Ctrl-C.
exec gst-launch-1.0 -e filesrc location="$file" ! decodebin ! videoconvert \
  ! 'video/x-raw,format={NV12,I420}' "${encode[@]}" ! h264parse ! matroskamux ! filesink location="$out"
