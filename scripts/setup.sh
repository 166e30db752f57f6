# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Functions and package lists that the scripts of this project share. The functions install missing packages, find nvcc and
# configure builds. Scripts source this file.
#
# Some lists are used only by the scripts that source this file:
# shellcheck disable=SC2034

# With CDPATH, cd may print the new folder, which would corrupt the output of "cd … && pwd".
unset CDPATH

# The oldest CUDA toolkit that can build the kernels.
oldest_cuda=12.0

packages_build=(g++ meson ninja-build pkg-config libgstreamer1.0-dev libgstreamer-plugins-base1.0-dev
  libgstreamer-plugins-bad1.0-dev libtbb-dev)
packages_run=(gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-good
  gstreamer1.0-plugins-bad gstreamer1.0-plugins-ugly gstreamer1.0-libav)
packages_display=(gstreamer1.0-x)
packages_pictures=(opencv-doc)
packages_explore=(python3-gi gir1.2-gst-plugins-base-1.0 python3-numpy python3-aiohttp libjs-three)
packages_python=("${packages_explore[@]}" python3-matplotlib python3-opencv opencv-data python3-tk)
packages_bench=(libbenchmark-dev zlib1g-dev python3)
packages_test_build=("${packages_bench[@]}" libgtest-dev libgmock-dev libopencv-dev)
packages_test=("${packages_test_build[@]}" python3-venv python3-torch chromium "${packages_display[@]}" "${packages_python[@]}")

say() { printf '%s\n' "$@"; }
complain() { printf '%s\n' "$@" >&2; }
die() {
  complain "$@"
  exit 1
}

# Prints a message between two lines of asterisks, so that nobody overlooks it.
shout() {
  local rule='*******************************************************************************'
  printf '\n%s\n' "$rule" >&2
  printf '%s\n' "$@" >&2
  printf '%s\n\n' "$rule" >&2
}

# Time limit of apt_get for locks of other programs, in seconds.
lock_timeout=3600

# apt_get ARGUMENT...: runs apt-get as root, by the command in the array as_root. Waits while another program, such as the
# automatic updates of a fresh machine, holds apt-get's locks. apt-get's own DPkg::Lock::Timeout would wait for the lock of
# dpkg, but not for the locks of the package lists and of the downloads.
apt_get() {
  local status messages held told=no end=$((SECONDS + lock_timeout))
  while :; do
    status=0
    messages=$("${as_root[@]}" env LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive apt-get -qq "$@" \
      2>&1 >/dev/null </dev/null) || status=$?
    held=$(grep -m 1 'Could not get lock' <<<"$messages") || true
    [[ $status -ne 0 && -n $held && $SECONDS -lt $end ]] || break
    [[ $told == yes ]] || say "Waiting for another program that installs packages: ${held#E: }"
    told=yes
    sleep 2
  done
  [[ -z $messages ]] || complain "$messages"
  return "$status"
}

