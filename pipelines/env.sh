# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Functions that the scripts in this folder share: they read the command line, find the elements, check inputs and
# outputs, and play pipelines. Scripts source this file.
#
# --help prints the comment at the head of a script. In this comment, lines that are indented by two more spaces and begin
# with "pipelines/" are the usage.
#
# Some variables are used only by the scripts that source this file:
# shellcheck disable=SC2034

. "$(dirname "${BASH_SOURCE[0]}")/../scripts/setup.sh"
# The scripts parse the output of GStreamer's tools, which must be English.
export LC_ALL=C.UTF-8 LANGUAGE=C
pipelines=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
examples=/usr/share/doc/opencv-doc/examples/data

# --- The command line -------------------------------------------------------------------------------

usage() { awk 'NR > 3 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "$0"; }

usage_error() { # TEXT
  complain "${0##*/}: $1" "$(usage | sed -n 's|^  pipelines/|usage: pipelines/|p')" \
    "pipelines/${0##*/} --help has the details."
  exit 2
}

# The options of a script, with their defaults. An option with the default "no" is a flag: it takes no value, and is set to
# "yes" if it is given.
declare -A option=()

# read_arguments MIN MAX ARGUMENT...: stores options in the array `option`, and MIN to MAX other arguments in the array
# `arguments`. PROPERTY=VALUE goes into the array `properties` if the script has this array.
read_arguments() {
  local min=$1 max=$2
  shift 2
  arguments=()
  while [[ $# -gt 0 ]]; do
    case $1 in
      -h | --help)
        usage
        exit 0
        ;;
      --)
        shift
        arguments+=("$@")
        break
        ;;
      --*=*)
        set -- "${1%%=*}" "${1#*=}" "${@:2}"
        continue
        ;;
      -?*)
        [[ -n ${option[$1]+known} ]] || usage_error "there is no option $1"
        if [[ ${option[$1]} == no || ${option[$1]} == yes ]]; then
          option[$1]=yes
        else
          [[ $# -ge 2 ]] || usage_error "$1 needs a value"
          option[$1]=$2
          shift
        fi
        ;;
      *)
        if [[ $1 =~ ^[a-z][a-z0-9-]*= ]] && declare -p properties >/dev/null 2>&1; then
          properties+=("$1")
        else
          arguments+=("$1")
        fi
        ;;
    esac
    shift
  done
  [[ ${#arguments[@]} -ge $min ]] || usage_error "an argument is missing: at least $min needed, ${#arguments[@]} given"
  [[ ${#arguments[@]} -le $max ]] || usage_error "\"${arguments[max]}\" is one argument too many"
}

# expect_number OPTION MIN MAX [KIND]: ends the script unless the option is a number from MIN to MAX. KIND is "a whole"
# (default), "an odd", or "a", which allows decimals.
expect_number() {
  local value=${option[$1]} kind=${4:-a whole} pattern='^[0-9]{1,9}$'
  [[ $kind != a ]] || pattern='^[0-9]{1,9}(\.[0-9]*)?$'
  if [[ $value =~ $pattern ]] && awk -v value="$value" -v min="$2" -v max="$3" \
    'BEGIN { exit !(value + 0 >= min + 0 && value + 0 <= max + 0) }'; then
    [[ $kind == "an odd" && $value == *[02468] ]] || return 0
  fi
  usage_error "$1 needs $kind number from $2 to $3, not \"$value\""
}

# expect_choice OPTION CHOICE...: ends the script unless the option is one of the choices.
expect_choice() {
  local choice
  for choice in "${@:2}"; do
    [[ ${option[$1]} != "$choice" ]] || return 0
  done
  usage_error "$1 needs one of ${*:2}, not \"${option[$1]}\""
}

# --- The elements -----------------------------------------------------------------------------------

# Does not use `gst-inspect-1.0 --exists`, which ignores plug-ins whose version is older than GStreamer's.
elements_found() {
  gst-inspect-1.0 cudavision >/dev/null 2>&1
}

builds=("$pipelines"/../build "$pipelines"/../build-quickstart)

# find_elements: makes GStreamer find the elements, installed or in a build folder.
find_elements() {
  local build
  command -v gst-launch-1.0 >/dev/null ||
    die "gst-launch-1.0 is not installed: sudo apt-get install ${packages_run[*]}"
  # The plug-in of this installation's prefix takes precedence over GStreamer's plug-in folder.
  [[ ! -e $pipelines/plugin ]] || export GST_PLUGIN_PATH=${GST_PLUGIN_PATH:+$GST_PLUGIN_PATH:}$pipelines/plugin
  if ! elements_found; then
    for build in "${builds[@]}"; do
      [[ ! -e $build/gst/libgstcudavision.so ]] || export GST_PLUGIN_PATH=$build/gst${GST_PLUGIN_PATH:+:$GST_PLUGIN_PATH}
    done
    elements_found ||
      die "GStreamer does not find the elements. Install the package gstreamer1.0-cudavision, or build them: meson setup build && ninja -C build"
  fi
}

# program NAME: prints the path of a program, which is installed with this script or is in a build folder. The folder of the
# plug-in that GStreamer uses takes precedence over other build folders.
program() {
  local plugin build
  if [[ -x $pipelines/programs/$1 ]]; then
    printf '%s\n' "$pipelines/programs/$1"
    return
  fi
  plugin=$(gst-inspect-1.0 cudavision | sed -n 's/^ *Filename *//p')
  for build in "$(dirname "$plugin")/.." "${builds[@]}"; do
    if [[ -x $build/pipelines/$1 ]]; then
      printf '%s\n' "$build/pipelines/$1"
      return
    fi
  done
  die "There is no program $1 yet. Build it: meson setup build && ninja -C build"
}

# need_element ELEMENT REMEDY: ends the script if GStreamer does not have the element.
need_element() {
  gst-inspect-1.0 "$1" >/dev/null 2>&1 || die "GStreamer has no element $1 here: $2"
}

# check_pipeline DESCRIPTION...: plays a pipeline, and ends the script if an element refuses its properties.
check_pipeline() {
  local log
  if ! log=$(gst_launch -q "$@" 2>&1) || [[ $log == *"out of range for property"* ]]; then
    usage_error "$(sed -nE 's/^(ERROR: from element [^ ]*: |WARNING: erroneous pipeline: |.*WARNING.*: (value ))/\2/p' <<<"$log" | head -n 1)"
  fi
}

# check_properties ELEMENT PROPERTY=VALUE...: ends the script if the element refuses the properties, before an output file
# is created. The frame is large enough for both halves of a stereo pair.
check_properties() {
  check_pipeline videotestsrc num-buffers=1 ! video/x-raw,format=GRAY8,width=64,height=64,framerate=1/1 ! "$@" ! fakesink
}

# check_stereo_properties PROPERTY=VALUE...: ends the script if cudasgmstereo refuses the properties. If they include a
# calibration, no frames are pushed, because a file fits only frames of one size, and the element already checks it at start.
check_stereo_properties() {
  if [[ " $*" == *" calibration"* ]]; then
    check_pipeline cudasgmstereo name=stereo "$@" ! fakesink \
      fakesrc num-buffers=0 ! stereo.sink_left fakesrc num-buffers=0 ! stereo.sink_right
  else
    check_properties cudasgmstereo frame-packing=side-by-side "$@"
  fi
}

# --- Inputs -----------------------------------------------------------------------------------------

looked_at=()

# look_at INPUT: sets kind to camera, stream (a URI), photograph or video. Ends the script if a file or camera cannot be read,
# or a file is neither picture nor video.
look_at() {
  local hint='; correct its name or permissions' media
  looked_at+=("$1")
  [[ $1 != "$examples"/* ]] || hint="; it is in Debian's package ${packages_pictures[*]}"
  case $1 in
    /dev/video*)
      [[ -r $1 ]] || die "$1: there is no such camera (ls /dev/video* lists the cameras), or this user may not read it (add the user to the group video)"
      kind=camera
      return
      ;;
    *://*)
      kind=stream
      return
      ;;
  esac
  [[ ! -d $1 ]] || die "$1: this is a folder; name a file"
  [[ -r $1 ]] || die "$1: there is no such file, or it cannot be read$hint"
  media=$(gst-typefind-1.0 "$1" 2>/dev/null) || media=''
  case ${media##* - } in
    image/*) kind=photograph ;;
    '' | audio/* | text/* | application/x-executable*)
      die "$1: this is not a picture or video that GStreamer knows${media:+ (it is ${media##* - })}; name another file"
      ;;
    *) kind=video ;;
  esac
}

look_at_camera() { # INPUT
  [[ $1 == /dev/video* || $1 == *://* ]] || usage_error "\"$1\" is not a camera, such as /dev/video0 or rtsp://…"
  look_at "$1"
}

# videoflip applies the orientation tag of videos and photographs, as players do.
upright=(videoflip video-direction=auto)

# at_file FILE: prints location="FILE", escaped for gst-launch-1.0. Without quotes, spaces and backslashes in names would be
# misread.
at_file() {
  local name=${1//\\/\\\\}
  printf 'location="%s"' "${name//\"/\\\"}"
}

# source_of INPUT: sets the array `source` to elements that deliver decoded frames.
source_of() {
  # If processing is too slow, this leaky queue drops the oldest frames, so that the display stays current.
  local recent=(queue leaky=downstream max-size-buffers=2)
  case $1 in
    # decodebin forwards raw frames, and decodes JPEG and H.264.
    /dev/video*) source=(v4l2src "device=$1" ! decodebin ! videoconvert ! "${recent[@]}") ;;
    rtsp*://* | udp://* | srt://* | rtmp*://*) source=(uridecodebin "uri=$1" ! videoconvert ! "${upright[@]}" ! "${recent[@]}") ;;
    *://*) source=(uridecodebin "uri=$1" ! videoconvert ! "${upright[@]}" ! queue) ;;
    *) source=(filesrc "$(at_file "$1")" ! decodebin ! videoconvert ! "${upright[@]}" ! queue) ;;
  esac
}

# For each container: the audio formats that it takes without transcoding, and audio/x-raw, to which decodebin decodes all
# other formats. The fields parsed and framed make decodebin add the parser that the container needs.
declare -A sound_formats=(
  [mkv]='audio/mpeg,mpegversion=1,parsed=true;audio/mpeg,mpegversion={2,4},stream-format=raw;audio/x-ac3,framed=true;audio/x-eac3,framed=true;audio/x-dts,framed=true;audio/x-opus;audio/x-vorbis;audio/x-flac,framed=true;audio/x-alaw;audio/x-mulaw;audio/x-raw'
  [mp4]='audio/mpeg,mpegversion=1,parsed=true;audio/mpeg,mpegversion=4,stream-format=raw;audio/x-ac3,framed=true;audio/x-raw'
  [webm]='audio/x-opus;audio/x-vorbis;audio/x-raw')

# look_into VIDEO CONTAINER [FORMATS]: inspects a video. Sets the array `film` to elements that decode it; the decoder is named
# "film". Sets the array `sound` to elements that link each audio track of "film" to the element "mux". FORMATS lists the audio
# formats that are not decoded. film_log has the caps of the frames. Ends the script if the video cannot be decoded. RTSP
# streams are not inspected, so their sound is left out.
look_into() {
  local formats=${3:-${sound_formats[$2]}} look looking pads track from
  sound=() film_log=''
  case $1 in
    rtsp*://*)
      film=(uridecodebin "uri=$1" name=film)
      return
      ;;
    *://*) from=(urisourcebin "uri=$1") ;;
    *) from=(filesrc "$(at_file "$1")") ;;
  esac
  film=("${from[@]}" ! decodebin name=film "caps=video/x-raw(ANY);$formats")

  # gst-launch-1.0 -v prints the caps of the frames. It can lose lines if two threads print at once, so the audio tracks are
  # read from decodebin's stream-topology message, which -m prints. Caps and message are complete when the pipeline has
  # prerolled (async-done). Waiting for EOS is not safe, because GStreamer can lose it during the change to PLAYING.
  exec {look}< <(gst_launch -v -m "${film[@]}" post-stream-topology=true ! 'video/x-raw(ANY)' ! fakesink 2>&1)
  looking=$!
  film_log=$(sed '/(async-done)/q' <&"$look")
  kill -KILL "$looking" 2>/dev/null || true
  exec {look}<&-
  [[ $film_log == *"(async-done)"* ]] || die "$1: $(sed -n 's/^ERROR: from element [^ ]*: //p' <<<"$film_log" | head -n 1)"

  # The message has nested structures. The structure of each pad begins with its caps, and a field gives its name.
  pads=$(sed -n '/(element): stream-topology, / { s/\\//g; s/stream-topology, /\n/g; p; q }' <<<"$film_log" | grep -a '^caps=.* pad=') ||
    die "$1: decodebin's list of streams has an unknown format; report this, with the output of gst-launch-1.0 --version"
  while read -r track; do
    if [[ $track == audio/x-raw ]]; then
      sound+=(film. ! audio/x-raw ! queue ! audioconvert ! audioresample)
      case $2 in
        webm) sound+=(! opusenc) ;;
        mp4)
          need_element avenc_aac "sudo apt-get install gstreamer1.0-libav"
          sound+=(! avenc_aac ! aacparse)
          ;;
      esac
      sound+=(! mux.)
    else
      sound+=(film. ! "$formats" ! mux.)
    fi
  done < <(sed -nE 's/^caps=\(GstCaps\)"?(audio\/[a-z0-9-]+).*/\1/p' <<<"$pads")
}

# --- Outputs ----------------------------------------------------------------------------------------

display_set() { [[ -n ${WAYLAND_DISPLAY:-${DISPLAY:-}} ]]; }

# need_window: ends the script if GStreamer has no element that opens a window.
need_window() {
  local element
  for element in waylandsink xvimagesink ximagesink glimagesink; do
    gst-inspect-1.0 "$element" >/dev/null 2>&1 && return
  done
  die "GStreamer has no element that opens a window: sudo apt-get install ${packages_display[*]}"
}

# check_output FILE ENDING...: ends the script if FILE has none of these extensions, cannot be written, or is an input.
check_output() {
  local ending=${1##*.} endings input folder
  if [[ $1 != *.* || " ${*:2} " != *" ${ending,,} "* ]]; then
    endings=$(printf ' or .%s' "${@:2}")
    usage_error "\"$1\" has an unsupported extension: use ${endings# or }"
  fi
  folder=$(dirname "$1")
  [[ -d $folder ]] || die "$1: there is no folder $folder; create it, or name another file"
  [[ ! -d $1 ]] || die "$1: this is a folder; name a file"
  [[ -w $folder && (! -e $1 || -w $1) ]] || die "$1: this file cannot be written; name another file"
  for input in "${looked_at[@]}"; do
    [[ ! $input -ef $1 ]] || die "$1: this is the input itself; name another file for the result"
  done
}

no_display='There is no display (neither WAYLAND_DISPLAY nor DISPLAY is set): the result goes into a file.'

# show_or_write OUT FALLBACK BITRATE: sets the array `sink` to elements that show a video in a window, or write it to OUT if
# OUT is not empty, or to FALLBACK if there is no display. Sets `out` to the file, or ''. The muxer is named "mux".
show_or_write() {
  out=$1
  if [[ -z $out ]] && ! display_set; then
    out=$2
    say "$no_display"
  fi
  if [[ -z $out ]]; then
    need_window
    sink=(! queue ! videoconvert ! autovideosink)
  else
    check_output "$out" mkv mp4 webm
    local encode=(vp8enc deadline=1 "target-bitrate=$3" ! matroskamux)
    case ${out,,} in
      *.mp4)
        need_element x264enc "sudo apt-get install gstreamer1.0-plugins-ugly"
        # x264enc needs even sizes. No h264parse, because it drops repeated timestamps, and mp4mux needs all timestamps.
        encode=(videoscale ! 'video/x-raw,format=I420,width=(int)[2,65534,2],height=(int)[2,65534,2]' !
          x264enc speed-preset=veryfast "bitrate=$(($3 / 1000))" ! mp4mux)
        ;;
      *.webm) encode[-1]=webmmux ;;
    esac
    sink=(! queue ! videoconvert ! "${encode[@]}" name=mux ! filesink "$(at_file "$out")")
  fi
}

# write_picture OUT ENDING...: sets the array `sink` to elements that write one picture, and `out` to its file.
write_picture() {
  out=$1
  check_output "$@"
  case ${out,,} in
    *.png) sink=(! videoconvert ! pngenc snapshot=true ! filesink "$(at_file "$out")") ;;
    *) sink=(! videoconvert ! jpegenc snapshot=true ! filesink "$(at_file "$out")") ;;
  esac
}

# hiding REGIONS: sets the array `hide` to an element and properties that hide the widest region in the file REGIONS. A blur
# with a sigma of a quarter of a face's width, or a mosaic of 3 blocks across the face, cannot be undone. Uses the mosaic for
# regions that are too wide for the blur, and a solid colour for regions that are too wide for the mosaic.
hiding() {
  read -ra hide < <(awk '!/^[ \t]*#/ && $5 + 0 > width { width = $5 + 0 } END {
    if (width <= 4 * 127) printf "cudagaussblur sigma=%.2f\n", width / 4
    else if (width <= 3 * 256) printf "cudapixelate block-size=%d\n", (width + 2) / 3
    else print "cudapixelate method=solid" }' "$1")
}

# --- Playing ----------------------------------------------------------------------------------------

# gst_launch ARGUMENT...: executes gst-launch-1.0, and ends it if it hangs after an error. Call it in a subshell, because it
# uses exec.
gst_launch() {
  local process=$BASHPID
  exec gst-launch-1.0 "$@" 2> >(end_after_error "$process")
}

# end_after_error PROCESS: prints the messages of gst-launch-1.0, and ends it if it hangs after an error. If another thread
# posts an error during the change to PAUSED, gst-launch-1.0 quits its main loop before the loop has started, and then hangs in
# the loop (with 1.22, after 1 of 450 refused RTSP connections). Two SIGINT end the loop, because with -e the first SIGINT only
# sends EOS and waits. SIGKILL follows, in case an element hangs while it stops.
end_after_error() {
  local line status failed='' signals=(INT INT KILL)
  trap '' INT
  while true; do
    status=0
    IFS= read -r ${failed:+-t "$seconds_to_end"} line || status=$?
    [[ $status == 0 || $status -gt 128 || -n $line ]] || return 0
    [[ $status -gt 128 && -z $line ]] || printf '%s\n' "$line" >&2
    [[ $line != ERROR:* ]] || failed=yes
    if [[ $status -gt 128 && ${#signals[@]} -gt 0 ]]; then
      kill -"${signals[0]}" "$1" 2>/dev/null || true
      signals=("${signals[@]:1}")
    fi
  done
}
seconds_to_end=5

player=(gst_launch)
out=''

# watch [only-warnings]: prints the output of gst-launch-1.0, or only its warnings and progress, as it arrives. Bit 0 of the
# status is set if the user closed the window, which is not an error. Bit 1 is set if cudasgmstereo warned that its result is
# wrong. Ignores Ctrl-C, so that the output is read to its end.
watch() {
  local line closed=0 wrong=0 begun=''
  trap '' INT
  while IFS= read -r line || [[ -n $line ]]; do
    case $line in
      *'Output window was closed'* | *'Quit requested'*) closed=1 ;;
      WARNING*'Frames are processed on the CPU'* | WARNING*'takes time for disparities'*) ;;
      'WARNING: from element '*GstCudaSgmStereo:*) wrong=2 ;;
    esac
    if [[ $line =~ ^[0-9:.]+\ /\ [0-9:.]+\ \( ]]; then
      printf '\r%s ' "$line"
      begun=yes
    elif [[ $closed == 0 && (-z ${1:-} || $line == WARNING:*) ]]; then
      [[ -z $begun ]] || printf '\n'
      printf '%s\n' "$line"
      begun=''
    fi
  done
  return $((closed + wrong))
}

# play ELEMENT...: plays a pipeline until its end, Ctrl-C or a closed window, and ends the script. Shows progress on a terminal.
play() {
  local statuses told=3 listener=''
  if [[ -n $out ]]; then
    say "Writing $out"
    # With -e, Ctrl-C sends EOS, so that the file is complete.
    [[ ${player[0]} != gst_launch ]] || player+=(-e)
  fi
  set +e
  exec 3>&1
  if [[ ${player[0]} == gst_launch ]]; then
    [[ ! -t 1 ]] || player+=(--force-position)
    exec {told}> >(watch >&3)
    listener=$!
  fi
  "${player[@]}" "$@" 2>&1 >&"$told" 3>&- | watch >&2 3>&-
  statuses=("${PIPESTATUS[@]}")
  if [[ -n $listener ]]; then
    exec {told}>&-
    wait "$listener"
    ((statuses[1] |= $?))
  fi
  set -e
  [[ $((statuses[1] & 1)) -eq 0 ]] || statuses[0]=0
  finish "${statuses[0]}"
  exit $((statuses[1] >> 1))
}

# play_photograph ELEMENT...: plays a pipeline that makes one picture. Prints the elapsed seconds on a terminal. Sets `wrong`
# to yes if cudasgmstereo warned that its result is wrong.
wrong=''
play_photograph() {
  local ticker='' seconds=0 statuses
  say "Writing $out"
  if [[ -t 1 ]]; then
    (while sleep 1; do printf '\r%d s ' "$((++seconds))"; done) &
    ticker=$!
    # shellcheck disable=SC2064
    trap "kill $ticker 2>/dev/null || true" EXIT
  fi
  # Warnings and progress share one stream, so watch filters it; -q would suppress both.
  set +e
  gst_launch "$@" | watch only-warnings >&2
  statuses=("${PIPESTATUS[@]}")
  set -e
  if [[ -n $ticker ]]; then
    kill "$ticker"
    wait "$ticker" 2>/dev/null || true
    printf '\r\033[K'
  fi
  [[ ${statuses[1]} -lt 2 ]] || wrong=yes
  finish "${statuses[0]}"
}

# finish STATUS: if the pipeline failed, removes an empty output file and exits. The statuses of SIGINT and SIGKILL become 1,
# because end_after_error sends these signals only after an error.
finish() {
  [[ $1 -ne 0 ]] || return 0
  [[ -z $out || -s $out ]] || rm -f "$out"
  [[ $1 -ne 130 && $1 -ne 137 ]] || exit 1
  exit "$1"
}
