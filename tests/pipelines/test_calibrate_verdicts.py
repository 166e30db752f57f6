# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the verdicts of pipelines/calibrate.py on moving boards, boards without tilt, few or equal views, and swapped
pictures. Also tests whether its error bounds hold."""
import re

from harness import expect, pipelines, python, test, top
from test_calibrate import calibrate

reads = ()  # in addition to SHARED of run.py

board = "--board", "8x6", "--square", "30"


def paint(place, *arguments):
    place.succeed(python, top / "tests/pipelines/boards.py", place.folder, "chessboard", "pinhole", *arguments)


def files(side, numbers):
    return [f"{side}{number:02}.png" for number in numbers]


def expect_truth(text):
    """Expects the true values of boards.py's cameras to be within the printed errors."""
    for words, truth in ((r"focal length", 500), (r"pixels on the left,", 505), ("baseline", 100.025)):
        found = re.search(words + r" ([\d.]+) ± ([\d.]+)", text)
        expect(found and abs(float(found[1]) - truth) <= float(found[2]) + 0.05, f"{words}, which is {truth}: {text}")


def films(place, late=0):
    """Writes left.mkv, and right.mkv, which lags by this many frames."""
    for side, first in (("left", late), ("right", 0)):
        place.play(f"multifilesrc location={side}%02d.png start-index={first} caps=image/png,framerate=30/1 ! pngdec ! videoconvert "
                     f"! video/x-raw,format=GRAY8 ! avenc_ffv1 ! matroskamux ! filesink location={side}.mkv")


@test("pipelines/calibrate.py takes pairs while the board is still, so that a delayed camera does not matter")
def _(place):
    paint(place, "film")
    films(place, late=1)
    text = calibrate(place, "late.yml", "--left", "left.mkv", "--right", "right.mkv", "--pairs", "7", *board)
    expect("Calibrating with 7 pairs" in text and re.search("^(Good|Usable): ", text, re.M), text)
    expect_truth(text)
    # The eighth board was not used for the calibration, so it can check the result.
    square = re.search(r"a square measures ([\d.]+) mm instead of 30 mm", text)
    expect(square and abs(float(square[1]) - 30) < 0.2, text)


@test("pipelines/calibrate.py takes no pairs of a moving board")
def _(place):
    paint(place, "film", "1")
    films(place)
    text = calibrate(place, "moving.yml", "--left", "left.mkv", "--right", "right.mkv", *board, status=1)
    expect("found in 0 pairs" in text and "hold it still" in text, text)


@test("pipelines/calibrate.py advises to tilt boards that are always flat")
def _(place):
    paint(place, "12", "0.03")
    text = calibrate(place, "flat.yml", "--left", "left*.png", "--right", "right*.png", *board, status=1)
    expect(re.search("^Bad: distances may be wrong by .* tilt the board by 20 to 45 degrees, to all sides \\(0 of 12 pairs", text, re.M), text)


@test("pipelines/calibrate.py reports the errors of few pairs, and uses repeated pictures once")
def _(place):
    paint(place)
    text = calibrate(place, "few.yml", "--left", *files("left", range(5)), "--right", *files("right", range(5)), *board)
    expect_truth(text)
    expect("take more than 5 pairs" in text, text)
    text = calibrate(place, "same.yml", "--left", *files("left", [3] * 5), "--right", *files("right", [3] * 5), *board, status=1)
    expect(text.count("the same view as left03.png and right03.png, left out") == 4 and "found in 1 pairs" in text, text)


@test("pipelines/calibrate.py names pairs whose pictures are exchanged")
def _(place):
    paint(place)
    lefts, rights = files("left", range(12)), files("right", range(12))
    rights[2], rights[6] = rights[6], rights[2]
    text = calibrate(place, "others.yml", "--left", *lefts, "--right", *rights, *board)
    expect("pairs 3 and 7 disagree with the others: the right pictures of pairs 3 and 7 fit when exchanged, so exchange them" in text, text)
    expect(re.search(r"^pair 3, left02.png and right06.png: error \d\d+\.\d+ pixels, left out$", text, re.M), text)
    expect_truth(text)
    lefts, rights = files("left", range(12)), files("right", range(12))
    lefts[4], rights[4] = rights[4], lefts[4]
    text = calibrate(place, "sides.yml", "--left", *lefts, "--right", *rights, *board)
    expect("pair 5 disagrees with the others: the left and the right picture of pair 5 fit when exchanged, so exchange them" in text, text)
    expect_truth(text)


