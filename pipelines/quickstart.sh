#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Builds the plug-in on Debian 12, and makes equalised, blurred and binarised pictures and a disparity map.
#
#   pipelines/quickstart.sh [INPUT]
#
# Installs missing packages (as root or if sudo needs no password; otherwise it prints the command) and builds the
# plug-in in build-quickstart/. Then it equalises INPUT with cudahistequalize, blurs it with cudagaussblur and makes
# it black and white with cudathreshold. INPUT is one of these:
#
#   a file        a picture or a video
#   /dev/videoN   a camera
#   a URI         https://…, rtsp://…, or another URI that this GStreamer plays
#   nothing       photographs and the street video of Debian's package opencv-doc; in this case it also makes
#                 a disparity map of a photographed aloe with cudasgmstereo
#
# It writes the original picture and the equalised, blurred and binarised pictures, and shows a video in a window if
# there is a display. It prints where the pictures are, which backend ran and, for videos and cameras, the frames per second,
# including decoding. No GPU is needed; without one, the plug-in is built for the CPU only.
#
# Environment variables: PICTURES is the folder for the pictures (default: pictures/ in the build folder). CUDA_HOME is
# the folder of a CUDA toolkit, which is tried in addition to the toolkits on PATH and in /usr/local/cuda*.
set -euo pipefail
# shellcheck source=env.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/env.sh"
read_arguments 0 1 "$@"
here=$PWD
top=$(dirname "$pipelines")
cd "$top"

# --- Input --------------------------------------------------------------------------------

packages=("${packages_build[@]}" "${packages_run[@]}" "${packages_explore[@]}")
input=${arguments[0]:-}
if [[ -z $input ]]; then
  packages+=("${packages_pictures[@]}")
  inputs=("$examples"/{aloeL.jpg,fruits.jpg,sudoku.png,vtest.avi}) # cudasgmstereo also reads aloeR.jpg
