# SPDX-License-Identifier: LGPL-2.1-or-later
"""Computes the calibration: the intrinsics of both cameras and their relative pose. Drops pairs that contradict the others."""
import cv2
import numpy
from calibration.preview import columns, covered_parts, rows


class Camera:
    """The camera matrix and the distortion coefficients of one camera, estimated from the given pairs."""

    def __init__(self, pairs, side, size, fisheye, rational):
        points, positions = [pair.points for pair in pairs], [pair.positions[side] for pair in pairs]
        self.fisheye = fisheye
        if fisheye:
            flags = cv2.fisheye.CALIB_RECOMPUTE_EXTRINSIC | cv2.fisheye.CALIB_FIX_SKEW
            error, self.matrix, self.distortion, _, _ = cv2.fisheye.calibrate(
                [one.reshape(1, -1, 3).astype("float64") for one in points],
                [one.reshape(1, -1, 2).astype("float64") for one in positions], size, None, None, flags=flags)
        else:
            # Without --rational, the third radial coefficient is fixed at 0, because it would overfit noise.
            flags = cv2.CALIB_RATIONAL_MODEL if rational else cv2.CALIB_FIX_K3
            error, self.matrix, self.distortion, _, _ = cv2.calibrateCamera(points, positions, size, None, None, flags=flags)
            self.distortion = self.distortion.ravel()[:8 if rational else 5]
        self.error = error

    def undistorted(self, positions, rotation=None, projection=None):
        positions = positions.reshape(-1, 1, 2).astype("float64")
        undistort = cv2.fisheye.undistortPoints if self.fisheye else cv2.undistortPoints
        return undistort(positions, self.matrix, self.distortion, R=rotation, P=projection).reshape(-1, 2)


