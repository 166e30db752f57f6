# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws the overview of a calibration: the pictures of both cameras, the areas with corners, and the tilts of the board."""
import cv2
import numpy

columns, rows = 8, 6
white, green, grey, red = (255, 255, 255), (0, 200, 0), (120, 120, 120), (0, 0, 255)


def covered_parts(pairs, side, size):
    """Returns the cells of an 8×6 grid over the frame that contain corners of any pair, for the left (0) or right (1) camera."""
    return {(int(columns * x / size[0]), int(rows * y / size[1])) for pair in pairs for x, y in pair.positions[side]}


def tilt_of(pair, size):
    """Returns the horizontal and the vertical tilt of the board, as sines. The focal length is guessed, so the size of the
    tilt is approximate; only its direction is reliable."""
    matrix = numpy.array([[size[0], 0, size[0] / 2], [0, size[0], size[1] / 2], [0, 0, 1.0]])
    _, rotation, _ = cv2.solvePnP(pair.points, pair.positions[0], matrix, None)
    normal = cv2.Rodrigues(rotation)[0][:, 2]
    return normal[:2] * (1 if normal[2] > 0 else -1)


def overview(pair, taken, wanted, hint):
    """Draws both pictures side by side, the grid cells with corners of the taken pairs in green, and a disc in which a dot
    marks the tilt of each pair."""
    height, width = pair.pictures[0].shape
    both = []
    for side in (0, 1):
        picture = cv2.cvtColor(pair.pictures[side], cv2.COLOR_GRAY2BGR)
        shade = picture.copy()
        for column, row in covered_parts(taken, side, (width, height)):
            corners = [(column + d) * width // columns for d in (0, 1)], [(row + d) * height // rows for d in (0, 1)]
            cv2.rectangle(shade, (corners[0][0], corners[1][0]), (corners[0][1], corners[1][1]), green, -1)
        picture = cv2.addWeighted(shade, 0.25, picture, 0.75, 0)
        for x, y in pair.positions[side]:
            cv2.circle(picture, (round(float(x)), round(float(y))), 3, red, -1)
        both.append(picture)
    picture = numpy.hstack(both)
    radius, center = height // 8, (width, height - height // 8 - 10)
    cv2.circle(picture, center, radius, grey, -1)
    cv2.circle(picture, center, radius // 4, white, 1)
    for one in taken:
        lean = tilt_of(one, (width, height))
        cv2.circle(picture, (round(center[0] + lean[0] * radius), round(center[1] + lean[1] * radius)), 4, green, -1)
    text = f"pair {min(len(taken) + 1, wanted)} of {wanted}: {hint}"
    for color, thickness in ((0, 0, 0), 4), (white, 1):
        cv2.putText(picture, text, (10, 30), cv2.FONT_HERSHEY_SIMPLEX, 0.8, color, thickness, cv2.LINE_AA)
    return picture


class Window:
    """Shows the overview of each pair of a stream in a window. If OpenCV was built without windows, shows nothing."""

    def __init__(self, wanted):
        self.wanted, self.works = wanted, True

    def __call__(self, pair, taken, hint):
        if not self.works:
            return
        picture = overview(pair, taken, self.wanted, hint)
        scale = min(1, 1600 / picture.shape[1])
        try:
            cv2.imshow("calibrate.py", cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA))
            cv2.waitKey(1)
        except cv2.error as error:
            self.works = False
            print(f"OpenCV cannot open a window, so the calibration continues without a preview: {error.err}")
