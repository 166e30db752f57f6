#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Equalises a video and writes it as H.264 in Matroska, on the GPU if there is one, otherwise on the CPU.
#
#   pipelines/encode.sh FILE OUT.mkv
#
# Keeps the sound, without transcoding if Matroska takes its format, and applies the video's orientation tag. If the video
# has more than 8 bits per sample, the result has 10 bits and is encoded on the CPU.
set -euo pipefail
# shellcheck source=env.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/env.sh"
read_arguments 2 2 "$@"
find_elements
file=${arguments[0]} out=${arguments[1]}
look_at "$file"
[[ $kind == video ]] || usage_error "\"$file\" is not a video: name a video file"
check_output "$out" mkv

look_into "$file" mkv

frames='video/x-raw,format={NV12,I420}'
deep='format=\(string\)(\w+_(10|12|16)\w*|GRAY1[06]_|\w{4}64|v21[06]|Y[24]1[026]_|UYVP|r210|\w+10A2)'
if grep -qE "^/.* caps = video/x-raw.*$deep" <<<"$film_log"; then
  frames=video/x-raw,format=I420_10LE
fi
# nvh264enc takes 8 bits only.
if [[ $frames != *I420_10LE ]] && gst-inspect-1.0 nvh264enc >/dev/null 2>&1; then
  # cudaupload uploads each frame once; the frame then stays in GPU memory up to the encoder.
  encode=(! cudaupload ! cudahistequalize ! 'video/x-raw(memory:CUDAMemory)' ! nvh264enc)
else
  need_element x264enc "sudo apt-get install gstreamer1.0-plugins-ugly"
  encode=(! cudahistequalize ! x264enc)
fi

play "${film[@]}" film. ! 'video/x-raw(ANY)' ! queue ! videoconvert ! "${upright[@]}" ! "$frames" "${encode[@]}" ! h264parse ! mux. \
  "${sound[@]}" matroskamux name=mux ! filesink "$(at_file "$out")"
