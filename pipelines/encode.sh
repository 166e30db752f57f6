#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Equalises a video and writes it as H.264 in Matroska, on the GPU if there is one, else on the CPU.
#
#   pipelines/encode.sh FILE OUT.mkv
#
# The sound goes along, each track as it is if Matroska takes its format. The pictures are turned as players turn
# them. A video of more than 8 bits per sample becomes one of 10 bits.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
read_arguments 2 2 "$@"
find_elements
file=${arguments[0]} out=${arguments[1]}
look_at "$file"
[[ $kind == video ]] || usage_error "\"$file\" is not a video"
check_output "$out" mkv

# Matroska takes sound in these formats as it is; decodebin decodes all others. Where a parser makes the packets that
# Matroska needs, its caps say parsed or framed. Without these fields, decodebin would leave the parser out.
sound='audio/mpeg,mpegversion=1,parsed=true;audio/mpeg,mpegversion={2,4},stream-format=raw;audio/x-ac3,framed=true;audio/x-eac3,framed=true;audio/x-dts,framed=true;audio/x-opus;audio/x-vorbis;audio/x-flac,framed=true;audio/x-alaw;audio/x-mulaw;audio/x-raw'
film=(filesrc "location=$file" ! decodebin name=film "caps=video/x-raw(ANY);$sound")

# gst-launch-1.0 -v prints the caps of the frames, on one pad after the other. It can lose a line if two threads have
# one at the same moment, so the sound is not among what it must say: decodebin lists its pads in a message, which -m
# prints. All this is known when the first frame has come to the end of the pipeline. The end of the stream would tell
# no more, and GStreamer can lose it if it comes while the pipeline begins to play.
exec {look}< <(exec gst-launch-1.0 -v -m "${film[@]}" post-stream-topology=true ! 'video/x-raw(ANY)' ! fakesink 2>&1)
looking=$!
log=$(sed '/(async-done)/q' <&"$look")
kill -KILL "$looking" 2>/dev/null || true
exec {look}<&-
[[ $log == *"(async-done)"* ]] || die "$file: $(sed -n 's/^ERROR: from element [^ ]*: //p' <<<"$log" | head -n 1)"

frames='video/x-raw,format={NV12,I420}'
deep='format=\(string\)(\w+_(10|12|16)\w*|GRAY1[06]_|\w{4}64|v21[06]|Y[24]1[026]_|UYVP|r210|\w+10A2)'
if grep -qE "^/.* caps = video/x-raw.*$deep" <<<"$log"; then
  frames=video/x-raw,format=I420_10LE
fi
# nvh264enc takes 8 bits only.
if [[ $frames != *I420_10LE ]] && gst-inspect-1.0 nvh264enc >/dev/null 2>&1; then
  # cudaupload uploads each frame once; from there to the encoder it stays in GPU memory.
  encode=(! cudaupload ! cudahistequalize ! 'video/x-raw(memory:CUDAMemory)' ! nvh264enc)
else
  need_element x264enc "sudo apt-get install gstreamer1.0-plugins-ugly"
  encode=(! cudahistequalize ! x264enc)
fi

# The structures of this message lie within each other. Those of pads begin with the caps and name the pad.
pads=$(sed -n '/(element): stream-topology, / { s/\\//g; s/stream-topology, /\n/g; p; q }' <<<"$log" | grep -a '^caps=.* pad=') ||
  die "$file: decodebin does not say what is in it"
sound_to_mux=()
while read -r track; do
  if [[ $track == audio/x-raw ]]; then
    sound_to_mux+=(film. ! audio/x-raw ! queue ! audioconvert ! mux.)
  else
    sound_to_mux+=(film. ! "$sound" ! mux.)
  fi
done < <(sed -nE 's/^caps=\(GstCaps\)"?(audio\/[a-z0-9-]+).*/\1/p' <<<"$pads")
play "${film[@]}" film. ! 'video/x-raw(ANY)' ! queue ! videoconvert ! "${upright[@]}" ! "$frames" "${encode[@]}" ! h264parse ! mux. \
  "${sound_to_mux[@]}" matroskamux name=mux ! filesink location="$out"
