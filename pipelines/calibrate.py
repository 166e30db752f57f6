#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Calibrates two cameras from pictures of a chessboard or a ChArUco board that both see, and writes the file for
cudasgmstereo's property calibration. Hold the board still for each pair, in all parts of the frame, near and far, and
tilted to all sides; 15 pairs are a good number."""
import argparse
import glob
import os
import sys

import frames
import numpy
from gi.repository import Gst

try:
    import cv2
except ImportError as error:
    sys.exit(f"{error}. Install it: sudo apt-get install python3-opencv\nIt is for the system's Python:\n"
             f"  /usr/bin/python3 {' '.join(sys.argv)}")

fewest_pairs = 5


class Chessboard:
    def __init__(self, columns, rows, square):
        self.size = columns, rows
        grid = numpy.mgrid[:columns, :rows].T.reshape(-1, 2)
        self.points = numpy.column_stack((square * grid, numpy.zeros(len(grid)))).astype("float32")

    def find(self, gray):
        """The corners by their numbers on the board; none if not all of them are seen."""
        found, corners = cv2.findChessboardCorners(gray, self.size, None, cv2.CALIB_CB_ADAPTIVE_THRESH |
                                                   cv2.CALIB_CB_NORMALIZE_IMAGE | cv2.CALIB_CB_FAST_CHECK)
        if not found:
            return {}
        corners = cv2.cornerSubPix(gray, corners, (5, 5), (-1, -1), (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, 50, 1e-3))
        return dict(enumerate(corners.reshape(-1, 2)))

    def aligned(self, left, right):
        """The right corners, numbered from the same end of the board as the left ones."""
        last = len(self.points) - 1
        if left and right and numpy.dot(left[last] - left[0], right[last] - right[0]) < 0:
            return {last - number: corner for number, corner in right.items()}
        return right


class Charuco:
    def __init__(self, columns, rows, square, marker, dictionary):
        # OpenCV 4.7 has new names for these functions.
        self.new = hasattr(cv2.aruco, "CharucoDetector")
        get = cv2.aruco.getPredefinedDictionary if self.new else cv2.aruco.Dictionary_get
        self.dictionary = get(dictionary)
        if self.new:
            self.board = cv2.aruco.CharucoBoard((columns, rows), square, marker, self.dictionary)
            self.detector = cv2.aruco.CharucoDetector(self.board)
            self.points = numpy.asarray(self.board.getChessboardCorners(), "float32")
        else:
            self.board = cv2.aruco.CharucoBoard_create(columns, rows, square, marker, self.dictionary)
            self.points = numpy.asarray(self.board.chessboardCorners, "float32")

    def find(self, gray):
        """Those corners that are seen, by their numbers on the board."""
        if self.new:
            corners, numbers, _, _ = self.detector.detectBoard(gray)
        else:
            markers, names, _ = cv2.aruco.detectMarkers(gray, self.dictionary)
            if names is None:
                return {}
            _, corners, numbers = cv2.aruco.interpolateCornersCharuco(markers, names, gray, self.board)
        return {} if numbers is None else dict(zip(numbers.ravel().tolist(), corners.reshape(-1, 2)))

    def aligned(self, _, right):
        return right


class Pair:
    """What both cameras see of the board: points of the board, and their places in both pictures."""

    def __init__(self, name, board, left, right):
        self.name, self.pictures = name, (left, right)
        corners = [board.find(picture) for picture in (left, right)]
        corners[1] = board.aligned(*corners)
        self.numbers = sorted(set(corners[0]) & set(corners[1]))
        self.points = board.points[self.numbers]
        self.places = [numpy.array([one[number] for number in self.numbers], "float32").reshape(-1, 2) for one in corners]

    def usable(self):
        return len(self.numbers) >= 8

    def moved_from(self, other):
        """Whether the board is at another place than in the other pair."""
        centers = [pair.places[0].mean(axis=0) for pair in (self, other)]
        sizes = [numpy.ptp(pair.places[0], axis=0) for pair in (self, other)]
        far = self.pictures[0].shape[1] / 12
        return numpy.linalg.norm(centers[0] - centers[1]) > far or numpy.abs(sizes[0] - sizes[1]).max() > far


# Inputs


def names_of(patterns):
    """The files that the patterns stand for, as a shell would list them."""
    names = []
    for pattern in patterns:
        names += sorted(glob.glob(pattern)) or [pattern]
    return [frames.readable(name) for name in names]


def halves(picture):
    middle = picture.shape[1] // 2
    return picture[:, :middle], picture[:, middle:2 * middle]


def read(name):
    picture = cv2.imread(name, cv2.IMREAD_GRAYSCALE)
    if picture is None:
        sys.exit(f"{name}: OpenCV cannot read this as a picture")
    return picture


def file_pairs(lefts, rights):
    """Yields the name of each pair of files, and its pictures."""
    for i, left in enumerate(lefts):
        if rights:
            yield f"{left} and {rights[i]}", read(left), read(rights[i])
        else:
            yield left, *map(numpy.ascontiguousarray, halves(read(left)))


def gray_of(sample):
    return sample.get_buffer().pts, numpy.ascontiguousarray(frames.array_of(sample))


def stream_pairs(sources):
    """Yields the time and the pictures of pairs of frames from two cameras or films, or one that holds both."""
    preview = "tee name={0} ! queue ! videoconvert ! autovideosink sync=false  {0}. ! " if frames.display_set() else ""
    description = "  ".join(
        f"{frames.source_of(source)} ! {preview.format(f'tee{i}')}queue leaky={'downstream' if source.startswith('/dev/') else 'no'} "
        f"! videoconvert ! video/x-raw,format=GRAY8 ! appsink name=sink{i} max-buffers=2 sync=false"
        for i, source in enumerate(sources))
    with frames.Player(description) as player:
        messages = player.messages(0)
        sinks = [player[f"sink{i}"] for i in range(len(sources))]

        def pull(sink):
            while True:
                sample = sink.emit("try-pull-sample", Gst.SECOND // 10)
                if sample or sink.get_property("eos"):
                    return sample and gray_of(sample)
                next(messages, None)  # ends the program at an error

        while True:
            pair = [pull(sink) for sink in sinks]
            # Of two cameras, the older frame waits for the one that was taken at the same time.
            while len(pair) == 2 and all(pair) and abs(pair[0][0] - pair[1][0]) > 20 * Gst.MSECOND:
                older = 0 if pair[0][0] < pair[1][0] else 1
                pair[older] = pull(sinks[older])
            if not all(pair):
                return
            pictures = [picture for _, picture in pair]
            if len(pictures) == 1:
                pictures = [numpy.ascontiguousarray(half) for half in halves(pictures[0])]
            yield f"{pair[0][0] / Gst.SECOND:.1f} s", *pictures


def is_stream(names):
    return len(names) == 1 and (names[0].startswith("/dev/") or cv2.imread(names[0], cv2.IMREAD_GRAYSCALE) is None)


def collect(board, pairs, streaming, wanted):
    """The pairs in which the board was found in both pictures."""
    kept = []
    for name, left, right in pairs:
        if left.shape != right.shape or kept and left.shape != kept[0].pictures[0].shape:
            sys.exit(f"{name}: the pictures differ in size; calibrate with pictures of one size")
        pair = Pair(name, board, left, right)
        if not streaming:
            seen = f"{len(pair.numbers)} corners" if pair.usable() else "the board is not seen in both, left out"
            print(f"{name}: {seen}", flush=True)
        elif pair.usable() and all(pair.moved_from(other) for other in kept[-3:]):
            print(f"{name}: pair {len(kept) + 1} of {wanted}, {len(pair.numbers)} corners; move the board", flush=True)
        else:
            continue
        if pair.usable():
            kept.append(pair)
        if streaming and len(kept) == wanted:
            break
    return kept


# Calibration


class Camera:
    """One camera's matrix and distortion."""

    def __init__(self, pairs, side, size, fisheye, rational):
        points, places = [pair.points for pair in pairs], [pair.places[side] for pair in pairs]
        self.fisheye = fisheye
        if fisheye:
            flags = cv2.fisheye.CALIB_RECOMPUTE_EXTRINSIC | cv2.fisheye.CALIB_FIX_SKEW
            error, self.matrix, self.distortion, _, _ = cv2.fisheye.calibrate(
                [one.reshape(1, -1, 3).astype("float64") for one in points],
                [one.reshape(1, -1, 2).astype("float64") for one in places], size, None, None, flags=flags)
        else:
            # A third radial coefficient follows the noise unless there is much distortion.
            flags = cv2.CALIB_RATIONAL_MODEL if rational else cv2.CALIB_FIX_K3
            error, self.matrix, self.distortion, _, _ = cv2.calibrateCamera(points, places, size, None, None, flags=flags)
            self.distortion = self.distortion.ravel()[:8 if rational else 5]
        self.error = error

    def undistorted(self, places, rotation=None, projection=None):
        places = places.reshape(-1, 1, 2).astype("float64")
        undistort = cv2.fisheye.undistortPoints if self.fisheye else cv2.undistortPoints
        return undistort(places, self.matrix, self.distortion, R=rotation, P=projection).reshape(-1, 2)