@test("pipelines/calibrate.py asks for the length of a square, and compares it with --square")
def _(place):
    paint(place)
    for answer, status, words in ((b"30\n", 0, "Good: "), (b"29.1\n", 1, "all distances would be 3.1 % too long. Set --square 29.1"), (b"\n", 0, "Good: ")):
        (place.folder / "seen").unlink(missing_ok=True)
        text = place.on_terminal(python, pipelines / "calibrate.py", "asked.yml", "--left", "left*.png", "--right", "right*.png", *board,
                                 awaited=b"skips this check", answer=answer, status=status)
        expect(words in text, text)


@test("the errors that pipelines/calibrate.py prints hold in 19 of 20 cases")
def _(place):
    # Computes the corners, with noise of 0.1 pixels, instead of painting boards.
    result = place.program("""
import cv2, numpy
from calibration.boards import Chessboard, Pair
from calibration.precision import Precision
from calibration.solve import Outcome
board, size = Chessboard(8, 6, 30), (640, 480)
matrices = [numpy.array([[f, 0, x], [0, f, y], [0, 0, 1.0]]) for f, x, y in ((600, 325, 236), (605, 316, 243))]
distortions = numpy.array([[-0.2, 0.05, 0.0005, -0.0004, 0], [-0.19, 0.04, -0.0003, 0.0006, 0]])
turn, position = cv2.Rodrigues(numpy.array([0.01, -0.03, 0.02]))[0], numpy.array([100.0, 1, -2])
class Seen(Pair):
    def __init__(self, corners):
        self.name, self.pictures = "", (numpy.zeros((480, 640), "u1"),) * 2
        self.set_corners(board, *corners)
def pairs_of(random):
    pairs = []
    while len(pairs) < 8:
        rotation = cv2.Rodrigues(random.uniform(-0.45, 0.45, 3))[0]
        shift = random.uniform((-100, -90, 420), (150, 90, 650)) - rotation @ numpy.array([105, 75, 0])
        corners = [cv2.projectPoints(board.points.astype("f8"), cv2.Rodrigues(one)[0], at, matrices[side], distortions[side])[0].reshape(-1, 2)
                   for side, (one, at) in enumerate(((rotation, shift), (turn @ rotation, turn @ (shift - position))))]
        if all((one > 5).all() and (one < (635, 475)).all() for one in corners):
            pairs.append(Seen([dict(enumerate((one + random.normal(0, 0.1, one.shape)).astype("f4"))) for one in corners]))
    return pairs
held = numpy.zeros(3, int)
for seed in range(20):
    outcome = Outcome(pairs_of(numpy.random.RandomState(seed)), board, size, False, False, -1)
    found = Precision(outcome.result, False)
    wrong = numpy.abs([found.focal_lengths[0] - 600, found.focal_lengths[1] - 605, found.baseline - numpy.linalg.norm(position)])
    held += wrong <= (*found.focal_length_errors, found.baseline_error)
print(*held)
""")
    expect(result.status == 0 and all(int(count) >= 19 for count in result.out.split()) and len(result.out.split()) == 3, result.text)


@test("pipelines/calibrate.py paints the positions and tilts of the board")
def _(place):
    paint(place, "3")
    result = place.program("import cv2, numpy\n"
                           "from calibration.boards import Chessboard, Pair\n"
                           "from calibration.preview import overview\n"
                           "board = Chessboard(8, 6, 30)\n"
                           "pairs = [Pair('', board, *(cv2.imread(f'{side}{number:02}.png', 0) for side in ('left', 'right'))) for number in range(3)]\n"
                           "before, after = (overview(pairs[0], taken, 15, 'hold it still').astype(int) for taken in ([], pairs))\n"
                           "x, y = pairs[2].positions[0].mean(axis=0).astype(int)\n"
                           "greener = (after - before)[y, x]\n"
                           "dots = (after[360:, 560:720] == (0, 200, 0)).all(axis=2).sum()\n"
                           "print(before.shape, greener[1] > greener[0], 60 < dots < 200)")
    expect(result.out == "(480, 1280, 3) True True\n", result.text)
