# SPDX-License-Identifier: LGPL-2.1-or-later
"""Guards of the built plug-in, of programs and scripts in pipelines/, and of the installed files."""
import random
import re
import struct

from guard import Tree, guard
from guard_pages import Names


@guard("the plug-in loads and registers")
def registers(tree, build):
    if build.features.status != 0:
        return "gst-inspect-1.0 fails"
    missing = [element for element in tree.elements if f" {element}: " not in build.features.text]
    if not tree.elements:
        return "the sources register no elements"
    return f"it does not contain {', '.join(missing)}" if missing else ""


def hashes(result):
    """Returns the hash of each frame that reached checksumsink."""
    return re.findall(r"^[0-9]+:\S+ (\w+)", result.out, re.M)


@guard("pipelines/blur-sweep takes sigma from 0 up and back")
def blur_sweep(_, build):
    # Hashes each frame of a still image, once without a blur and once while sigma rises from 0 and falls back to 0.
    still = ("videotestsrc", "num-buffers=61", "pattern=checkers-8", "!", "video/x-raw,format=GRAY8,width=64,height=64,framerate=30/1")
    plain = hashes(build.launch(*still, "!", "checksumsink"))
    result = build.play(build.folder / "pipelines/blur-sweep", "--sigma", "4", "--period", "2", *still, "!", "cudagaussblur",
                        "backend=cpu", "!", "checksumsink")
    swept = hashes(result)
    if (len(plain), len(swept)) != (61, 61):
        return f"{len(plain)} and {len(swept)} frames instead of 61; {result.last()}"
    if swept[0] != plain[0] or swept[60] != plain[0]:
        return "sigma is not 0 at the beginning and after a period"
    return "sigma takes fewer than 20 values on its way" if len(set(swept)) < 20 else ""


@guard("pipelines/box-sum sums the pixels of a box")
def box_sum(_, build):
    moving = ("videotestsrc", "num-buffers=3", "pattern=smpte", "horizontal-speed=5", "!",
              "video/x-raw,format=GRAY8,width=64,height=48,framerate=25/1")
    printed = build.play(build.folder / "pipelines/box-sum", "10", "4", "60", "33", *moving).text
    path = build.scratch / "frames"
    build.launch(*moving, "!", "filesink", f"location={path}")
    frames = path.read_bytes()
    sums = [int(found) for found in re.findall(r"sum (\d+)", printed)]
    right = [sum(sum(frames[start + 64 * y + 10:start + 64 * y + 60]) for y in range(4, 33))
             for start in range(0, len(frames), 64 * 48)]
    return "" if sums == right and len(set(right)) == 3 else f"{sums} instead of {right}"


WIDTH, HEIGHT, DISPARITY = 96, 40, 6


class StereoVideos:
    """Videos of noise, shifted in the right camera: one video of each camera, and one with packed frames."""

    def __init__(self, folder):
        noise = random.Random(1)
        left = [noise.randbytes(WIDTH) for _ in range(HEIGHT)]
        right = [row[DISPARITY:] + row[-DISPARITY:] for row in left]
        folder.mkdir()
        self.folder = folder
        for name, rows in (("left", left), ("right", right), ("both", [a + b for a, b in zip(left, right)])):
            (folder / f"{name}.raw").write_bytes(b"".join(rows) * 4)

    def source(self, name):
        width = 2 * WIDTH if name == "both" else WIDTH
        return ("filesrc", f"location={self.folder / name}.raw", f"blocksize={width * HEIGHT}", "!", "rawvideoparse",
                "format=gray8", f"width={width}", f"height={HEIGHT}", "framerate=25/1")


@guard("pipelines/stereo-files.sh writes disparities as PNG of 16 bits")
def stereo_files(tree, build):
    videos = StereoVideos(build.scratch / "photographs")
    left, right, result = (videos.folder / f"{name}.png" for name in ("left", "right", "map"))
    for picture in (left, right):
        build.launch(*videos.source(picture.stem), "!", "pngenc", "snapshot=true", "!", "filesink", f"location={picture}")
    done = build.play(tree.top / "pipelines/stereo-files.sh", "num-disparities=32", "subpixel=false", left, right, result)
    if not result.exists() or result.stat().st_size < 26:
        return f"it writes no PNG: {done.last()}"
    shape = struct.unpack(">IIBB", result.read_bytes()[16:26])
    if shape != (WIDTH, HEIGHT, 16, 0):
        return "{}x{}, {} bits, kind {}".format(*shape)
    raw = videos.folder / "map.raw"
    build.launch("filesrc", f"location={result}", "!", "pngdec", "!", "video/x-raw,format=GRAY16_BE", "!", "filesink",
                 f"location={raw}")
    data = raw.read_bytes()
    middle = {struct.unpack_from(">H", data, 2 * (WIDTH * y + x))[0] for y in range(8, 32) for x in range(20, 80)}
    return "" if middle == {16 * DISPARITY} else f"the disparities in the middle are {middle} instead of {16 * DISPARITY}"


