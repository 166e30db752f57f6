#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Cross-compiles the CPU code for 64-bit ARM and runs its tests in an emulator. The hashes of the seeded cases must equal a GPU's.
set -euo pipefail

usage() {
  cat <<'END'
usage: tests/arm64.sh [--root FOLDER] [--mirror URL] [--jobs N] [-D MESON-OPTION]... [SUITE]...

Unpacks Debian's arm64 libraries into a folder, compiles this tree for arm64 without CUDA, and runs the
tests with qemu. The hashes of the seeded cases (suite proof) must equal the hashes that a GPU computed. Ends
with the line `N passed, N failed, N skipped`; exits with 1 if anything failed.

  SUITE            kernels, oracles, threads, check, fuzz, proof or guards; default: all but oracles and
                   fuzz, which need hours in an emulator
  --root FOLDER    where the libraries are or will be (default: /var/tmp/gst-cudavision/arm64)
  --mirror URL     the Debian mirror (default: http://deb.debian.org/debian)
  --jobs N         how many compilers and tests run at once (default: as many as there are processors)
  -D NAME=VALUE, -DNAME=VALUE
                   an option for meson setup, for example -Dwerror=true
  -h, --help       this text

Needs 2 GB, and Debian's packages g++-aarch64-linux-gnu, qemu-user and mmdebstrap, which are installed
when run as root or if sudo asks for no password.

Environment: CUDAVISION_TEST_CASES, how many random cases each kernel test tries (default: 10);
CUDAVISION_TEST_MAX_PIXELS, the largest frames of the kernel tests (default: 100000).
END
}

root=/var/tmp/gst-cudavision/arm64
mirror=http://deb.debian.org/debian
jobs=$(nproc)
suites=() options=()
while [[ $# -gt 0 ]]; do
  case $1 in
    --root | --mirror | --jobs | -D)
      [[ $# -ge 2 ]] || {
        printf 'tests/arm64.sh: %s needs a value\n\n' "$1" >&2
        usage >&2
        exit 2
      }
      case $1 in
        --root) root=$(realpath -m "$2") ;;
        --mirror) mirror=$2 ;;
        --jobs) jobs=$2 ;;
        -D) options+=("-D$2") ;;
      esac
      shift
      ;;
    -D?*) options+=("$1") ;;
    kernels | oracles | threads | check | fuzz | proof | guards) suites+=("$1") ;;
    -h | --help)
      usage
      exit 0
      ;;
    *)
      printf 'tests/arm64.sh: unknown argument "%s"\n\n' "$1" >&2
      usage >&2
      exit 2
      ;;
  esac
  shift
done
[[ ${#suites[@]} -gt 0 ]] || suites=(kernels check proof guards)

cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/setup.sh

install_missing g++-aarch64-linux-gnu qemu-user mmdebstrap meson ninja-build pkg-config python3 "${packages_pictures[@]}"

# The packages are unpacked without their installation scripts, so no emulator has to be registered with
# the kernel.
libraries=$root/usr/lib/aarch64-linux-gnu
if [[ ! -e $libraries/libgstcheck-1.0.so ]]; then
  list=libc6-dev,libstdc++-12-dev
  for package in "${packages_build[@]}" "${packages_run[@]}" "${packages_test[@]}"; do
    # Take only libraries and GStreamer for arm64. Other programs are used from this machine.
    [[ $package != lib* && $package != gstreamer* && $package != zlib* ]] || list+=,$package
  done
  say "Unpacking Debian 12 for arm64 in $root"
  mkdir -p "$(dirname "$root")"
  rm -rf "$root.partial"
  mmdebstrap --variant=extract --architectures=arm64 --aptopt='APT::Install-Recommends "false"' \
    --include="$list" bookworm "$root.partial" "$mirror" >"$root.log" 2>&1 || {
    tail -n 20 "$root.log" >&2
    die "mmdebstrap could not unpack the packages from $mirror; name another mirror with --mirror."
  }
  rm -rf "$root"
  mv "$root.partial" "$root"
fi
# The packages' installation scripts, which did not run, would make these two links.
for name in blas lapack; do
  ln -sf "$name/lib$name.so.3" "$libraries/lib$name.so.3"
done

build="build-tests/arm64"
mkdir -p build-tests
compiler="'aarch64-linux-gnu-g++'"
! command -v ccache >/dev/null || compiler="'ccache', $compiler"
# configure() compares only the name of this file, so a change of its content must reconfigure here.
cat >build-tests/arm64.ini.new <<END
[binaries]
cpp = [$compiler]
ar = 'aarch64-linux-gnu-ar'
strip = 'aarch64-linux-gnu-strip'
pkgconfig = 'pkg-config'
exe_wrapper = ['qemu-aarch64', '-L', '$root']

[properties]
sys_root = '$root'
pkg_config_libdir = ['$libraries/pkgconfig', '$root/usr/share/pkgconfig']

[built-in options]
cpp_args = ['--sysroot=$root']
cpp_link_args = ['--sysroot=$root']

[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'cortex-a78'
endian = 'little'
END
cmp -s build-tests/arm64.ini.new build-tests/arm64.ini || {
  mv build-tests/arm64.ini.new build-tests/arm64.ini
  rm -rf "$build"
}
rm -f build-tests/arm64.ini.new
configure "$build" --cross-file build-tests/arm64.ini -Dcuda=disabled -Dtests=enabled -Dbenchmarks=disabled \
  -Dexamples=disabled "${options[@]}"

# The ninja targets of the programs in these suites.
mapfile -t targets < <(meson introspect --tests "$build" | python3 -c '
import json, os, sys
build, wanted = sys.argv[1], set(sys.argv[2:])
for test in json.load(sys.stdin):
    if wanted & {suite.split(":")[-1] for suite in test["suite"]}:
        for word in test["cmd"]:
            if word.startswith(build + "/") and not word.startswith(build + "/.."):
                print(os.path.relpath(word, build))' "$PWD/$build" "${suites[@]}" | sort -u)
say "Compiling for arm64"
ninja -C "$build" -j "$jobs" gst/libgstcudavision.so tests/kernels/proof_hashes "${targets[@]}" >"$build/build.log" 2>&1 || {
  grep -E '^FAILED|error|undefined reference' "$build/build.log" | head -n 20 >&2
  die "The arm64 build failed; the complete output of the compilers: $build/build.log"
}

# GStreamer would start its plug-in scanner, a program for arm64, without the emulator.
export GST_REGISTRY_FORK=no
export CK_TIMEOUT_MULTIPLIER=20
export CUDAVISION_TEST_CASES=${CUDAVISION_TEST_CASES:-10} CUDAVISION_TEST_MAX_PIXELS=${CUDAVISION_TEST_MAX_PIXELS:-100000}
status=0
meson test -C "$build" --no-rebuild --timeout-multiplier 20 --num-processes "$jobs" "${suites[@]/#/--suite=}" </dev/null ||
  status=1
python3 tests/tally.py meson arm64 "$build/meson-logs/testlog.json" >"$build/results.jsonl"
python3 tests/tally.py sum "$build/results.jsonl" || status=1
exit $status
