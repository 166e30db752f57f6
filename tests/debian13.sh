#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Runs the tests on Debian 13, with GStreamer 1.26, GCC 14, newer OpenCV and TBB, and optionally its CUDA toolkit.
set -euo pipefail

usage() {
  cat <<'END'
usage: tests/debian13.sh [--debian-toolkit] [--root FOLDER] [--mirror URL] [ARGUMENT OF tests/run.sh]...

Installs Debian 13 with debootstrap, copies this tree into it and runs tests/run.sh there, for the CPU
only. Needs root, a Debian mirror and 5 GB. Later runs reuse the folder with its packages and builds.

  --debian-toolkit  also installs Debian's own CUDA toolkit (12.4, from the section non-free; another
                    8 GB) and builds the kernels with it, for all cards that it supports unless
                    -Dcuda-archs=… names some. The guards then read the machine code of this toolkit
  --root FOLDER     the folder of the Debian system (default: /var/tmp/gst-cudavision/debian13, and
                    debian13-toolkit beside it with --debian-toolkit)
  --mirror URL      the Debian mirror (default: http://deb.debian.org/debian)
  -h, --help        this text

All other arguments go to tests/run.sh, for example --sanitize, --suite guards or -Dwerror=true;
`tests/run.sh --help` lists them. The variables CUDAVISION_TEST_… and CK_… keep their values.
END
}

root=''
toolkit=no
mirror=http://deb.debian.org/debian
arguments=()
while [[ $# -gt 0 ]]; do
  case $1 in
    --root | --mirror)
      [[ $# -ge 2 ]] || {
        printf 'tests/debian13.sh: %s needs a value\n\n' "$1" >&2
        usage >&2
        exit 2
      }
      if [[ $1 == --root ]]; then root=$(realpath -m "$2"); else mirror=$2; fi
      shift
      ;;
    --debian-toolkit) toolkit=yes ;;
    -h | --help)
      usage
      exit 0
      ;;
    *) arguments+=("$1") ;;
  esac
  shift
done

cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/setup.sh
. scripts/chroot.sh

if [[ -z $root ]]; then
  # The chroot with a toolkit has a separate folder, because tests/run.sh --full builds the kernels if a toolkit is installed.
  root=/var/tmp/gst-cudavision/debian13
  [[ $toolkit == no ]] || root+=-toolkit
fi
make_chroot trixie "$root" "$mirror"
if [[ $toolkit == yes ]]; then
  printf 'deb %s trixie contrib non-free\n' "$mirror" >"$root/etc/apt/sources.list.d/non-free.list"
  # shellcheck disable=SC2016
  in_chroot "$root" sh -ec 'command -v nvcc >/dev/null || {
    echo "Installing the CUDA toolkit of Debian"
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends nvidia-cuda-toolkit
    apt-get clean
  } >"$0" 2>&1 </dev/null' /var/log/cuda-toolkit.log || {
    tail -n 20 "$root/var/log/cuda-toolkit.log" >&2
    die "Debian's CUDA toolkit could not be installed; the messages of apt-get are above."
  }
  # Without a card, tests/run.sh would build for only one target.
  [[ ${arguments[*]-} == *cuda-archs=* ]] || arguments+=("-Dcuda-archs=75-real,80-real,86-real,89-real,90")
  [[ ${arguments[*]-} == *--sanitize* ]] || arguments+=(-Dcuda=enabled)
fi
copy_sources "$root"
in_chroot "$root" tests/run.sh "${arguments[@]}"
