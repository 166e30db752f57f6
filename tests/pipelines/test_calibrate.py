# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests pipelines/calibrate.py with rendered boards and known cameras, and with OpenCV's chessboard photographs."""
import re
import statistics
import sys

from harness import Skip, examples, expect, pipelines, python, test, top

reads = ()  # in addition to SHARED of run.py


def calibrate(place, *arguments, status=0):
    result = place.run(python, pipelines / "calibrate.py", *arguments)
    expect(result.status == status, result.text)
    return result.text


def number(text, words):
    found = re.search(words + r" ([\d.]+)", text)
    expect(found, f"it does not say the {words}")
    return float(found.group(1))


def entries(place, name):
    """Returns the numbers of the matrices M1, M2 and T of a calibration, and its unit."""
    result = place.succeed(python, "-c", f"import cv2; f = cv2.FileStorage('{name}', cv2.FILE_STORAGE_READ); "
                           "[print(key, *f.getNode(key).mat().ravel()) for key in ('M1', 'M2', 'T')]; print('unit', f.getNode('unit').string())")
    return {line.split()[0]: line.split()[1:] for line in result.out.splitlines()}


def expect_cameras(place, name, text):
    """Expects the calibration to match the cameras of boards.py."""
    found = entries(place, name)
    for key, focal, x, y in (("M1", 500, 325, 236), ("M2", 505, 316, 243)):
        numbers = list(map(float, found[key]))
        for at, value in ((0, focal), (4, focal), (2, x), (5, y)):
            expect(abs(numbers[at] - value) < 2, f"{key} is {numbers}")
    expect(abs(float(found["T"][0]) + 100) < 0.5 and found["unit"] == ["mm"], f"{found}")
    expect(abs(number(text, "baseline") - 100) < 0.5, text)
    expect(number(text, "reprojection error") < 0.2 and number(text, "vertical offset after rectification") < 0.2, text)
    expect(re.search(r"^Good: ", text, re.M), text)


def play(place, calibration):
    """Measures a painted pair with cudasgmstereo and this calibration."""
    result = place.run(python, pipelines / "disparity.py", "left01.png", "right01.png", "--property", f"calibration={calibration}")
    if "-Dopencv=enabled" in result.err:
        raise Skip("this build has no OpenCV")
    share = re.search(r"([\d.]+) % of the disparities known", result.out)
    expect(share and float(share.group(1)) > 10, result.last())


def expect_colours(place, calibration):
    """Compares the colours of points with OpenCV's own rectification at their pixels."""
    place.succeed(python, pipelines / "point-cloud.py", "left01.png", "right01.png", "cloud.ply", "--calibration", calibration)
    result = place.run(python, "-c", "import cv2, numpy, sys\n"
                       "data = open('cloud.ply', 'rb').read().split(b'end_header\\n', 1)[1]\n"
                       "cloud = numpy.frombuffer(data, [('p', '<f4', 3), ('c', 'u1', 3)])\n"
                       "file = cv2.FileStorage(sys.argv[1], cv2.FILE_STORAGE_READ)\n"
                       "m, d, r, p = (file.getNode(key).mat() for key in ('M1', 'D1', 'R1', 'P1'))\n"
                       "left = cv2.imread('left01.png', cv2.IMREAD_GRAYSCALE)\n"
                       "maps = cv2.initUndistortRectifyMap(m, d, r, p, left.shape[::-1], cv2.CV_16SC2)\n"
                       "rectified = cv2.remap(left, *maps, cv2.INTER_LINEAR).astype(int)\n"
                       "points = cloud['p'].astype(float)\n"
                       "x, y = ((points[:, axis] * p[0, 0] / points[:, 2] + p[axis, 2]).round().astype(int) for axis in (0, 1))\n"
                       "print(len(cloud) > 1000, abs(rectified[y, x] - cloud['c'][:, 0]).max() <= 1)", calibration)
    expect(result.out == "True True\n", result.text)


def expect_same_by_ros(place, model):
    """Expects the camera_info files, whose lengths are in metres, to rectify frames as the calibration does."""
    calibration, = (path.name for path in place.folder.glob("stereo.*"))
    ros = "--property", "calibration-left=stereo-left.yaml", "--property", "calibration-right=stereo-right.yaml"
    for out, properties in (("cv.npy", ("--property", f"calibration={calibration}")), ("ros.npy", ros)):
        place.succeed(python, pipelines / "disparity.py", "left01.png", "right01.png", out, *properties)
    expect((place.folder / "cv.npy").read_bytes() == (place.folder / "ros.npy").read_bytes(), "camera_info rectifies in another way")
    text = (place.folder / "stereo-right.yaml").read_text()
    expect(f"distortion_model: {model}\n" in text, text)
    # The fourth column of the projection has −f·B, with the baseline B = 0.1 m.
    projection = re.search(r"projection_matrix:.*?\[(.*?)\]", text, re.S)[1].split(", ")
    expect(abs(float(projection[3]) / float(projection[0]) + 0.1) < 0.001, f"{projection}")


