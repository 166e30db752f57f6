# SPDX-License-Identifier: LGPL-2.1-or-later
"""Grades a calibration, and advises how to improve it."""
import cv2
import numpy

# Largest relative errors of lengths with which a calibration is graded good or usable.
good_error, usable_error = 0.01, 0.03
# min_tilted pairs should show a tilt of min_tilt degrees or more, because focal length and distance cannot be separated without tilt.
min_tilt, min_tilted = 15, 3


def measured_squares(result, pair):
    """Triangulates the corners of the board in a pair, and returns the lengths of its squares relative to the true length."""
    ideal = [camera.undistorted(positions).T for camera, positions in zip(result.cameras, pair.positions)]
    space = cv2.triangulatePoints(numpy.eye(3, 4), numpy.hstack((result.rotation, result.translation)), *ideal)
    space = (space[:3] / space[3]).T
    lengths = numpy.linalg.norm(pair.points[:, None] - pair.points[None], axis=2)
    square = lengths[lengths > 0].min()
    ends = numpy.argwhere(numpy.triu(numpy.abs(lengths - square) < 1e-3 * square))
    return numpy.linalg.norm(space[ends[:, 0]] - space[ends[:, 1]], axis=1) / square


def wrong_cameras(result):
    """Returns a message if the cameras are exchanged, are one above the other, or are the same camera; otherwise None."""
    position = -result.rotation.T @ result.translation
    if numpy.linalg.norm(position) < 0.01 * numpy.linalg.norm(numpy.ptp(result.pairs[0].points, axis=0)):
        return "Bad: both cameras are at the same position. Name the pictures of two cameras."
    if position[0] < 0 and abs(position[0]) > abs(position[1]):
        return "Exchange the cameras: the right camera is to the left of the left camera. cudasgmstereo refuses this file."
    if abs(position[1]) > abs(position[0]):
        return "Rotate the cameras: one is above the other, and cudasgmstereo refuses this file."
    return None


def advice_for(result, precision):
    advice = []
    if precision.relative_error() > good_error:
        tilted = sum(tilt >= min_tilt for tilt in precision.tilts)
        if tilted < min_tilted:
            advice.append(f"tilt the board by 20 to 45 degrees, to all sides ({tilted} of {len(precision.tilts)} pairs show it tilted by at "
                          f"least {min_tilt} degrees)")
        else:
            advice.append(f"take more than {len(result.pairs)} pairs, with the board larger in the frame")
    elif len(result.pairs) < 10:
        advice.append(f"take more than {len(result.pairs)} pairs")
    if result.coverage() < 0.5:
        advice.append("show the board in all parts of the frame")
    if result.error > 0.5 or result.vertical_offset() > 0.5:
        advice.append("hold the board still, keep it flat, and keep both cameras in focus")
        if not result.fisheye:
            advice.append("try --fisheye or --rational if the lenses have a wide angle")
    return advice


def verdict(result, precision, check=None):
    """Returns False if the calibration is bad, and the verdict as a text. `check` is the relative length of squares in a view
    that was not used in the calibration, or None."""
    if text := wrong_cameras(result):
        return False, text
    pixels = max(result.error, result.vertical_offset())
    wrong = max(precision.relative_error(), abs(check - 1) if check else 0)
    if pixels <= 0.5 and wrong <= good_error:
        grade, meaning = "Good", "rows match to half a pixel or better, and distances to 1 %"
    elif pixels <= 1 and wrong <= usable_error:
        grade = "Usable"
        meaning = ("disparities will be missing where the texture is fine" if pixels > 0.5 else
                   f"distances may be wrong by {100 * wrong:.1f} %")
    else:
        grade = "Bad"
        meaning = ("most disparities would be wrong or missing" if pixels > 1 else
                   f"distances may be wrong by {100 * wrong:.0f} %")
    advice = advice_for(result, precision)
    return grade != "Bad", f"{grade}: {meaning}." + (f" To improve it, {'; '.join(advice)}." if advice else "")