class StereoCalibration:
    def __init__(self, pairs, size, fisheye, rational, alpha):
        self.pairs, self.size, self.fisheye = pairs, size, fisheye
        self.cameras = [Camera(pairs, side, size, fisheye, rational) for side in (0, 1)]
        left, right = self.cameras
        points = [pair.points for pair in pairs]
        criteria = cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, 100, 1e-6
        if fisheye:
            # The pose follows from the places that pinhole cameras would see.
            ideal = numpy.diag((left.matrix[0, 0], left.matrix[0, 0], 1))
            places = [[camera.undistorted(pair.places[side], None, ideal).astype("float32") for pair in pairs]
                      for side, camera in enumerate(self.cameras)]
            nothing = numpy.zeros(5)
            result = cv2.stereoCalibrateExtended(points, *places, ideal, nothing, ideal, nothing, size, None, None,
                                                 flags=cv2.CALIB_FIX_INTRINSIC, criteria=criteria)
        else:
            places = [[pair.places[side] for pair in pairs] for side in (0, 1)]
            flags = cv2.CALIB_USE_INTRINSIC_GUESS | (cv2.CALIB_RATIONAL_MODEL if rational else cv2.CALIB_FIX_K3)
            result = cv2.stereoCalibrateExtended(points, *places, left.matrix, left.distortion, right.matrix, right.distortion,
                                                 size, None, None, flags=flags, criteria=criteria)
            for camera, matrix, distortion in ((left, result[1], result[2]), (right, result[3], result[4])):
                camera.matrix, camera.distortion = matrix, distortion.ravel()[:8 if rational else 5]
        self.error, self.rotation, self.translation = result[0], result[5], result[6]
        self.errors = result[-1].max(axis=1)
        self.rectify(alpha)

    def rectify(self, alpha):
        left, right = self.cameras
        matrices = left.matrix, left.distortion, right.matrix, right.distortion, self.size, self.rotation, self.translation
        if self.fisheye:
            result = cv2.fisheye.stereoRectify(*matrices, flags=cv2.CALIB_ZERO_DISPARITY, newImageSize=self.size, balance=max(alpha, 0))
        else:
            result = cv2.stereoRectify(*matrices, flags=cv2.CALIB_ZERO_DISPARITY, alpha=alpha)
        self.rotations, self.projections, self.reprojection = result[0:2], result[2:4], result[4]

    def vertical_offset(self):
        """The mean distance between the rows of a corner in both rectified pictures."""
        rows = [numpy.concatenate([camera.undistorted(pair.places[side], self.rotations[side], self.projections[side])[:, 1]
                                   for pair in self.pairs]) for side, camera in enumerate(self.cameras)]
        return numpy.abs(rows[0] - rows[1]).mean()

    def coverage(self):
        """The share of the frame in whose parts, of 8 by 6, both cameras have seen corners."""
        shares = []
        for side in (0, 1):
            places = numpy.concatenate([pair.places[side] for pair in self.pairs])
            parts = {(int(8 * x / self.size[0]), int(6 * y / self.size[1])) for x, y in places}
            shares.append(len(parts) / 48)
        return min(shares)

    def rectified(self, pair):
        """Both rectified pictures, side by side, with lines along which the same points must lie."""
        make = cv2.fisheye.initUndistortRectifyMap if self.fisheye else cv2.initUndistortRectifyMap
        both = []
        for side, camera in enumerate(self.cameras):
            maps = make(camera.matrix, camera.distortion, self.rotations[side], self.projections[side][:, :3], self.size, cv2.CV_16SC2)
            both.append(cv2.remap(pair.pictures[side], *maps, cv2.INTER_LINEAR))
        picture = cv2.cvtColor(numpy.hstack(both), cv2.COLOR_GRAY2BGR)
        for y in range(self.size[1] // 32, self.size[1], max(self.size[1] // 16, 1)):
            cv2.line(picture, (0, y), (picture.shape[1], y), (0, 200, 0), 1)
        return picture

    def write(self, name):
        file = cv2.FileStorage(name, cv2.FileStorage_WRITE)
        file.write("image_width", self.size[0])
        file.write("image_height", self.size[1])
        file.write("distortion_model", "fisheye" if self.fisheye else "pinhole")
        file.write("unit", "mm")
        for number, camera in enumerate(self.cameras, 1):
            file.write(f"M{number}", camera.matrix)
            file.write(f"D{number}", camera.distortion.reshape(1, -1))
        file.write("R", self.rotation)
        file.write("T", self.translation)
        for number in (1, 2):
            file.write(f"R{number}", self.rotations[number - 1])
            file.write(f"P{number}", self.projections[number - 1])
        file.write("Q", self.reprojection)
        file.write("reprojection_error", float(self.error))
        file.release()


def calibrate(pairs, *arguments):
    """Leaves out the pairs that fit much worse than the others, for example because the board was moving."""
    result = StereoCalibration(pairs, *arguments)
    limit = max(3 * numpy.median(result.errors), 1)
    good = [pair for pair, error in zip(pairs, result.errors) if error <= limit]
    if len(good) == len(pairs) or len(good) < fewest_pairs:
        return result
    for pair, error in zip(pairs, result.errors):
        if error > limit:
            print(f"{pair.name}: left out, because its error of {error:.1f} pixels is far above that of the others")
    return StereoCalibration(good, *arguments)


def verdict(result):
    """What to think of the calibration, and what would make it better."""
    offset, position = result.vertical_offset(), -result.rotation.T @ result.translation
    if numpy.linalg.norm(position) < 0.01 * numpy.linalg.norm(numpy.ptp(result.pairs[0].points, axis=0)):
        return "Bad: both cameras stand at the same place. Name the pictures of two cameras."
    if position[0] < 0 and abs(position[0]) > abs(position[1]):
        return "Exchange the cameras: the right one stands to the left of the left one. cudasgmstereo refuses this file."
    if abs(position[1]) > abs(position[0]):
        return "Turn the cameras: one stands above the other, and cudasgmstereo refuses this file."
    advice = []
    if len(result.pairs) < 10:
        advice.append(f"take more than {len(result.pairs)} pairs")
    if result.coverage() < 0.5:
        advice.append("show the board in all parts of the frame")
    if result.error > 0.5 or offset > 0.5:
        advice.append("hold the board still, keep it flat, and keep both cameras in focus")
        if not result.fisheye:
            advice.append("try --fisheye or --rational if the lenses have a wide angle")
    grade = "Good" if result.error <= 0.5 and offset <= 0.5 else "Usable" if result.error <= 1 and offset <= 1 else "Bad"
    meaning = {"Good": "rows match to half a pixel or better", "Usable": "disparities will be missing where the texture is fine",
               "Bad": "most disparities would be wrong or missing"}[grade]
    return f"{grade}: {meaning}." + (f" To improve it, {'; '.join(advice)}." if advice else "")


def size_argument(text):
    """COLUMNSxROWS"""
    columns, rows = map(int, text.lower().split("x"))
    if min(columns, rows) < 2:
        raise ValueError
    return columns, rows


def length(text):
    """A length in mm."""
    number = float(text)
    if not 0 < number < 1e6:
        raise ValueError
    return number


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", metavar="OUT.yml", help="the calibration; also .yaml, .xml or .json")
    parser.add_argument("--left", nargs="+", metavar="INPUT", help="pictures of the left camera, the camera itself, or a film of it")
    parser.add_argument("--right", nargs="+", metavar="INPUT", help="likewise of the right camera, in the same order")
    parser.add_argument("--packed", nargs="+", metavar="INPUT", help="instead: pictures, a camera or a film that hold both, side by side")
    parser.add_argument("--board", type=size_argument, default=(9, 6), metavar="COLUMNSxROWS",
                        help="inner corners of the chessboard (default: 9x6), or with --charuco its squares")
    parser.add_argument("--square", type=length, metavar="MM", help="length of a square of the board, in mm: distances will be as exact as this")
    parser.add_argument("--charuco", metavar="DICTIONARY", help="the board is a ChArUco board with markers of this dictionary, such as DICT_5X5_100")
    parser.add_argument("--marker", type=length, metavar="MM", help="with --charuco: length of a marker (default: 0.75 of a square)")
    parser.add_argument("--fisheye", action="store_true", help="the lenses are fisheyes")
    parser.add_argument("--rational", action="store_true", help="8 coefficients of distortion instead of 5, for wide angles")
    parser.add_argument("--alpha", type=float, default=-1, help="of cv2.stereoRectify(): from 0, only pixels that the cameras see, to 1, all "
                        "of them (default: -1)")
    parser.add_argument("--pairs", type=int, default=15, help="how many pairs to take from cameras or films (default: 15)")
    parser.add_argument("--picture", metavar="OUT.png", help="a rectified pair with lines (default: OUT-rectified.png)")
    arguments = parser.parse_args()
    if not arguments.out.endswith((".yml", ".yaml", ".xml", ".json")):
        parser.error(f'"{arguments.out}" would not be what its name says: let it end in .yml, .yaml, .xml or .json')
    arguments.picture = arguments.picture or os.path.splitext(arguments.out)[0] + "-rectified.png"
    if not arguments.picture.endswith((".png", ".jpg")):
        parser.error(f'"{arguments.picture}" would not be what its name says: let it end in .png or .jpg')
    if bool(arguments.left) != bool(arguments.right) or bool(arguments.left) == bool(arguments.packed):
        parser.error("name the inputs of both cameras with --left and --right, or those that hold both with --packed")
    if arguments.square is None:
        parser.error("measure a square of the board and set --square to its length in mm")
    if arguments.alpha != -1 and not 0 <= arguments.alpha <= 1:
        parser.error("--alpha needs a number from 0 to 1, or -1")
    if arguments.pairs < fewest_pairs:
        parser.error(f"--pairs needs a number from {fewest_pairs}")
    if arguments.fisheye and arguments.rational:
        parser.error("set --fisheye or --rational, not both")
    if arguments.charuco and not hasattr(cv2.aruco, arguments.charuco):
        names = [name for name in dir(cv2.aruco) if name.startswith("DICT_") and name.endswith("_100")]
        parser.error(f"OpenCV has no dictionary {arguments.charuco}; it has {', '.join(names)} and others")
    if arguments.marker and arguments.marker >= arguments.square:
        parser.error("a marker is smaller than a square: set --marker to less than --square")
    return parser, arguments


def main():
    parser, arguments = parse()
    lefts, rights = names_of(arguments.left or arguments.packed), names_of(arguments.right or [])
    if rights and len(lefts) != len(rights):
        parser.error(f"{len(lefts)} inputs of the left camera and {len(rights)} of the right one: each needs its partner")
    for out in (arguments.out, arguments.picture):
        frames.check_output(out, *(name for name in lefts + rights if not name.startswith("/dev/")))
    board = Chessboard(*arguments.board, arguments.square)
    if arguments.charuco:
        board = Charuco(*arguments.board, arguments.square, arguments.marker or 0.75 * arguments.square,
                        getattr(cv2.aruco, arguments.charuco))

    streaming = is_stream(lefts)
    pairs = collect(board, stream_pairs(lefts + rights) if streaming else file_pairs(lefts, rights), streaming, arguments.pairs)
    if len(pairs) < fewest_pairs:
        sys.exit(f"The board was found in {len(pairs)} pairs, but at least {fewest_pairs} are needed. Is --board, "
                 f"{'squares' if arguments.charuco else 'inner corners'}, right? Is the whole board sharp, evenly lit, and in view of both?")
    height, width = pairs[0].pictures[0].shape
    print(f"Calibrating with {len(pairs)} pairs of {width}x{height}", flush=True)
    try:
        result = calibrate(pairs, (width, height), arguments.fisheye, arguments.rational, arguments.alpha)
    except cv2.error as error:
        sys.exit(f"OpenCV cannot calibrate with these pictures ({error.err}). Take others, with the board tilted to all sides.")
    result.write(arguments.out)
    cv2.imwrite(arguments.picture, result.rectified(max(result.pairs, key=lambda pair: len(pair.numbers))))
    print(f"Writing {arguments.out} and {arguments.picture}")
    print(f"reprojection error {result.error:.2f} pixels, corners seen in {100 * result.coverage():.0f} % of the frame")
    print(f"mean vertical offset after rectification {result.vertical_offset():.2f} pixels")
    print(f"focal length {result.projections[0][0, 0]:.1f} pixels, baseline {numpy.linalg.norm(result.translation):.2f} mm")
    print(verdict(result))


if __name__ == "__main__":
    main()
