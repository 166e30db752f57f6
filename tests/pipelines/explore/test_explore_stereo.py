# SPDX-License-Identifier: LGPL-2.1-or-later
"""pipelines/explore.py with a stereo pair: distances under the pointer, the point cloud, the copied command line,
snapshots and the calibration."""
import os
import pathlib
import re
import shutil
import time

from browser import Explored, banners, wait_for_restarts, choose, middle, painted, put, text, value
from harness import Skip, examples, expect, python, test, top

focal_length, baseline = 3740, 160


def truth(place):
    """Returns a pair, its number of disparities, and the file and scale of its true disparities: Middlebury's cones,
    which are not part of the project, or the aloe of opencv-doc."""
    cones = pathlib.Path(os.environ.get("CUDAVISION_STEREO_PAIRS", "/nowhere")) / "cones"
    if cones.is_dir():
        return cones / "left.png", cones / "right.png", 64, cones / "truth_x16.png", 16
    if not (examples / "aloeGT.png").exists():
        raise Skip("there are no pairs: sudo apt-get install opencv-doc")
    return examples / "aloeL.jpg", examples / "aloeR.jpg", 256, examples / "aloeGT.png", 1


def true_disparities(place, file, scale, places):
    """Returns (column, row, true disparity) for positions given as fractions of the picture size. The disparity is -1
    where surrounding disparities are unknown or differ by more than a pixel."""
    result = place.run(python, "-c", "import cv2, sys\n"
                       f"t = cv2.imread('{file}', cv2.IMREAD_UNCHANGED)\nh, w = t.shape[:2]\n"
                       f"for a, b in {places}:\n"
                       " x, y = int(a * w), int(b * h)\n"
                       " near = t[y - 5:y + 6, x - 5:x + 6].astype(float)\n"
                       f" print(x, y, near.mean() / {scale} if near.min() > 0 and near.max() - near.min() <= {scale} else -1)")
    expect(result.status == 0, result.last())
    return [tuple(map(float, line.split())) for line in result.out.splitlines()]


def file_of(explored, folder, button):
    """Makes the page save a file, and returns its path."""
    folder.mkdir(exist_ok=True)
    explored.browser.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
    name = folder / ("explored.ply" if button == "ply" else "explored.png")
    # If no frame arrives for 20 s, explore.py reports this, and the page must ask again.
    while not name.exists():
        explored.page.run(f"document.getElementById('{button}').click()")
        end = time.monotonic() + 60
        explored.program.wait_until(lambda: name.exists() or time.monotonic() > end)
    explored.program.wait_until(lambda: name.stat().st_size > 0)
    return name


def same_picture(place, one, other):
    result = place.run(python, "-c", f"import cv2; a, b = cv2.imread('{one}'), cv2.imread('{other}'); print(a.shape, (a == b).all())")
    return result.out.endswith("True\n")


@test("pipelines/explore.py measures the distance under the pointer")
def _(place):
    left, right, disparities, file, scale = truth(place)
    shares = [(x / 8 + 0.03, y / 6 + 0.05) for x in range(2, 8) for y in range(1, 6)]
    known = [(share, x, y, d) for share, (x, y, d) in zip(shares, true_disparities(place, file, scale, shares)) if d > 0]
    expect(len(known) >= 4, f"{len(known)} places are known")
    arguments = f"num-disparities={disparities}", f"focal-length={focal_length}", f"baseline={baseline}", "preset=dense"
    with Explored(place, left, right, *arguments) as explored:
        page = explored.page
        painted(page)
        # The picture is centred in the canvas.
        shape = place.run(python, "-c", f"import cv2; print(*cv2.imread('{left}').shape[1::-1])").out.split()
        aspect = int(shape[0]) / int(shape[1])
        canvas = page.run("(c => c.width / c.height)(document.getElementById('picture'))")
        wide, high = min(1, aspect / canvas), min(1, canvas / aspect)

        def at(share):
            return middle(page, 0.5 + (share[0] - 0.5) * wide, 0.5 + (share[1] - 0.5) * high)

        near = []
        for share, x, y, true in known[:6]:
            page.hover(at(share))
            shown = page.wait(r"(t => t.match(/\((\d+), (\d+)\) ([0-9.]+) m, ([0-9.]+) pixels, confidence \d+/))"
                              "(document.getElementById('pointer').textContent)?.slice(1).map(Number)", "a distance")
            page.wait(f"(t => Math.abs(t[1] - {x}) < 4 && Math.abs(t[2] - {y}) < 4)(document.getElementById('pointer').textContent.match(/(\\d+), (\\d+)/) ?? [])",
                      f"the values of ({x}, {y}), not {shown}")
            values = re.search(r"([\d.]+) m, ([\d.]+) pixels", text(page, "pointer"))
            if values:
                meters, pixels = map(float, values.groups())
                expect(abs(meters - focal_length * baseline / pixels / 1000) < 0.01, f"{meters} m and {pixels} pixels")
                near.append(abs(pixels - true) <= 1.5)
        expect(len(near) >= 3 and sum(near) >= 0.8 * len(near), f"{near}")
        # The ruler measures the distance between two points in space.
        choose(page, "ruler")
        for share in (known[0][0], known[-1][0]):
            page.mouse(at(share))
        page.wait("/: [0-9.]+ m apart$/.test(document.getElementById('pointer').textContent)", "the ruler")
        page.run("document.getElementById('show-cloud').click()")
        page.wait("document.getElementById('cloud').dataset.points > 1000", f"points: {banners(page)}")
        cloud = file_of(explored, place.folder / "files", "ply").read_bytes()
        expect(cloud.startswith(b"ply\n") and len(cloud) > 15 * 10000, f"{len(cloud)} bytes")


