# SPDX-License-Identifier: LGPL-2.1-or-later
"""Estimates the errors of the focal lengths and the baseline of a calibration, and the tilts of the board.

The errors of the corners are propagated to the parameters by the Jacobian of all corners with respect to all parameters,
including the poses of the board. If the board bends or moves, the errors of the corners of one pair are correlated. Therefore
the errors are also estimated from the spread between pairs, and the larger estimate is used."""
import cv2
import numpy

# Half-width of a 95 % confidence interval in standard errors: above 1.96, because the errors are estimated from few pairs.
coverage_factor = 2.2


def project(fisheye, points, rotation, translation, matrix, distortion):
    if fisheye:
        return cv2.fisheye.projectPoints(points.reshape(1, -1, 3).astype("float64"), rotation, translation, matrix, distortion)[0].reshape(-1, 2)
    return cv2.projectPoints(points.astype("float64"), rotation, translation, matrix, distortion)[0].reshape(-1, 2)


class Model:
    """The parameters of both cameras as one vector: fx, fy, cx, cy and the distortion coefficients of the left and the right camera,
    then the rotation and the translation from the left to the right camera."""

    def __init__(self, result, rational):
        self.fisheye = result.fisheye
        # Without --rational, the third radial coefficient is fixed at 0, so it is not a parameter.
        self.coefficients = 4 if self.fisheye or not rational else 8
        cameras = [[camera.matrix[0, 0], camera.matrix[1, 1], camera.matrix[0, 2], camera.matrix[1, 2], *camera.distortion.ravel()[:self.coefficients]]
                   for camera in result.cameras]
        self.values = numpy.array([*cameras[0], *cameras[1], *cv2.Rodrigues(result.rotation)[0].ravel(), *result.translation.ravel()])
        self.count = 4 + self.coefficients

    def projected(self, values, pose, points):
        """Projects the points of a board into both pictures; returns all coordinates in one vector."""
        both = []
        rotation, translation = pose[:3], pose[3:]
        for side in (0, 1):
            fx, fy, cx, cy, *distortion = values[side * self.count:(side + 1) * self.count]
            if side == 1:
                rotation, translation = (part.ravel() for part in cv2.composeRT(rotation, translation, values[-6:-3], values[-3:])[:2])
            both.append(project(self.fisheye, points, rotation, translation, numpy.array([[fx, 0, cx], [0, fy, cy], [0, 0, 1]]), numpy.array(distortion)))
        return numpy.concatenate(both).ravel()


def derivatives(function, at):
    steps = 1e-5 * numpy.maximum(1, numpy.abs(at))
    columns = []
    for number, step in enumerate(steps):
        ahead, back = at.copy(), at.copy()
        ahead[number] += step
        back[number] -= step
        columns.append((function(ahead) - function(back)) / (2 * step))
    return numpy.column_stack(columns)


def board_pose(result, pair):
    _, rotation, translation = cv2.solvePnP(pair.points, result.cameras[0].undistorted(pair.positions[0]), numpy.eye(3), None)
    return numpy.concatenate((rotation, translation)).ravel()


class Precision:
    """95 % confidence intervals of the focal lengths and the baseline, and the tilt of the board in each pair, in degrees."""

    def __init__(self, result, rational):
        model = Model(result, rational)
        size = len(model.values)
        information, spread, squares, count = numpy.zeros((size, size)), numpy.zeros((size, size)), 0.0, 0
        self.tilts = []
        for pair in result.pairs:
            seen = numpy.concatenate(pair.positions).astype("float64").ravel()
            pose = board_pose(result, pair)
            # Refines the pose of the board by Gauss-Newton steps, so that it fits both pictures best.
            for _ in range(3):
                by_pose = derivatives(lambda one: model.projected(model.values, one, pair.points), pose)
                rest = seen - model.projected(model.values, pose, pair.points)
                pose = pose + numpy.linalg.lstsq(by_pose, rest, rcond=None)[0]
            by_pose = derivatives(lambda one: model.projected(model.values, one, pair.points), pose)
            rest = seen - model.projected(model.values, pose, pair.points)
            by_model = derivatives(lambda one: model.projected(one, pose, pair.points), model.values)
            # Removes the part of the derivatives that a change of the pose explains, because the pose of the board is estimated, too.
            base = numpy.linalg.qr(by_pose)[0]
            by_model = by_model - base @ (base.T @ by_model)
            slope = by_model.T @ rest
            information += by_model.T @ by_model
            spread += numpy.outer(slope, slope)
            squares += rest @ rest
            count += len(rest) - 6
            normal = cv2.Rodrigues(pose[:3])[0][:, 2]
            self.tilts.append(numpy.degrees(numpy.arccos(min(1, abs(normal[2])))))
        scale = numpy.sqrt(numpy.diag(information))
        inverse = numpy.linalg.pinv(information / numpy.outer(scale, scale), rcond=1e-14, hermitian=True) / numpy.outer(scale, scale)
        pairs = len(result.pairs)
        by_corners = squares / max(1, count - size) * inverse
        by_pairs = inverse @ spread @ inverse * pairs / (pairs - 1)
        focal = [numpy.zeros(size), numpy.zeros(size), numpy.zeros(size)]
        for side in (0, 1):
            focal[side][side * model.count:side * model.count + 2] = 0.5
        focal[2][-3:] = model.values[-3:] / numpy.linalg.norm(model.values[-3:])
        errors = [coverage_factor * numpy.sqrt(max(one @ by_corners @ one, one @ by_pairs @ one)) for one in focal]
        self.focal_lengths = [model.values[:2].mean(), model.values[model.count:model.count + 2].mean()]
        self.focal_length_errors, self.baseline, self.baseline_error = errors[:2], numpy.linalg.norm(model.values[-3:]), errors[2]

    def relative_error(self):
        """Returns the largest relative error of the baseline and the focal lengths."""
        return max(self.baseline_error / self.baseline, *(error / value for error, value in zip(self.focal_length_errors, self.focal_lengths)))