@guard("pipelines/stereo-packed.sh splits packed frames")
def stereo_packed(tree, build):
    videos = StereoVideos(build.scratch / "packed")
    video, result = videos.folder / "both.avi", videos.folder / "both.mkv"
    build.launch(*videos.source("both"), "!", "videoconvert", "!", "video/x-raw,format=I420", "!", "avimux", "!", "filesink",
                 f"location={video}")
    done = build.play(tree.top / "pipelines/stereo-packed.sh", "num-disparities=32", video, result)
    if done.status != 0:
        return done.last()
    raw = videos.folder / "maps.raw"
    build.launch("filesrc", f"location={result}", "!", "decodebin", "!", "videoconvert", "!", "video/x-raw,format=GRAY8", "!",
                 "filesink", f"location={raw}")
    size = raw.stat().st_size if raw.exists() else 0
    return "" if size == 4 * WIDTH * HEIGHT else f"{size} pixels instead of 4 frames of {WIDTH}x{HEIGHT}"


@guard("pipelines/distance prints the distance in the middle of the map")
def distance(_, build):
    # A focal length of 100 pixels, a baseline of 120 mm and a disparity of 6 pixels give 2 m. The disparity may be
    # wrong by half a pixel.
    videos = StereoVideos(build.scratch / "distance")
    for sides in (("left", "right"), ("both",)):
        result = build.play(build.folder / "pipelines/distance", "100", "120", *(" ".join(videos.source(side)) for side in sides))
        middles = [float(found) for found in re.findall(r"^ *[\d.]+ s: middle ([\d.]+)", result.text, re.M)]
        good = [middle for middle in middles if 1840 < middle < 2190]
        if len(good) != 4:
            return f"{len(good)} of 4 frames are right; {result.last()}"
    return ""


@guard("meson install puts the plug-in into a GStreamer plug-in folder")
def install_folder(_, build):
    path = next((path for path in build.introspect("--installed").values() if path.endswith("/libgstcudavision.so")), "")
    good = path.endswith("/gstreamer-1.0/libgstcudavision.so") and (build.installed / path[1:]).is_file()
    return "" if good else f"it is not in a folder gstreamer-1.0: '{path}'"


@guard("gst-inspect-1.0 shows the version, package-name and package-origin")
def inspected(tree, build):
    wanted = {"Version": (tree.version, "the version of meson.build"),
              "Binary package": (build.option("package-name") or "gst-cudavision source release", "the option package-name"),
              "Origin URL": (build.option("package-origin"), "the option package-origin")}
    wrong = [f"not {source}, {value}" for key, (value, source) in wanted.items()
             if not re.search(rf"^ *{key} +{re.escape(value)}\s*$", build.features.text, re.M)]
    return ", ".join(wrong)


@guard("the documentation URIs of the elements name pages that meson install installs")
def installed_pages(tree, build):
    wrong = []
    for element in tree.elements:
        shown = build.play("gst-inspect-1.0", element).text
        found = re.search(r"^ *(?:Documentation|Doc-uri) +file:///(.*)$", shown, re.M)
        if not found or not (build.installed / found[1]).is_file():
            wrong.append(f"{element}: '{found[1] if found else ''}' is not installed")
    return ", ".join(wrong) if tree.elements else "the sources register no elements"


def dangling_links(folder):
    """Returns the links in a folder's pages that lead neither into the folder nor to the web. Complains if there are no links."""
    installed = Tree(folder)
    names = Names(installed)
    links = [(page, target) for page in installed.names("**/*.md")
             for target in re.findall(r"\]\(([^)]+)\)", installed.text(page))]
    wrong = [f"{page}: {target}" for page, target in links if not names.linked(page, target)]
    return ", ".join(wrong) if links else "the pages have no links"


@guard("every link of an installed page leads to an installed file or to the web")
def installed_links(_, build):
    return dangling_links(build.installed)
