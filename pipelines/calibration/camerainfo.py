# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes a calibration as ROS's camera_info: one YAML file for each camera, in the format that ROS's camera_calibration writes
and camera_info_manager reads. Lengths are in metres."""
import os


def names_beside(calibration):
    """Returns the file names for the left and the right camera, in the folder of the calibration file."""
    stem = os.path.splitext(calibration)[0]
    return f"{stem}-left.yaml", f"{stem}-right.yaml"


def matrix_text(key, matrix):
    numbers = ", ".join(repr(float(number)) for number in matrix.ravel())
    return f"{key}:\n  rows: {matrix.shape[0]}\n  cols: {matrix.shape[1]}\n  data: [{numbers}]\n"


def camera_info(calibration, side):
    """Returns the text of the file for the left (0) or right (1) camera."""
    camera, projection = calibration.cameras[side], calibration.projections[side].copy()
    projection[:, 3] /= 1000  # converts millimetres to metres
    model = "equidistant" if calibration.fisheye else "rational_polynomial" if camera.distortion.size == 8 else "plumb_bob"
    return (f"image_width: {calibration.size[0]}\nimage_height: {calibration.size[1]}\ncamera_name: {('left', 'right')[side]}\n" +
            matrix_text("camera_matrix", camera.matrix) + f"distortion_model: {model}\n" +
            matrix_text("distortion_coefficients", camera.distortion.reshape(1, -1)) +
            matrix_text("rectification_matrix", calibration.rotations[side]) + matrix_text("projection_matrix", projection))


def write(calibration, names):
    for side, name in enumerate(names):
        with open(name, "w", encoding="utf-8") as file:
            file.write(camera_info(calibration, side))