class StereoCalibration:
    def __init__(self, pairs, size, fisheye, rational, alpha):
        self.pairs, self.size, self.fisheye = pairs, size, fisheye
        self.cameras = [Camera(pairs, side, size, fisheye, rational) for side in (0, 1)]
        left, right = self.cameras
        points = [pair.points for pair in pairs]
        criteria = cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, 100, 1e-6
        if fisheye:
            # Computes the relative pose from undistorted points, as ideal pinhole cameras would see them.
            ideal = numpy.diag((left.matrix[0, 0], left.matrix[0, 0], 1))
            positions = [[camera.undistorted(pair.positions[side], None, ideal).astype("float32") for pair in pairs]
                      for side, camera in enumerate(self.cameras)]
            nothing = numpy.zeros(5)
            result = cv2.stereoCalibrateExtended(points, *positions, ideal, nothing, ideal, nothing, size, None, None,
                                                 flags=cv2.CALIB_FIX_INTRINSIC, criteria=criteria)
        else:
            positions = [[pair.positions[side] for pair in pairs] for side in (0, 1)]
            flags = cv2.CALIB_USE_INTRINSIC_GUESS | (cv2.CALIB_RATIONAL_MODEL if rational else cv2.CALIB_FIX_K3)
            result = cv2.stereoCalibrateExtended(points, *positions, left.matrix, left.distortion, right.matrix, right.distortion,
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
        """Returns the mean vertical distance, in pixels, between the same corner in both rectified pictures."""
        rows = [numpy.concatenate([camera.undistorted(pair.positions[side], self.rotations[side], self.projections[side])[:, 1]
                                   for pair in self.pairs]) for side, camera in enumerate(self.cameras)]
        return numpy.abs(rows[0] - rows[1]).mean()

    def coverage(self):
        """Returns the share of the cells of an 8×6 grid over the frame that contain corners, for the camera with the smaller share."""
        return min(len(covered_parts(self.pairs, side, self.size)) for side in (0, 1)) / (columns * rows)

    def rectified(self, pair):
        """Returns both rectified pictures side by side, with horizontal lines. A point of the scene must have the same distance
        from a line in both pictures."""
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


min_pairs = 5
# A pair is an outlier if its error exceeds both this multiple of the median and this number of pixels.
outlier_factor, outlier_pixels = 3, 0.5


class RelativePoses:
    """Estimates the pose of the right camera relative to the left camera from single pairs. Pairs with wrong
    pictures have different poses. Needs the separate calibrations of both cameras."""

    def __init__(self, cameras):
        self.cameras = cameras

    def board_pose(self, side, points, positions):
        _, rotation, translation = cv2.solvePnP(points, self.cameras[side].undistorted(positions), numpy.eye(3), None)
        return cv2.Rodrigues(rotation)[0], translation

    def of(self, points, positions):
        (left_rotation, left_translation), (right_rotation, right_translation) = (self.board_pose(side, points, positions[side]) for side in (0, 1))
        rotation = right_rotation @ left_rotation.T
        return rotation, right_translation - rotation @ left_translation

    def error(self, pose, points, positions):
        """Returns the RMS distance in pixels between the corners of the right picture and their prediction from the left
        picture and the relative pose; infinity if the prediction is behind the camera."""
        (rotation, translation), (board_rotation, board_translation) = pose, self.board_pose(0, points, positions[0])
        seen = self.cameras[1].undistorted(positions[1])
        ahead = (points @ board_rotation.T + board_translation.T) @ rotation.T + translation.T
        if (ahead[:, 2] <= 0).any():
            return numpy.inf
        differences = (ahead[:, :2] / ahead[:, 2:] - seen) * self.cameras[1].matrix[0, 0]
        return numpy.sqrt((differences ** 2).sum(axis=1).mean())

    def consensus(self, pairs):
        """Returns the relative pose with the smallest median error over all pairs, and the error of each pair with this pose."""
        poses = [self.of(pair.points, pair.positions) for pair in pairs]
        errors = [[self.error(pose, pair.points, pair.positions) for pair in pairs] for pose in poses]
        best = min(range(len(pairs)), key=lambda one: numpy.median(errors[one]))
        return poses[best], numpy.array(errors[best])


def outliers(errors, factor, pixels):
    return errors > max(factor * numpy.median(errors), pixels)


class Outcome:
    """The calibration from all pairs except outliers, but at least min_pairs; the error of each pair; and the dropped outliers."""

    def __init__(self, pairs, board, size, fisheye, rational, alpha):
        arguments = size, fisheye, rational, alpha
        self.errors, self.dropped = {}, []
        # Pairs with exchanged pictures would distort the calibration. Their relative poses differ strongly from the consensus.
        poses = RelativePoses([Camera(pairs, side, size, fisheye, rational) for side in (0, 1)])
        pose, errors = poses.consensus(pairs)
        far_off = outliers(errors, 10, 10)
        kept = [pair for pair, off in zip(pairs, far_off) if not off]
        for pair, error in zip(pairs, errors):
            self.errors[pair] = error
        while True:
            if len(kept) < min_pairs:
                kept = list(pairs)
            self.result = StereoCalibration(kept, *arguments)
            self.errors.update(zip(kept, self.result.errors))
            worst = numpy.argmax(self.result.errors)
            if len(kept) <= min_pairs or not outliers(self.result.errors, outlier_factor, outlier_pixels)[worst]:
                break
            kept.pop(worst)
        self.pairs = pairs
        self.dropped = [pair for pair in pairs if pair not in kept]
        self.exchanged = self.explain(board, poses, pose)

    def explain(self, board, poses, pose):
        """Returns texts that describe which pictures were probably exchanged: after the exchange, dropped pairs would fit."""
        def fits(left, right):
            right = board.aligned(left, right)
            numbers = sorted(set(left) & set(right))
            if len(numbers) < 8:
                return False
            positions = [numpy.array([one[number] for number in numbers], "float32") for one in (left, right)]
            return poses.error(pose, board.points[numbers], positions) < max(3 * numpy.median(self.result.errors), 3)

        number_of = {pair: number for number, pair in enumerate(self.pairs, 1)}
        found = [f"the left and the right picture of pair {number_of[pair]}" for pair in self.dropped if fits(*reversed(pair.corners))]
        found += [f"the right pictures of pairs {number_of[one]} and {number_of[other]}"
                  for at, one in enumerate(self.dropped) for other in self.dropped[at + 1:]
                  if fits(one.corners[0], other.corners[1]) and fits(other.corners[0], one.corners[1])]
        return found