else
  [[ $input == *://* || $input == /* ]] || input=$here/$input
  [[ ! -d $input ]] || die "$input: this is a folder; name a file"
  [[ $input == *://* || -r $input ]] ||
    die "$input: there is no such file or camera, or it cannot be read." \
      "quickstart.sh takes a file, a camera such as /dev/video0, or a URI; without an argument it uses the pictures of opencv-doc."
  inputs=("$input")
fi
! display_set || packages+=("${packages_display[@]}")

# --- Install and build ------------------------------------------------------------------------------

install_missing "${packages[@]}"

options=(-Dtests=disabled -Dbenchmarks=disabled)
# Kernels for all kinds of GPUs take many minutes to compile, and a machine without a GPU cannot use them.
if nvidia_card; then
  find_nvcc || true
else
  say "There is no NVIDIA GPU here: building for the CPU only."
  options+=(-Dcuda=disabled)
fi
build=$top/build-quickstart
configure "$build" "${options[@]}"
say "Building in $build"
ninja -C "$build" >"$build/build.log" 2>&1 || {
  tail -n 40 "$build/build.log" >&2
  die "The plug-in does not build: the end of $build/build.log is above."
}
export GST_PLUGIN_PATH=$build/gst${GST_PLUGIN_PATH:+:$GST_PLUGIN_PATH}
pictures=${PICTURES:-$build/pictures}
mkdir -p "$pictures"
log=$build/pipeline.log # the messages of the last pipeline

# --- The pipelines ----------------------------------------------------------------------------------

# launch ELEMENT...: runs a pipeline and logs its messages.
launch() {
  # With the pipe to cat, launch returns only when the last message is in the file.
  gst_launch -v "$@" 2>&1 </dev/null | cat >"$log" && return 0
  die "GStreamer: $(grep -m 1 '^ERROR' "$log" || tail -n 1 "$log")" \
    "This pipeline failed: gst-launch-1.0 $*" "Its complete output is in $log"
}

# say_backend: prints the backend of the last pipeline and, the first time, why it is not CUDA.
reason=''
say_backend() {
  say "  backend: $(sed -n 's/.*active-backend = \(cpu\|cuda\).*/\1/p' "$log" | tail -n 1)"
  [[ -z $reason ]] || return 0
  reason=$(sed -n 's/^WARNING: from element [^ ]*: \(Frames are processed on the CPU.*\)/\1/p' "$log" | head -n 1)
  [[ -z $reason ]] || say "           $reason"
}

equalise=(! cudahistequalize)
blur=(! cudagaussblur sigma=6)
binarise=(! cudathreshold radius=20)

# branch KIND [! ELEMENT...]: called by pictures_of; adds a branch that applies the elements and writes pictures of this kind.
branch() {
  branches+=(all. ! queue "${@:2}" ! videoconvert ! 'video/x-raw,format=RGB' ! pngenc
    ! multifilesink max-files=1 "$(at_file "$pictures/$name-$1-%d.png")")
}

# pictures_of NAME FRAMES: plays at most FRAMES - 1 frames (-1 means all), and writes the last of them unchanged,
# equalised, blurred and binarised.
pictures_of() {
  local name=$1 frames=$2 kind branches=()
  rm -f "$pictures/$name"-{before,equalised,blurred,binarised}*.png
  branch before
  branch equalised "${equalise[@]}"
  branch blurred "${blur[@]}"
  branch binarised "${binarise[@]}"
  launch "${source[@]}" ! identity eos-after="$frames" ! tee name=all "${branches[@]}"
  for kind in before equalised blurred binarised; do
    mv "$pictures/$name-$kind"-*.png "$pictures/$name-$kind.png"
    say "  $(printf '%-10s' "$kind:") $pictures/$name-$kind.png"
  done
}

# frames_per_second [! ELEMENT...]: prints the frame rate of the decoder and these elements at full speed.
frames_per_second() {
  launch "${source[@]}" ! identity eos-after=400 "$@" \
    ! fpsdisplaysink video-sink=fakesink sync=false text-overlay=false fps-update-interval=100
  sed -n 's/.*average: \([0-9.]*\).*/\1/p' "$log" | tail -n 1
}

few='too few frames'

show() {
  say "  showing the first frames in a window: the original on the left, equalised on the right"
  gst_launch "${source[@]}" ! identity eos-after=150 ! tee name=both \
    both. ! queue ! videoconvert ! mixer.sink_0 \
    both. ! queue "${equalise[@]}" ! videoconvert ! mixer.sink_1 \
    compositor name=mixer sink_1::xpos="$1" ! videoconvert ! autovideosink 2>&1 </dev/null | cat >"$log" ||
    say "  the window was closed, or could not be opened; see $log"
}

say "" "Equalising with cudahistequalize, blurring with cudagaussblur, binarising with cudathreshold"
for input in "${inputs[@]}"; do
  source_of "$input"
  name=$(basename "${input%%\?*}")
  name=${name%.*}
  name=${name//[^A-Za-z0-9_-]/_}
  say "" "$input"

  kind=video
  [[ $input == *://* ]] || look_at "$input"
  case $kind in
    photograph) pictures_of "$name" -1 ;;
    video) pictures_of "$name" 25 ;;
    camera) pictures_of "$name" 30 ;; # cameras adapt their exposure in the first frames
  esac
  say_backend
  [[ $kind != photograph ]] || continue

  if [[ $kind == camera ]]; then
    rate=$(frames_per_second "${equalise[@]}")
    say "  frames per second: ${rate:-$few} (as the camera delivers them)"
  else
    say "  frames per second, including decoding:"
    rate=$(frames_per_second)
    say "    only decoded: ${rate:-$few}"
    rate=$(frames_per_second "${equalise[@]}")
    say "    equalised:    ${rate:-$few}"
    rate=$(frames_per_second "${blur[@]}")
    say "    blurred:      ${rate:-$few}"
    rate=$(frames_per_second "${binarise[@]}")
    say "    binarised:    ${rate:-$few}"
  fi

  if display_set; then
    width=$(sed -n 's/.*video\/x-raw.*width=(int)\([0-9]*\).*/\1/p' "$log" | head -n 1)
    show "${width:-640}"
  else
    say "  there is no display (neither WAYLAND_DISPLAY nor DISPLAY is set): only pictures"
  fi
done
if [[ $# -eq 0 ]]; then
  say "" "Stereo matching with cudasgmstereo: $examples/aloeL.jpg and aloeR.jpg"
  launch cudasgmstereo name=stereo num-disparities=256 preset=dense ! video/x-raw,format=RGB \
    ! pngenc snapshot=true ! filesink "$(at_file "$pictures/aloe-disparity.png")" \
    filesrc location="$examples/aloeL.jpg" ! decodebin ! videoconvert ! queue ! stereo.sink_left \
    filesrc location="$examples/aloeR.jpg" ! decodebin ! videoconvert ! queue ! stereo.sink_right
  say "  $(printf '%-10s' "disparity:") $pictures/aloe-disparity.png"
  say_backend
fi
say "" "See and tune the elements in a browser: $top/pipelines/explore.py"
say "More pipelines: the other scripts in $top/pipelines, and $top/docs/pipelines.md"
