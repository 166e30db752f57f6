# SPDX-License-Identifier: LGPL-2.1-or-later
"""Calibration boards, and the detection of their corners in pairs of pictures."""
import cv2
import numpy


class Chessboard:
    def __init__(self, columns, rows, square):
        self.size = columns, rows
        grid = numpy.mgrid[:columns, :rows].T.reshape(-1, 2)
        self.points = numpy.column_stack((square * grid, numpy.zeros(len(grid)))).astype("float32")

    def find(self, gray):
        """Returns a dictionary from the number of each corner to its pixel position; empty unless all corners are found."""
        found, corners = cv2.findChessboardCorners(gray, self.size, None, cv2.CALIB_CB_ADAPTIVE_THRESH |
                                                   cv2.CALIB_CB_NORMALIZE_IMAGE | cv2.CALIB_CB_FAST_CHECK)
        if not found:
            return {}
        corners = cv2.cornerSubPix(gray, corners, (5, 5), (-1, -1), (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, 50, 1e-3))
        return dict(enumerate(corners.reshape(-1, 2)))

    def aligned(self, left, right):
        """Returns the corners of the right picture. Reverses their numbers if the detector has numbered them from the
        other end of the board than in the left picture."""
        last = len(self.points) - 1
        if left and right and numpy.dot(left[last] - left[0], right[last] - right[0]) < 0:
            return {last - number: corner for number, corner in right.items()}
        return right


class Charuco:
    def __init__(self, columns, rows, square, marker, dictionary):
        # OpenCV 4.7 replaced these functions.
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
        """Returns a dictionary from the number of each visible corner to its pixel position."""
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
    """A pair of pictures: the points of the board that both cameras see, and their pixel positions in both pictures."""

    def __init__(self, name, board, left, right):
        self.name, self.pictures = name, (left, right)
        self.set_corners(board, *(board.find(picture) for picture in (left, right)))

    def set_corners(self, board, left, right):
        """Sets the corners, as returned by find()."""
        self.corners = left, board.aligned(left, right)
        self.numbers = sorted(set(self.corners[0]) & set(self.corners[1]))
        self.points = board.points[self.numbers]
        self.positions = [numpy.array([one[number] for number in self.numbers], "float32").reshape(-1, 2) for one in self.corners]

    def usable(self):
        return len(self.numbers) >= 8

    def distance(self, other):
        """Returns the mean distance in pixels between the corners of two pairs: the larger of the means of the left and the
        right picture, or infinity if the pairs have fewer than 8 common corners."""
        common = sorted(set(self.numbers) & set(other.numbers))
        if len(common) < 8:
            return numpy.inf
        return max(numpy.linalg.norm([mine[number] - theirs[number] for number in common], axis=1).mean()
                   for mine, theirs in zip(self.corners, other.corners))

    def moved_from(self, other):
        """Returns True if the position or the size of the board in the left pictures differs by more than 1/12 of their width."""
        centers = [pair.positions[0].mean(axis=0) for pair in (self, other)]
        sizes = [numpy.ptp(pair.positions[0], axis=0) for pair in (self, other)]
        far = self.pictures[0].shape[1] / 12
        return numpy.linalg.norm(centers[0] - centers[1]) > far or numpy.abs(sizes[0] - sizes[1]).max() > far
