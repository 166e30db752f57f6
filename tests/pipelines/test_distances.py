# SPDX-License-Identifier: LGPL-2.1-or-later
"""pipelines/detect-distance.py: the distances that it prints and draws."""
import json

from harness import Skip, examples, expect, pipelines, test

python = "/usr/bin/python3"
# With these cameras, a disparity of 12 pixels is a depth of 600 * 100 / 12 mm = 5 m.
cameras = "--focal-length", "600", "--baseline", "100", "--property", "num-disparities=32"


def record(place):
    """Writes pictures and videos of people, as two cameras would see them on a flat wall 5 m away."""
    film = examples / "vtest.avi"
    if not film.is_file():
        raise Skip(f"{film} is missing; it is in Debian's package opencv-doc")
    for side, crop in (("left", "right"), ("right", "left")):
        place.launch(f"filesrc location={film} ! decodebin ! videoconvert ! identity eos-after=2 ! videocrop {crop}=12 ! pngenc ! multifilesink location={side}%d.png")
        (place.folder / f"{side}0.png").rename(place.folder / f"{side}.png")
        place.launch(f"multifilesrc location={side}.png num-buffers=3 caps=image/png,framerate=10/1 ! pngdec ! videoconvert ! jpegenc quality=95 "
                     f"! matroskamux ! filesink location={side}.mkv")


def people(lines):
    return [one for line in lines for one in line["objects"]]


def expect_distance(objects):
    expect(objects, "nobody was found")
    for one in objects:
        expect(one["label"] == "person" and one["known"] > 0.9 and abs(one["z-mm"] / 5000 - 1) < 0.01, f"{one}")
        # The cameras' principal point is column 377.5, row 287.5.
        for axis, center in (("x", 377.5), ("y", 287.5)):
            middle = one[axis] + (one["width" if axis == "x" else "height"] - 1) / 2
            expect(abs(one[f"{axis}-mm"] - (middle - center) * one["z-mm"] / 600) < 2, f"{one}")


@test("pipelines/detect-distance.py prints and draws the distance of each person in a video")
def _(place):
    record(place)
    result = place.succeed(python, pipelines / "detect-distance.py", "left.mkv", "right.mkv", "out.mkv", *cameras)
    lines = [json.loads(line) for line in result.out.splitlines()]
    expect([line["time"] for line in lines] == [0, 0.1, 0.2], result.out)
    for line in lines:
        expect_distance(people([line]))
    place.launch("filesrc location=out.mkv ! decodebin ! videoconvert ! video/x-raw,format=GRAY8,width=756,height=576 ! pngenc ! multifilesink location=frame%d.png")
    expect(len([name for name in place.files() if name.startswith("frame")]) == 3, f"{place.files()}")


@test("pipelines/detect-distance.py draws into a photograph, and measures the detections of a cascade")
def _(place):
    record(place)
    result = place.run(python, pipelines / "detect-distance.py", "left.png", "right.png", "out.png", *cameras)
    expect(result.status == 0 and not result.err.count("Deprecat"), result.last())
    one = people([json.loads(result.out)])[0]
    expect_distance([one])
    check = place.run(python, "-c", f"import cv2; p = cv2.imread('out.png'); print(p.shape, p[{one['y'] + one['height'] // 2}, {one['x']}].tolist())")
    expect(check.out == "(576, 756, 3) [0, 255, 255]\n", check.text)
    result = place.run(python, pipelines / "detect-distance.py", "left.png", "right.png", "--cascade", "haarcascade_fullbody.xml", "--label", "body", *cameras)
    expect(result.status == 0 and all(one["label"] == "body" for one in people([json.loads(result.out)])), result.last())


@test("pipelines/detect-distance.py reports wrong arguments")
def _(place):
    left, right = (place.materials / name for name in ("left.png", "right.png"))
    for arguments, words in (([left, right], "--focal-length and --baseline"), ([left, right, "out.jpg", *cameras], "use .mkv"),
                             ([left, "none.png", *cameras], "there is no such file"), ([left, right, "none/out.png", *cameras], "there is no folder none"),
                             ([left, right, "--cascade", "none.xml", *cameras], "apt-get install opencv-data")):
        result = place.run(python, pipelines / "detect-distance.py", *arguments)
        expect(result.status != 0 and words in result.err, f"{arguments}: {result.last()}")
    # These pictures are smaller than the detector's window, so it finds no people.
    result = place.run(python, pipelines / "detect-distance.py", left, right, "out.png", *cameras)
    expect(result.status == 0 and people([json.loads(result.out)]) == [], result.last())
