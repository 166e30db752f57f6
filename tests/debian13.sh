#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The tests on Debian 13: GStreamer 1.26, GCC 14, newer OpenCV and TBB.
set -euo pipefail

usage() {
  cat <<'END'
usage: tests/debian13.sh [--root FOLDER] [--mirror URL] [ARGUMENT OF tests/run.sh]...

Installs Debian 13 with debootstrap, copies this tree into it and runs tests/run.sh there, for the CPU
only. Needs root, a Debian mirror and 5 GB. A second run uses the folder again, with all that was
installed and built in it.

  --root FOLDER  where that Debian is or will be (default: /var/tmp/gst-cudavision/debian13)
  --mirror URL   the Debian mirror (default: http://deb.debian.org/debian)
  -h, --help     this text

All other arguments go to tests/run.sh, for example --sanitize or -Dwerror=true; `tests/run.sh --help`
lists them. The variables CUDAVISION_TEST_… and CK_… keep their values.
END
}

root=/var/tmp/gst-cudavision/debian13
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

make_chroot trixie "$root" "$mirror"
copy_sources "$root"
in_chroot "$root" tests/run.sh "${arguments[@]}"