@test("pipelines/explore.py: copied pipelines run, and give the visible picture")
def _(place):
    left, right, _, _, _ = truth(place)
    inputs = (place.materials / "left.png", place.materials / "right.png")
    for element, arguments in (("cudagaussblur", ("sigma=3.5", examples / "fruits.jpg")), ("cudasgmstereo", ("num-disparities=32", "preset=dense", *inputs))):
        with Explored(place, "--element", element, *arguments) as explored:
            page = explored.page
            painted(page)
            name = "border" if element == "cudagaussblur" else "fill-holes"
            put(page, name, "wrap" if element == "cudagaussblur" else "false")
            page.wait(f"document.querySelector('[data-name={name}] .value').lastChild.matches('select') || "
                      f"!document.querySelector('[data-name={name}] input').checked", "the change")
            folder = place.folder / element
            snapshot = file_of(explored, folder, "snapshot")
            page.run("document.getElementById('copy').click()")
            page.wait("document.getElementById('cpp').value", "the lines")
            shell, script, code = (page.run(f"document.getElementById('{name}').value") for name in ("shell", "python", "cpp"))
            expect("speckle-size" not in shell and f"{element} " in shell and name in shell, shell)
            result = place.run("bash", "-c", shell)
            expect(result.status == 0 and same_picture(place, snapshot, "explored.png"), f"{shell}: {result.last()}")
            (place.folder / "explored.png").unlink()
            (place.folder / "explored.py").write_text(script)
            result = place.run(python, "explored.py")
            expect(result.status == 0 and same_picture(place, snapshot, "explored.png"), result.last())
            (place.folder / "explored.png").unlink()
    if not shutil.which("g++"):
        return
    (place.folder / "explored.cpp").write_text(code)
    result = place.run("bash", "-c", "g++ -Wall -Werror explored.cpp $(pkg-config --cflags --libs gstreamer-1.0) -o explored && ./explored")
    expect(result.status == 0 and same_picture(place, snapshot, "explored.png"), result.last())


@test("pipelines/explore.py repeats pairs of videos and packed videos")
def _(place):
    for inputs in ([place.materials / "left.mkv", place.materials / "right.mkv"], ["--packed", place.materials / "packed.mkv"]):
        with Explored(place, *inputs, "num-disparities=32", "diagnostics-interval=0") as explored:
            page = explored.page
            painted(page)
            wait_for_restarts(page, 2)
            expect(not page.run("!!document.querySelector('#banners .error')"), f"{banners(page)}")
            page.hover(middle(page, 0.6, 0.5))
            # The noise of the left video is shifted by 6 pixels in the right video.
            page.wait("/^.[0-9]+, [0-9]+. [56]\\.[0-9]+ pixels, confidence/.test(document.getElementById('pointer').textContent)", "6 pixels")


@test("pipelines/explore.py calibrates two cameras in the page and continues")
def _(place):
    painting = place.run(python, top / "tests/pipelines/boards.py", place.folder, "chessboard", "pinhole", "film", "6")
    expect(painting.status == 0, painting.last())
    for side in ("left", "right"):
        place.launch(f"-q multifilesrc location={side}%02d.png caps=image/png,framerate=30/1 ! pngdec ! videoconvert ! video/x-raw,format=GRAY8 "
                     f"! avenc_ffv1 ! matroskamux ! filesink location={side}.mkv")
    with Explored(place, "left.mkv", "right.mkv", "num-disparities=128", "--calibrate", "stereo.yml", "--square", "30", "--board", "8x6",
                  "--pairs", "7") as explored:
        page = explored.page
        # A video is read as fast as possible, so the calibration may be finished before the browser shows the page.
        page.wait("document.getElementById('pointer').textContent.match(/pair [3-7] of 7/) || "
                  "document.getElementById('banners').textContent.match(/stereo.yml: /)", "pairs")
        painted(page)
        page.wait("document.getElementById('banners').textContent.match(/stereo.yml: (Good|Usable)/)", "the verdict")
        expect((place.folder / "stereo.yml").exists() and value(page, "calibration").endswith("stereo.yml"), "the calibration is not used")
        page.wait("document.getElementById('figures').textContent.match(/frames/)", "frames")
        choose(page, "divider")
        page.hover(middle(page, 0.5, 0.5))
        page.wait("/ m, .* pixels|unknown/.test(document.getElementById('pointer').textContent)", "a distance")
