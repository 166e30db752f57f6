#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Calibrates two cameras from pictures of a chessboard or a ChArUco board that both cameras see. Writes the file for the
property calibration of cudasgmstereo, and ROS's camera_info of both cameras. Take about 15 pairs: show the board in all parts
of the frame, near and far, and tilted in different directions. From cameras and videos, pairs are taken only while the board is still. If
the calibration is bad, the exit status is 1."""
import argparse
import os
import shlex
import sys

import argtypes
import frames

try:
    import cv2
except ImportError as error:
    sys.exit(f"{error}. Run this, and start this program with the system's Python:\n  sudo apt-get install python3-opencv\n"
             f"  /usr/bin/python3 {shlex.join(sys.argv)}")

from calibration import camerainfo
from calibration.boards import Charuco, Chessboard
from calibration.inputs import StillPairs, is_stream, names_of, pairs_of_files, pairs_of_stream, stream_pairs
from calibration.precision import Precision
from calibration.preview import Window
from calibration.solve import Outcome, min_pairs
from calibration.verdict import measured_squares, verdict


# Extensions of the calibration files that OpenCV can write.
endings = ".yml", ".yaml", ".xml", ".json"


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", metavar="OUT.yml", help="file for the calibration (.yml, .yaml, .xml or .json). The ROS camera_info of each camera "
                        "is written to OUT-left.yaml and OUT-right.yaml")
    parser.add_argument("--left", nargs="+", metavar="INPUT", help="pictures or a video of the left camera, or the camera itself")
    parser.add_argument("--right", nargs="+", metavar="INPUT", help="inputs of the right camera, in the same order")
    parser.add_argument("--packed", nargs="+", metavar="INPUT", help="instead of --left and --right: inputs whose frames hold both pictures, side by side")
    parser.add_argument("--board", type=argtypes.board_size, default=(9, 6), metavar="COLUMNSxROWS",
                        help="inner corners of the chessboard (default: 9x6), or with --charuco its squares")
    parser.add_argument("--square", type=argtypes.length, metavar="MM", help="required: length of a square of the board, in mm; its relative error is also the error of all distances")
    parser.add_argument("--charuco", metavar="DICTIONARY", help="the board is a ChArUco board with markers of this dictionary, such as DICT_5X5_100")
    parser.add_argument("--marker", type=argtypes.length, metavar="MM", help="with --charuco: length of a marker (default: 0.75 of a square)")
    parser.add_argument("--fisheye", action="store_true", help="the cameras have fisheye lenses")
    parser.add_argument("--rational", action="store_true", help="estimate 8 distortion coefficients instead of 5, for wide-angle lenses")
    parser.add_argument("--alpha", type=argtypes.number_in(kind=float), default=-1, help="alpha of cv2.stereoRectify(): 0 crops to pixels that the cameras see, "
                        "1 keeps all pixels (default: -1, OpenCV's choice)")
    parser.add_argument("--pairs", type=argtypes.number_in(min_pairs), default=15, help="how many pairs to take from cameras or videos (default: 15)")
    parser.add_argument("--picture", metavar="OUT.png", help="a rectified pair with horizontal lines (default: OUT-rectified.png)")
    arguments = parser.parse_args()
    if not arguments.out.endswith(endings):
        parser.error(f'"{arguments.out}" has an unsupported extension: use .yml, .yaml, .xml or .json')
    arguments.picture = arguments.picture or os.path.splitext(arguments.out)[0] + "-rectified.png"
    if not arguments.picture.endswith((".png", ".jpg")):
        parser.error(f'"{arguments.picture}" has an unsupported extension: use .png or .jpg')
    if bool(arguments.left) != bool(arguments.right) or bool(arguments.left) == bool(arguments.packed):
        parser.error("set --left and --right to the inputs of both cameras, or --packed to inputs whose frames hold both pictures")
    if arguments.square is None:
        parser.error("measure a square of the board and set --square to its length in mm")
    if arguments.alpha != -1 and not 0 <= arguments.alpha <= 1:
        parser.error(f"--alpha needs a number from 0 to 1, or -1, not {arguments.alpha:g}")
    if arguments.fisheye and arguments.rational:
        parser.error("set --fisheye or --rational, not both")
    if arguments.charuco and not hasattr(cv2.aruco, arguments.charuco):
        names = [name for name in dir(cv2.aruco) if name.startswith("DICT_") and name.endswith("_100")]
        parser.error(f"OpenCV has no dictionary {arguments.charuco}; it has {', '.join(names)} and others")
    if arguments.marker and arguments.marker >= arguments.square:
        parser.error(f"--marker={arguments.marker:g} must be smaller than --square={arguments.square:g}")
    return parser, arguments


def report(outcome, precision):
    """Prints the error of each pair, and the parameters of the cameras."""
    result = outcome.result
    for number, pair in enumerate(outcome.pairs, 1):
        print(f"pair {number}, {pair.name}: error {outcome.errors[pair]:.2f} pixels{', left out' if pair in outcome.dropped else ''}")
    if outcome.dropped:
        numbers = [str(number) for number, pair in enumerate(outcome.pairs, 1) if pair in outcome.dropped]
        which = f"pairs {', '.join(numbers[:-1])} and {numbers[-1]} disagree" if len(numbers) > 1 else f"pair {numbers[0]} disagrees"
        why = f"{'; '.join(outcome.exchanged)} fit when exchanged, so exchange them" if outcome.exchanged else "take new pictures with a still, flat board"
        print(f"{which} with the others: {why}")
    print(f"reprojection error {result.error:.2f} pixels, corners seen in {100 * result.coverage():.0f} % of the frame")
    print(f"mean vertical offset after rectification {result.vertical_offset():.2f} pixels")
    lengths = [f"{value:.1f} ± {error:.1f}" for value, error in zip(precision.focal_lengths, precision.focal_length_errors)]
    print(f"focal length {lengths[0]} pixels on the left, {lengths[1]} on the right, {result.projections[0][0, 0]:.1f} after rectification")
    print(f"baseline {precision.baseline:.2f} ± {precision.baseline_error:.2f} mm (95 % confidence, if --square is exact)")


def check_square(result, still_pairs, square):
    """Checks the calibration with another view of the board, which was not used in the calibration. Returns the mean measured
    length of the squares relative to the true length, or None if there is no other view."""
    if still_pairs.is_live:
        if not sys.stdin.isatty():
            return None
        print("Show the board once more in another position, and hold it still, so that its squares can be measured.", flush=True)
    pair = next(still_pairs, None)
    if pair is None:
        return None
    found = measured_squares(result, pair).mean()
    print(f"{pair.name}: a square measures {found * square:.2f} mm instead of {square:g} mm")
    return found


def ask_for_ruler(square):
    """Asks for the length of a square, measured with a ruler. Returns False if it contradicts --square."""
    if not sys.stdin.isatty():
        return True
    answer = input("Measure one square now, with a ruler. Its length in mm (Enter skips this check): ").strip()
    try:
        ruler = argtypes.length(answer) if answer else square
    except argparse.ArgumentTypeError:
        print(f'"{answer}" is not a length in mm; skipping this check')
        ruler = square
    off = square / ruler - 1
    if abs(off) <= 0.005:
        return True
    print(f"Bad: all distances would be {100 * abs(off):.1f} % too {'long' if off > 0 else 'short'}. Set --square {ruler:g}, and calibrate again.")
    return False


def main():
    parser, arguments = parse()
    lefts, rights = names_of(arguments.left or arguments.packed), names_of(arguments.right or [])
    if rights and len(lefts) != len(rights):
        parser.error(f"{len(lefts)} inputs of the left camera and {len(rights)} of the right camera: name the same number for both")
    camera_infos = camerainfo.names_beside(arguments.out)
    for out in (arguments.out, arguments.picture, *camera_infos):
        frames.check_output(out, *lefts, *rights)
    board = Chessboard(*arguments.board, arguments.square)
    if arguments.charuco:
        board = Charuco(*arguments.board, arguments.square, arguments.marker or 0.75 * arguments.square,
                        getattr(cv2.aruco, arguments.charuco))

    still_pairs = None
    if is_stream(lefts):
        show = Window(arguments.pairs) if frames.display_set() else lambda *_: None
        still_pairs = StillPairs(board, stream_pairs(lefts + rights), show)
        still_pairs.is_live = any(map(frames.is_camera, lefts + rights))
        pairs = pairs_of_stream(still_pairs, arguments.pairs)
    else:
        pairs = pairs_of_files(board, lefts, rights)
    if len(pairs) < min_pairs:
        why = ("The board was seen, but moved: hold it still for each pair." if still_pairs and still_pairs.moved else
               f"Does --board match the number of {'squares' if arguments.charuco else 'inner corners'}? Is the whole board sharp, evenly lit, and in view of "
               "both cameras?")
        sys.exit(f"The board was found in {len(pairs)} pairs, but at least {min_pairs} are needed. {why}")
    height, width = pairs[0].pictures[0].shape
    print(f"Calibrating with {len(pairs)} pairs of {width}x{height}", flush=True)
    try:
        outcome = Outcome(pairs, board, (width, height), arguments.fisheye, arguments.rational, arguments.alpha)
    except cv2.error as error:
        sys.exit(f"OpenCV cannot calibrate with these pictures ({error.err}). Take new pictures, with the board tilted in different directions.")
    result, precision = outcome.result, Precision(outcome.result, arguments.rational)
    result.write(arguments.out)
    camerainfo.write(result, camera_infos)
    cv2.imwrite(arguments.picture, result.rectified(max(result.pairs, key=lambda pair: len(pair.numbers))))
    print(f"Writing {', '.join((arguments.out, *camera_infos))} and {arguments.picture}")
    report(outcome, precision)
    check = check_square(result, still_pairs, arguments.square) if still_pairs else None
    of_use, text = verdict(result, precision, check)
    print(text)
    of_use = of_use and ask_for_ruler(arguments.square)
    sys.exit(0 if of_use else 1)


if __name__ == "__main__":
    main()
