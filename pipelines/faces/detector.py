# SPDX-License-Identifier: LGPL-2.1-or-later
"""Detects faces with a cascade of OpenCV, and scene cuts."""
import os
import shlex
import sys

import numpy

try:
    import cv2
except ImportError as error:
    sys.exit(f"{error}. Run this, and start this program with the system's Python:\n  sudo apt-get install python3-opencv\n"
             f"  /usr/bin/python3 {shlex.join(sys.argv)}")

cascades = "/usr/share/opencv4/haarcascades/"


class Detector:
    def __init__(self, cascade, smallest):
        cascade = cascade if os.path.exists(cascade) else cascades + cascade
        if os.path.isdir(cascade):
            sys.exit(f"{cascade}: this is a folder; name a file")
        if not os.path.isfile(cascade):
            sys.exit(f"{cascade}: there is no such file. If it belongs to OpenCV, run: sudo apt-get install opencv-data; otherwise correct --cascade")
        self.classifier = cv2.CascadeClassifier()
        try:
            loaded = self.classifier.load(cascade)
        except (cv2.error, SystemError):
            loaded = False
        if not loaded:
            sys.exit(f"{cascade}: this is not a cascade of OpenCV; Debian's package opencv-data has cascades")
        self.smallest, self.thumbnail = (smallest, smallest), None

    def faces(self, gray):
        """Returns the faces of a frame as (x, y, width, height)."""
        return [tuple(int(number) for number in face)
                for face in self.classifier.detectMultiScale(gray, 1.1, 4, minSize=self.smallest)]

    def cut(self, gray):
        """Returns True if the frame shows another scene than the previous frame. Correlates thumbnails of both frames, because
        the correlation ignores changes of brightness; within a scene, it is usually above 0.95. A frame without contrast and the
        next frame continue the scene."""
        before, self.thumbnail = self.thumbnail, cv2.resize(gray, (32, 18), interpolation=cv2.INTER_AREA).astype(float).ravel()
        if before is None or not before.std() or not self.thumbnail.std():
            return False
        return numpy.corrcoef(before, self.thumbnail)[0, 1] < 0.5
