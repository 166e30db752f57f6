#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""boards.py FOLDER chessboard|charuco pinhole|fisheye [VIEWS [TILT]]: paints two cameras' views of a board, as
leftNN.png, rightNN.png and bothNN.png. The cameras are 100 mm apart; their matrices and distortions are below. The
board is tilted by up to 0.45 radians, or TILT, about each axis.

boards.py FOLDER chessboard|charuco pinhole film [STILL]: paints the frames of a video at 30 frames per second, in which
the board moves from pose to pose and rests for STILL frames in each (default: 8)."""
import pathlib
import sys

import cv2
import numpy

width, height, square, views = 640, 480, 30, 12
turn = numpy.array([0.01, -0.03, 0.02])
position = numpy.array([100.0, 1.0, -2.0])
matrices = [numpy.array([[f, 0, x], [0, f, y], [0, 0, 1.0]]) for f, x, y in ((500, 325, 236), (505, 316, 243))]
distortions = {"pinhole": ([-0.2, 0.05, 0.0005, -0.0004, 0], [-0.19, 0.04, -0.0003, 0.0006, 0]),
               "fisheye": ([-0.02, 0.01, -0.004, 0.0005], [-0.018, 0.009, -0.003, 0.0004])}


def texture_of(kind):
    """Paints the board: 9x7 squares of 120 pixels, and a white margin of one square."""
    if kind == "charuco":
        if hasattr(cv2.aruco, "CharucoDetector"):
            dictionary = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_5X5_100)
            board = cv2.aruco.CharucoBoard((9, 7), square, 0.75 * square, dictionary).generateImage((1080, 840))
        else:
            dictionary = cv2.aruco.Dictionary_get(cv2.aruco.DICT_5X5_100)
            board = cv2.aruco.CharucoBoard_create(9, 7, square, 0.75 * square, dictionary).draw((1080, 840))
    else:
        board = numpy.kron(255 * (numpy.indices((7, 9)).sum(axis=0) % 2), numpy.ones((120, 120))).astype("uint8")
    return cv2.copyMakeBorder(board, 120, 120, 120, 120, cv2.BORDER_CONSTANT, value=255)


def directions(model, side):
    """Returns the viewing directions of 2x2 points in each pixel, as (x, y) at depth 1."""
    grid = (numpy.mgrid[:2 * height, :2 * width][::-1].reshape(2, -1).T - 0.5) / 2
    undistort = cv2.fisheye.undistortPoints if model == "fisheye" else cv2.undistortPoints
    return undistort(grid.reshape(-1, 1, 2).astype("float64"), matrices[side], numpy.array(distortions[model][side])).reshape(-1, 2)


def seen(texture, rays, rotation, translation):
    """Renders a camera's view of a board. A point p of the board is at rotation·p + translation."""
    # Rays intersect the plane of the board, whose third coordinate is 0.
    homography = numpy.linalg.inv(numpy.column_stack((rotation[:, 0], rotation[:, 1], translation)))
    places = numpy.column_stack((rays, numpy.ones(len(rays)))) @ homography.T
    places = 120 * (places[:, :2] / places[:, 2:] / square + 1) - 0.5
    places = places.astype("float32").reshape(2 * height, 2 * width, 2)
    picture = cv2.remap(texture, places, None, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT, borderValue=90)
    return cv2.resize(picture, (width, height), interpolation=cv2.INTER_AREA)


class Scene:
    def __init__(self, kind, model, tilt):
        self.random = numpy.random.RandomState(1)
        self.tilt, self.texture, self.whole = tilt, texture_of(kind), kind == "chessboard"
        self.rays = [directions(model, side) for side in (0, 1)]
        self.between = cv2.Rodrigues(turn)[0]

    def place(self, number):
        """Returns a random pose of the board: its rotation, and the position of its centre."""
        angles = self.random.uniform(-self.tilt, self.tilt, 3)
        column, row = number % 4, number // 4 % 3
        # Both cameras must see the whole chessboard.
        if self.whole:
            return numpy.array([*angles, -62 + 75 * column, -60 + 60 * row, self.random.uniform(480, 640)])
        return numpy.array([*angles, -95 + 85 * column, -60 + 60 * row, self.random.uniform(420, 600)])

    def pictures(self, place):
        """Returns both cameras' views of the board in this pose."""
        rotation = cv2.Rodrigues(place[:3])[0]
        translation = place[3:] - rotation @ numpy.array([4.5 * square, 3.5 * square, 0])
        left = seen(self.texture, self.rays[0], rotation, translation)
        return left, seen(self.texture, self.rays[1], self.between @ rotation, self.between @ (translation - position))


def main():
    folder, kind, model = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    film = sys.argv[4:5] == ["film"]
    scene = Scene(kind, model, float(sys.argv[5]) if len(sys.argv) > 5 and not film else 0.45)
    if film:
        still, moving = int(sys.argv[5]) if len(sys.argv) > 5 else 8, 3
        places = [scene.place(number) for number in range(8)]
        painted = []
        for here, there in zip(places, places[1:] + places[:1]):
            painted += [scene.pictures(here)] * still
            painted += [scene.pictures(here + (there - here) * step / (moving + 1)) for step in range(1, moving + 1)]
    else:
        painted = [scene.pictures(scene.place(number)) for number in range(int(sys.argv[4]) if len(sys.argv) > 4 else views)]
    for number, (left, right) in enumerate(painted):
        for name, picture in (("left", left), ("right", right), ("both", numpy.hstack((left, right)))):
            cv2.imwrite(str(folder / f"{name}{number:02}.png"), picture)


if __name__ == "__main__":
    main()