@test("pipelines/calibrate.py calibrates cameras with a chessboard")
def _(place):
    expect(place.run(python, top / "tests/pipelines/boards.py", place.folder, "chessboard", "pinhole").status == 0, "no boards")
    text = calibrate(place, "stereo.yml", "--left", "left*.png", "--right", "right*.png", "--board", "8x6", "--square", "30")
    expect("left01.png and right01.png: 48 corners" in text and "Writing stereo.yml, stereo-left.yaml, stereo-right.yaml and stereo-rectified.png" in text, text)
    expect((place.folder / "stereo-rectified.png").stat().st_size > 10000, "there is no picture")
    expect_cameras(place, "stereo.yml", text)
    play(place, "stereo.yml")
    # stereo-files.sh also accepts the calibration, and reports a missing file before it writes anything.
    result = place.script("stereo-files.sh", "calibration=stereo.yml", "left01.png", "right01.png", "out.png")
    expect(result.status == 0 and (place.folder / "out-colors.png").exists(), result.text)
    result = place.script("stereo-files.sh", "calibration=none.yml", "left01.png", "right01.png", "none.png")
    expect(result.status == 2 and "none.yml" in result.err and not (place.folder / "none.png").exists(), result.text)
    expect_colours(place, "stereo.yml")
    expect_same_by_ros(place, "plumb_bob")
    result = place.run(place.build / "pipelines/distance", "--calibration", "stereo.yml", *(
        f"filesrc location={side}01.png ! pngdec ! videoconvert" for side in ("left", "right")))
    expect(result.status == 0 and re.search(r"nearest \d+ mm", result.out), result.text)
    # Error: the pictures of one camera are given for both.
    text = calibrate(place, "same.yml", "--left", "left*.png", "--right", "left*.png", "--board", "8x6", "--square", "30", status=1)
    expect("both cameras are at the same position" in text and "Good" not in text, text)
    # Error: left and right are swapped.
    text = calibrate(place, "wrong.yml", "--left", "right*.png", "--right", "left*.png", "--board", "8x6", "--square", "30", status=1)
    expect("Exchange the cameras" in text, text)


@test("pipelines/calibrate.py calibrates fisheye cameras with a ChArUco board")
def _(place):
    expect(place.run(python, top / "tests/pipelines/boards.py", place.folder, "charuco", "fisheye").status == 0, "no boards")
    text = calibrate(place, "stereo.json", "--packed", "both*.png", "--board", "9x7", "--square", "30", "--charuco", "DICT_5X5_100",
                     "--fisheye", "--picture", "look.jpg")
    expect_cameras(place, "stereo.json", text)
    expect((place.folder / "look.jpg").stat().st_size > 10000, "there is no picture")
    play(place, "stereo.json")
    expect_same_by_ros(place, "equidistant")


@test("pipelines/calibrate.py takes pairs from videos as from cameras")
def _(place):
    expect(place.run(python, top / "tests/pipelines/boards.py", place.folder, "charuco", "pinhole").status == 0, "no boards")
    for name in ("left", "right", "both"):
        place.play(f"multifilesrc location={name}%02d.png caps=image/png,framerate=2/1 ! pngdec ! videorate ! video/x-raw,framerate=8/1 "
                     f"! videoconvert ! video/x-raw,format=GRAY8 ! avenc_ffv1 ! matroskamux ! filesink location={name}.mkv")
    board = "--board", "9x7", "--square", "30", "--charuco", "DICT_5X5_100", "--pairs", "11"
    for inputs in (("--left", "left.mkv", "--right", "right.mkv"), ("--packed", "both.mkv")):
        text = calibrate(place, "stereo.xml", *inputs, *board)
        # The board rests for four frames in each pose.
        expect(len(re.findall(r"^[\d.]+ s: pair \d+ of 11", text, re.M)) == 11, text)
        expect_cameras(place, "stereo.xml", text)


@test("pipelines/calibrate.py rectifies OpenCV's photographs of a chessboard")
def _(place):
    if not (examples / "left01.jpg").exists():
        raise Skip("opencv-doc is not installed")
    text = calibrate(place, "stereo.yml", "--left", examples / "left??.jpg", "--right", examples / "right??.jpg", "--square", "25")
    expect(number(text, "reprojection error") < 0.3 and number(text, "vertical offset after rectification") < 0.2, text)
    expect("Calibrating with 13 pairs of 640x480" in text and re.search(r"^Good: ", text, re.M), text)

    def known(name, setting):
        result = place.run(python, pipelines / "disparity.py", examples / f"left{name}.jpg", examples / f"right{name}.jpg",
                           "--property", setting)
        if "-Dopencv=enabled" in result.err:
            raise Skip("this build has no OpenCV")
        share = re.search(r"([\d.]+) % of the disparities known", result.out)
        expect(share, result.last())
        return float(share.group(1))

    names = ("01", "04", "07", "13")
    before, after = (statistics.fmean(known(name, setting) for name in names)
                     for setting in ("num-disparities=256", "calibration=stereo.yml"))
    print(f"known pixels of left{', '.join(names)}: {before:.1f} % as they are, {after:.1f} % rectified", file=sys.stderr)
    expect(after > 2 * before, f"{before:.1f} % of the pixels are known as they are, and {after:.1f} % rectified")