# install_missing PACKAGE...: installs missing packages; outside Debian, only prints all names. Needs no network if none is missing.
install_missing() {
  if ! { command -v dpkg-query && command -v apt-get; } >/dev/null; then
    say "This is not a Debian system: install the equivalents of these packages: $*"
    return 0
  fi

  local package missing=()
  for package in "$@"; do
    # dpkg-query prints one line for each architecture for which the package is known.
    dpkg-query -W -f='${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed ||
      missing+=("$package")
  done
  [[ ${#missing[@]} -gt 0 ]] || return 0

  local as_root=()
  if [[ $(id -u) -ne 0 ]]; then
    if sudo -n true 2>/dev/null; then
      as_root=(sudo -n)
    else
      die "These packages are missing, and installing them needs root. Run this, then try again:" \
        "" "  sudo apt-get update && sudo apt-get install --no-install-recommends ${missing[*]}" ""
    fi
  fi
  say "Installing ${missing[*]}"
  # A failed update is not fatal, because often only one of many package sources is broken.
  apt_get update || complain "apt-get update failed; continuing with the existing index."
  apt_get install -y --no-install-recommends "${missing[@]}" ||
    die "apt-get could not install: ${missing[*]}" \
      "Correct the problem in its messages above, or install the packages in another way, then try again."
}

# at_least A B: succeeds if version A is B or newer.
at_least() { [[ $(printf '%s\n' "$1" "$2" | sort -V | head -n 1) == "$2" ]]; }

nvcc_version() { "$1" --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\),.*/\1/p'; }

nvidia_card() {
  [[ -e /proc/driver/nvidia/version ]] && return 0
  command -v nvidia-smi >/dev/null && nvidia-smi -L 2>/dev/null | grep -q '^GPU ' && return 0
  # Without a driver, look for a PCI device of vendor 0x10de and class 0x03xxxx (display controller).
  local device
  for device in /sys/bus/pci/devices/*; do
    [[ $(cat "$device/vendor" 2>/dev/null) == 0x10de && $(cat "$device/class" 2>/dev/null) == 0x03* ]] &&
      return 0
  done
  return 1
}

# nvidia_usable: succeeds if the driver runs and finds a GPU, so that CUDA programs should work.
nvidia_usable() { command -v nvidia-smi >/dev/null && nvidia-smi -L 2>/dev/null | grep -q '^GPU '; }

driver_version() {
  nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -n 1
}

explain_toolkit() {
  local driver distribution='' toolkit=13-0 note=''
  driver=$(driver_version)
  if [[ -n $driver ]] && ! at_least "$driver" 580; then
    toolkit=12-9 # CUDA 13 needs driver 580
    if ! at_least "$driver" 525; then
      note="Also update the driver $driver: CUDA 12 needs 525 or newer, CUDA 13 needs 580 or newer."
    fi
  elif [[ -z $driver ]]; then
    note="nvidia-smi finds no working driver. On Debian, install it from non-free: apt-get install nvidia-driver"
  fi
  # shellcheck disable=SC1091
  distribution=$(. /etc/os-release 2>/dev/null && printf '%s%s' "$ID" "${VERSION_ID//./}")
  case $distribution-$(uname -m) in
    debian12-x86_64 | debian13-x86_64 | ubuntu2204-x86_64 | ubuntu2404-x86_64) ;;
    *) distribution='' ;;
  esac

  local lines=("This machine has an NVIDIA card, but $1" "Without a suitable toolkit, the elements run on the CPU only. To use the card:" "")
  if [[ -n $distribution ]]; then
    lines+=(
      "  wget https://developer.download.nvidia.com/compute/cuda/repos/$distribution/x86_64/cuda-keyring_1.1-1_all.deb"
      "  sudo dpkg -i cuda-keyring_1.1-1_all.deb"
      "  sudo apt-get update"
      "  sudo apt-get install cuda-toolkit-$toolkit")
  else
    lines+=("  install the CUDA toolkit ${toolkit/-/.} as described on https://developer.nvidia.com/cuda-downloads")
  fi
  lines+=("" "then run this script again; it looks for nvcc on PATH, in CUDA_HOME and in /usr/local/cuda*.")
  [[ -z $note ]] || lines+=("" "$note")
  shout "${lines[@]}"
}

# find_nvcc: looks for an nvcc that is new enough, stores its path in the variable nvcc and puts its folder
# first on PATH. If there is no such nvcc, leaves the variable empty and fails.
find_nvcc() {
  nvcc=''
  local candidate version too_old=''
  local candidates=("$(command -v nvcc)" "${CUDA_HOME:-}/bin/nvcc" /usr/local/cuda/bin/nvcc)
  mapfile -t -O "${#candidates[@]}" candidates < <(printf '%s\n' /usr/local/cuda-*/bin/nvcc | sort -rV)
  for candidate in "${candidates[@]}"; do
    [[ -x $candidate ]] || continue
    version=$(nvcc_version "$candidate")
    if [[ -n $version ]] && at_least "$version" "$oldest_cuda"; then
      nvcc=$candidate
      PATH=$(dirname "$candidate"):$PATH
      export PATH
      return 0
    fi
    too_old+="${too_old:+, }$candidate (${version:-unknown version})"
  done
  if nvidia_card; then
    if [[ -n $too_old ]]; then
      explain_toolkit "its CUDA toolkit is older than $oldest_cuda: $too_old."
    else
      explain_toolkit "the CUDA toolkit (nvcc) is not installed."
    fi
  elif [[ -n $too_old ]]; then
    complain "Ignoring the CUDA toolkit, which is older than $oldest_cuda: $too_old. To build the CUDA kernels, install CUDA $oldest_cuda or newer."
  fi
  return 1
}

# configure DIR [MESON ARGUMENT...]: creates the build folder. If it exists with the same arguments and
# compilers, ninja updates its configuration; otherwise it is recreated.
configure() {
  local dir=$1 key
  shift
  # The key includes the versions of the compilers, because a compiler may be replaced under the same name. It includes the
  # default options of meson.build, such as the C++ version, because Meson applies them only to new build folders.
  key=$(printf '%s\n' "${nvcc:-no nvcc}" "${nvcc:+$("$nvcc" --version)}" "${CXX:-}" "$(${CXX:-c++} --version 2>&1)" \
    "$(grep default_options meson.build)" "$PWD" "$@")
  if [[ $(cat "$dir/configured-as" 2>/dev/null) == "$key" ]] && ninja -C "$dir" build.ninja >/dev/null 2>&1; then
    return 0
  fi
  rm -rf "$dir"
  mkdir -p "$dir"
  if ! meson setup "$dir" "$@" >"$dir/setup.log" 2>&1; then
    cat "$dir/setup.log" >&2
    die "meson could not configure $dir; its messages are above."
  fi
  printf '%s\n' "$key" >"$dir/configured-as"
  sed -n '/^  gst-cudavision$/,/^$/p' "$dir/setup.log"
}
