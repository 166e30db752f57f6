#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Checks what no test program can check. tests/kernels/guards checks the compilers' output.
set -uo pipefail

usage() {
  cat <<'END'
usage: tests/guards.sh BUILD

Checks what no test program can check: the plug-in as a whole, the programs and scripts in pipelines/, the
documentation and the includes. Takes the plug-in and the programs from the build folder BUILD. Prints one
line for each guard, "ok: name" or "not ok: name: why".

  -h, --help  this text
END
}

case ${1:-} in
  -h | --help)
    usage
    exit 0
    ;;
  '' | -*)
    usage >&2
    exit 2
    ;;
esac
build=$(realpath "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
bad=0

verdict() { # NAME WHY: an empty WHY means success
  if [[ -z $2 ]]; then
    printf 'ok: %s\n' "$1"
  else
    printf 'not ok: %s: %s\n' "$1" "$2"
    bad=1
  fi
}

plugin=$build/gst/libgstcudavision.so

# With a separate registry and empty paths, GStreamer uses neither a cache nor an installed copy.
features=$(GST_REGISTRY="$scratch/registry" GST_PLUGIN_PATH='' GST_PLUGIN_SYSTEM_PATH='' \
  gst-inspect-1.0 "$plugin" 2>&1) && loaded='' || loaded='gst-inspect-1.0 fails'
for element in cudahistequalize cudagaussblur cudaintegral cudasgmstereo; do
  [[ -n $loaded || $features == *" $element: "* ]] || loaded="it does not contain $element"
done
verdict "the plug-in loads and registers" "$loaded"

# Hashes each frame of a still picture, once as it is and once while sigma goes from 0 up and back.
still=(videotestsrc num-buffers=61 pattern=checkers-8 ! 'video/x-raw,format=GRAY8,width=64,height=64,framerate=30/1')
hashes() { # PROGRAM ELEMENT...
  GST_REGISTRY="$scratch/registry-all" GST_PLUGIN_PATH="$build/gst" "$@" ! checksumsink 2>"$scratch/hashes.log" |
    awk '$1 ~ /^[0-9]+:/ { print $2 }'
}
mapfile -t plain < <(hashes gst-launch-1.0 -q "${still[@]}")
mapfile -t swept < <(hashes "$build/pipelines/blur-sweep" --sigma 4 --period 2 "${still[@]}" ! cudagaussblur backend=cpu)
sweep=''
if [[ ${#plain[@]} -ne 61 || ${#swept[@]} -ne 61 ]]; then
  sweep="${#plain[@]} and ${#swept[@]} frames instead of 61; $(tail -n 1 "$scratch/hashes.log")"
elif [[ ${swept[0]} != "${plain[0]}" || ${swept[60]} != "${plain[0]}" ]]; then
  sweep="sigma is not 0 at the beginning and after a period"
elif [[ $(printf '%s\n' "${swept[@]}" | sort -u | wc -l) -lt 20 ]]; then
  sweep="sigma takes fewer than 20 values on its way"
fi
verdict "pipelines/blur-sweep takes sigma from 0 up and back" "$sweep"

# Compares the sums that box-sum prints with sums over the pixels of the same frames.
moving=(videotestsrc num-buffers=3 pattern=smpte horizontal-speed=5 ! 'video/x-raw,format=GRAY8,width=64,height=48,framerate=25/1')
GST_REGISTRY="$scratch/registry-all" GST_PLUGIN_PATH="$build/gst" \
  "$build/pipelines/box-sum" 10 4 60 33 "${moving[@]}" >"$scratch/boxes" 2>&1
GST_REGISTRY="$scratch/registry-all" GST_PLUGIN_PATH="$build/gst" \
  gst-launch-1.0 -q "${moving[@]}" ! filesink location="$scratch/frames" >"$scratch/boxes.log" 2>&1
wrong=$(python3 - "$scratch" <<'PY'
import re, sys
frames = open(sys.argv[1] + "/frames", "rb").read()
said = [int(number) for number in re.findall(r"sum (\d+)", open(sys.argv[1] + "/boxes").read())]
right = [sum(sum(frames[start + 64 * y + 10:start + 64 * y + 60]) for y in range(4, 33)) for start in range(0, len(frames), 64 * 48)]
print("" if said == right and len(set(right)) == 3 else f"{said} instead of {right}")
PY
)
verdict "pipelines/box-sum sums the pixels of a box" "$wrong"
differs=$(python3 - <<'PY'
import glob, re
programs = [open(name).read() for name in glob.glob("pipelines/*.cpp")]
blocks = [(page, block) for page in ["README.md", *sorted(glob.glob("docs/**/*.md", recursive=True))]
          for block in re.findall(r"^```c\n(.*?)^```$", open(page).read(), re.M | re.S)]
strangers = sorted({page for page, block in blocks if not any(block in program for program in programs)})
print("no page shows any C" if not blocks else f"{', '.join(strangers)}: C code that is in no program" if strangers else "")
PY
)
verdict "README.md and docs/ show the code of the programs in pipelines/" "$differs"

# Makes input for the stereo scripts from noise, which the right camera sees shifted by 6 pixels: two
# photographs, two videos, and a video whose frames hold both pictures.
python3 - "$scratch" <<'PY'
import random, sys
random.seed(1)
width, height, disparity = 96, 40, 6
left = [bytes(random.randrange(256) for _ in range(width)) for _ in range(height)]
right = [row[disparity:] + row[-disparity:] for row in left]
for name, rows in (("left", left), ("right", right), ("both", [a + b for a, b in zip(left, right)])):
    open(f"{sys.argv[1]}/{name}.raw", "wb").write(b"".join(rows) * 4)
PY
launch() { # ELEMENT...
  GST_REGISTRY="$scratch/registry-all" GST_PLUGIN_PATH="$build/gst" gst-launch-1.0 -q "$@" >>"$scratch/stereo.log" 2>&1
}
script() { # NAME ARGUMENT...
  GST_REGISTRY="$scratch/registry-all" GST_PLUGIN_PATH="$build/gst" DISPLAY='' WAYLAND_DISPLAY='' \
    "pipelines/$1" "${@:2}" >"$scratch/script.log" 2>&1
}
film() { # NAME WIDTH
  echo "filesrc location=$scratch/$1.raw blocksize=$(($2 * 40)) ! rawvideoparse format=gray8 width=$2 height=40 framerate=25/1"
}
for side in left right; do
  # shellcheck disable=SC2046
  launch $(film $side 96) ! pngenc snapshot=true ! filesink location="$scratch/$side.png"
done
script stereo-files.sh num-disparities=32 subpixel=false "$scratch"/{left,right,map}.png
launch filesrc location="$scratch/map.png" ! pngdec ! video/x-raw,format=GRAY16_BE ! filesink location="$scratch/map.raw"
wrong=$(python3 - "$scratch" <<'PY'
import struct, sys
header = open(sys.argv[1] + "/map.png", "rb").read(26)
data = open(sys.argv[1] + "/map.raw", "rb").read()
width, height, bits, color = struct.unpack(">IIBB", header[16:26])
middle = {struct.unpack_from(">H", data, 2 * (96 * y + x))[0] for y in range(8, 32) for x in range(20, 80)}
print("" if (width, height, bits, color) == (96, 40, 16, 0) and middle == {6 * 16} else f"{width}x{height}, {bits} bits, kind {color}, {middle}")
PY
) || wrong=$(tail -n 1 "$scratch/script.log")
verdict "pipelines/stereo-files.sh writes disparities as PNG of 16 bits" "$wrong"

# shellcheck disable=SC2046
launch $(film both 192) ! videoconvert ! video/x-raw,format=I420 ! avimux ! filesink location="$scratch/both.avi"
wrong=''
script stereo-packed.sh num-disparities=32 "$scratch/both.avi" "$scratch/both.mkv" || wrong=$(tail -n 1 "$scratch/script.log")
frames=$(hashes gst-launch-1.0 -q filesrc location="$scratch/both.mkv" ! decodebin | wc -l)
[[ -n $wrong || $frames -eq 4 ]] || wrong="$frames frames instead of 4"
verdict "pipelines/stereo-packed.sh splits packed frames" "$wrong"

# A focal length of 100 pixels, a baseline of 120 mm and a disparity of 6 pixels give 2 m. The disparity may
# be wrong by half a pixel.
wrong=''
for from in "$(film left 96)|$(film right 96)" "$(film both 192)"; do
  IFS='|' read -ra sources <<<"$from"
  GST_REGISTRY="$scratch/registry-all" GST_PLUGIN_PATH="$build/gst" \
    "$build/pipelines/distance" 100 120 "${sources[@]}" >"$scratch/distances" 2>&1
  good=$(awk '$3 == "middle" && $4 > 1840 && $4 < 2190' "$scratch/distances" | wc -l)
  [[ $good -eq 4 ]] || wrong="$good of 4 frames are right; $(tail -n 1 "$scratch/distances")"
done
verdict "pipelines/distance prints the distance of the middle" "$wrong"

DESTDIR="$scratch/root" meson install -C "$build" --no-rebuild >"$scratch/install.log" 2>&1
directory=$(meson introspect "$build" --installed | tr ',' '\n' | grep -o '"[^"]*/libgstcudavision.so"' | tail -n 1 | tr -d '"')
missing=''
[[ $directory == */gstreamer-1.0/libgstcudavision.so && -f $scratch/root$directory ]] ||
  missing="it is not in a folder gstreamer-1.0: '$directory'"
verdict "meson install puts the plug-in into a GStreamer plug-in folder" "$missing"

# option NAME: the value of an option of this build.
option() {
  meson introspect --buildoptions "$build" | python3 -c 'import json, sys
print(next(option["value"] for option in json.load(sys.stdin) if option["name"] == sys.argv[1]))' "$1"
}
version=$(meson introspect --projectinfo "$build" | python3 -c 'import json, sys; print(json.load(sys.stdin)["version"])')
wrong=''
package=$(option package-name)
[[ $features =~ Version\ +${version}[[:space:]] ]] || wrong="not the version $version of meson.build"
[[ $features =~ Binary\ package\ +"${package:-gst-cudavision source release}"[[:space:]] ]] || wrong="not the option package-name"
[[ $features =~ Origin\ URL\ +"$(option package-origin)"[[:space:]] ]] || wrong="not the option package-origin"
verdict "gst-inspect-1.0 shows the version, package-name and package-origin" "$wrong"

wrong=''
for element in cudahistequalize cudagaussblur cudaintegral cudasgmstereo; do
  page=$(GST_REGISTRY="$scratch/registry-all" GST_PLUGIN_PATH="$build/gst" gst-inspect-1.0 "$element" |
    sed -nE 's#^ *(Documentation|Doc-uri) +file://##p')
  [[ -f $scratch/root$page ]] || wrong="$element: '$page' is not installed"
  while read -r picture; do
    [[ -f $(dirname "$scratch/root$page")/$picture ]] || wrong="$page: the picture $picture is not installed"
  done < <(sed -n 's/^!\[.*\](\(.*\))$/\1/p' "$scratch/root$page" 2>/dev/null)
done
verdict "the documentation URIs of the elements name pages that meson install installs" "$wrong"

news=$(head -n 1 NEWS)
wrong=''
[[ $news == "gst-cudavision $version" || $news == "gst-cudavision $version (not released yet)" ]] ||
  wrong="NEWS begins with \"$news\", but the version in meson.build is $version"
changelog=$(head -n 1 pipelines/packaging/debian/changelog)
[[ $changelog == "gst-cudavision ($version-"* ]] ||
  wrong="debian/changelog begins with \"$changelog\", but the version in meson.build is $version"
verdict "NEWS and the Debian package have the version of meson.build" "$wrong"

wrong=$(python3 - "$version" <<'PY'
import glob, re, sys
def number(version):
    return [int(part) for part in version.split(".")]
wrong, elements = [], []
for name in sorted(glob.glob("gst/*/gstcuda*.cpp")):
    text = open(name).read()
    registered = re.findall(r'^GST_ELEMENT_REGISTER_DEFINE\(\w+, "(\w+)"', text, re.M)
    for element in registered:
        elements.append(element)
        block = re.search(rf"/\*\*\n \* SECTION:element-{element}\n.*?\*/", text, re.S)
        since = block and re.search(r"\n \* Since: ([\d.]+)\n", block[0])
        if not block or f" * @title: {element}\n" not in block[0]:
            wrong.append(f"{name} has no SECTION block for {element}")
        elif not re.search(r"\n \* ## Example launch lines?\n \* \|\[\n \* gst-launch-1\.0 [^]]*" + element, block[0]):
            wrong.append(f"{element}'s SECTION block has no launch line of {element}")
        elif not since or number(since[1]) > number(sys.argv[1]):
            wrong.append(f"{element}'s SECTION block has no Since: of a version up to this one")
print(", ".join(wrong) if len(elements) == 4 else f"{len(elements)} elements were found")
PY
) || wrong='the comparison itself fails'
verdict "every element has a SECTION block with a launch line and a version" "$wrong"

strangers=$(python3 - <<'PY'
import fnmatch, glob, os, re
pages = ["README.md", *glob.glob("docs/**/*.md", recursive=True),
         *(page for room in ("cuda", "gst", "tests") for page in glob.glob(room + "/**/README.md", recursive=True))]
tree = [os.path.join(folder, name)[1:] for folder, folders, files in os.walk(".")
        if not re.match(r"\./(\.git|build)", folder) for name in [*(one + "/" for one in folders), *files]]
def exists(name, below="/"):
    """True if a path in the tree ends with this name. OPERATION, … and * stand for any name. The names of
    programs lack .cpp."""
    name = re.sub(r"(?<![a-zA-Z])[A-Z]{4,}(?![a-zA-Z]|\.md)|…", "*", name)
    return any(fnmatch.fnmatchcase(path, f"*{below}{name}{end}") for path in tree for end in ("", "/", ".cpp"))
def anchors(page):
    titles = re.findall(r"^#+ (.*)", open(page).read(), re.M)
    return [re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles]
def linked(page, target):
    path, _, anchor = target.partition("#")
    path = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
    return "://" in target or os.path.exists(path) and (not anchor or anchor in anchors(path))
strangers = []
for page in pages:
    text = open(page).read()
    strangers += [f"{page}: {target}" for target in re.findall(r"\]\(([^)]+)\)", text) if not linked(page, target)]
    blocks = r"^ *```.*?^ *```"
    named = re.findall(r"(?<![\w/.])(?:tests|pipelines|scripts)/[\w/-]+\.(?:sh|py)\b", "".join(re.findall(blocks, text, re.M | re.S)))
    for span in re.findall(r"`([^`]+)`", re.sub(blocks, "", text, flags=re.M | re.S)):
        stem, endings = re.fullmatch(r"(.*?)(?:\{([\w,]+)\})?", span.split()[0]).groups()
        named += [stem + ending for ending in (endings or "").split(",")]
    paths = r"(cuda|gst|tests|docs|pipelines|scripts)/|.+\.(cpp|h|cu|cuh|sh|py|md|build|txt|map)$"
    strangers += [f"{page}: {name}" for name in named if re.match(paths, name) and not exists(name)]
    if page.startswith(("cuda/", "gst/", "tests/")):
        # Rows of tables and lists on these pages begin with names of files, often without the extension.
        for cell in re.findall(r"^(?:\| |\d+\. )(`[^|:\n]+)[|:]", text, re.M):
            strangers += [f"{page}: {name}" for name in re.findall(r"`([\w/]+)`", cell)
                          if not exists(name if name.endswith("/") else name + ".*", f"/{os.path.dirname(page)}/")]
print(", ".join(sorted(set(strangers))) if len(pages) > 10 else f"only {len(pages)} pages were found")
PY
) || strangers='the comparison itself failed'
verdict "every file that README.md, docs/ and the folders' README.md name exists" "$strangers"
strangers=$(python3 - <<'PY'
import glob, re
# The page also quotes messages of other projects.
theirs = ("WARNING: erroneous pipeline", "Dependency ", "could not link", "Delayed linking", "Internal data stream", "streaming stopped")
def plain(text):
    return re.sub(r"\s+", " ", text)
def literals(name):
    """Yields the strings of a source, joined as the compiler joins them."""
    text = re.sub(r"^\s*//.*$", "", open(name).read(), flags=re.M)
    for run in re.findall(r'(?:"(?:[^"\\\n]|\\.)*"\s*)+', text):
        yield plain("".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', run)).replace('\\"', '"'))
code = [literal for room in ("cuda", "gst") for name in glob.glob(room + "/**/*.*", recursive=True)
        if name.endswith((".cpp", ".h", ".cu")) for literal in literals(name)]
code += [plain(open(name).read()) for name in ("cuda/nvcc/meson.build", *glob.glob("pipelines/*.sh"))]
def known(words):
    """True if the words are in one string, or if one string ends and another begins with a part of them."""
    return any(words in text for text in code) or any(
        any(text.endswith(words[:i]) for text in code) and any(text.startswith(words[i:]) for text in code)
        for i in range(1, len(words)))
page = open("docs/troubleshooting.md").read()
quotes = re.findall(r"\*\*`([^`]+)`\*\*", page) + re.findall(r'\*"([^*]+)"\*', page)
for table in re.findall(r"^\| (?:…|message) \| remedy \|\n.*\n((?:\|.*\n)+)", page, re.M):
    quotes += [message for row in table.splitlines() for message in row.split("|")[1].split(";")]
strangers = []
for quote in map(plain, quotes):
    # The page writes an ellipsis for the variable parts of a message.
    if not quote.startswith(theirs) and not all(map(known, map(str.strip, quote.split("…")))):
        strangers.append(f"\"{quote.strip()}\"")
print(", ".join(strangers) if len(quotes) > 40 else f"only {len(quotes)} messages were found")
PY
) || strangers='the comparison itself failed'
verdict "docs/troubleshooting.md quotes messages that the code contains" "$strangers"

strangers=$(python3 - <<'PY'
import glob, re
code = "".join(open(name).read() for name in glob.glob("gst/**/*.*", recursive=True) if name.endswith((".cpp", ".h")))
made = set(re.findall(r'GST_DEBUG_CATEGORY_INIT\(\s*\w+,\s*"(\w+)"', code))
page = open("docs/troubleshooting.md").read()
table = re.search(r"^\| debug category \|.*\n.*\n((?:\|.*\n)+)", page, re.M)
named = set(re.findall(r"`(\w+)`", "".join(row.split("|")[1] for row in table[1].splitlines())))
print(", ".join(sorted(made ^ named)) if len(made) > 4 else f"only {len(made)} categories were found")
PY
) || strangers='the comparison itself fails'
verdict "docs/troubleshooting.md lists the debug categories" "$strangers"

# In cuda/, operations may include regions, pixels, sync and core; regions may include pixels and core; pixels
# and sync may include core. In gst/, elements may
# include base, flight, memory and core; base may include flight, memory and core; flight may include
# memory and core; memory may include core.
strangers=$(python3 - <<'PY'
import glob, re
operation = ["cuda/core/", "cuda/sync/", "cuda/pixels/", "cuda/regions/"]
element = ["gst/base/", "gst/flight/", "gst/memory/", "gst/core/", "cuda/"]
# The headers that the files of a folder may include besides those of the same folder. All other folders
# hold an operation or an element.
allowed = {"cuda/core": [], "cuda/sync": ["cuda/core/"], "cuda/pixels": ["cuda/core/"],
           "cuda/localstatistics": [*operation, "cuda/integral/"],
           "cuda/clahe": [*operation, "cuda/histequalize/", "cuda/histogramaverage/"],
           "cuda/histequalize": [*operation, "cuda/histogramaverage/"], "cuda/without_cuda.cpp": ["cuda/"],
           "cuda/regions": ["cuda/core/", "cuda/pixels/"],
           "gst/core": ["cuda/"], "gst/flight": ["gst/memory/", "gst/core/", "cuda/"], "gst/memory": ["gst/core/", "cuda/"], "gst/plugin.cpp": ["gst/"]}
strangers, edges = [], 0
for name in sorted(glob.glob("cuda/**/*.*", recursive=True) + glob.glob("gst/**/*.*", recursive=True)):
    if name.endswith((".cpp", ".h", ".cu", ".cuh")):
        room = "/".join(name.split("/")[:2])
        may = (room + "/", *allowed.get(room, operation if room.startswith("cuda") else element))
        included = re.findall(r'^\s*#\s*include\s*"([^"]+)"', open(name).read(), re.M)
        strangers += [f"{name} includes {other}" for other in included if not other.startswith(may)]
        edges += len(included)
print(", ".join(strangers) if edges > 100 else f"only {edges} includes were found")
PY
) || strangers='the comparison itself failed'
verdict "includes point in the allowed direction" "$strangers"
found=$(grep -rlE '#include *[<"](gst/|glib|gio/|gobject/)' cuda | tr '\n' ' ')
verdict "cuda/ includes no GLib or GStreamer header" "$found"
found=$(grep -rlE '#include *[<"](cuda|cuda_runtime|cuda_runtime_api|device_launch_parameters)\.h' gst | tr '\n' ' ')
verdict "gst/ includes no CUDA header of its own" "$found"
found=$(grep -rnE '\bcuda(DeviceSynchronize|SetDevice|DeviceReset)\b *\(' cuda gst --include=*.cu --include=*.cuh --include=*.cpp --include=*.h |
  cut -d: -f1,2 | tr '\n' ' ')
verdict "nothing resets, selects or stalls the whole device" "$found"

verdict "runs on a GPU host prove what they finished and nothing else" "$(tests/gpu/stub_runs.py 2>&1 | head -n 1)"
verdict "a bundle's runtime holds what its programs need and nothing else" "$(tests/gpu/stub_runtime.py 2>&1 | head -n 1)"

# Without a card, auto stands for the common cards that this nvcc supports.
name="cuda-archs=auto covers the cards that people have"
if command -v nvcc >/dev/null && pkg-config --exists gstreamer-cuda-1.0; then
  mkdir "$scratch/bin"
  printf '#!/bin/sh\nexit 1\n' >"$scratch/bin/nvidia-smi"
  chmod +x "$scratch/bin/nvidia-smi"
  wanted=''
  for arch in 75 80 86 "$([[ $(uname -m) != aarch64 ]] || echo 87)" 89 90 100 "$([[ $(uname -m) != aarch64 ]] || echo 110)" 120; do
    ! nvcc --list-gpu-code | grep -qx "sm_$arch" || wanted+=${wanted:+-real,}$arch
  done
  found=$(PATH=$scratch/bin:$PATH meson setup "$scratch/archs" -Dcuda=enabled -Dtests=disabled -Dbenchmarks=disabled \
    -Dexamples=disabled 2>&1 | sed -n 's/^ *GPU targets *: //p')
  [[ $found == "$wanted" ]] && wrong='' || wrong="'$found' instead of $wanted"
  verdict "$name" "$wrong"
else
  printf 'SKIP: %s: there is no nvcc, or no gstreamer-cuda-1.0\n' "$name"
fi

exit $bad
