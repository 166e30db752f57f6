#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures the distances of people in front of two cameras: OpenCV's detector finds people in the left frames, and
cudasgmstereo measures how far away they are. Prints a JSON line for each frame, with positions in mm: X to the right, Y down,
Z away from the cameras. Draws the distances into the rectified left picture."""
import argparse
import collections
import json
import sys
import warnings

import argtypes
import frames
import numpy
from faces.detector import Detector, cv2
from faces.film import ending, writer
from gi.repository import Gst, GstVideo

figures = "disparity", "disparity-low", "disparity-high", "x-mm", "y-mm", "z-mm"


class People:
    """Detects people who stand or walk, with OpenCV's HOG detector (Dalal & Triggs, 2005)."""

    def __init__(self):
        self.hog = cv2.HOGDescriptor()
        self.hog.setSVMDetector(cv2.HOGDescriptor_getDefaultPeopleDetector())

    def boxes(self, picture):
        if picture.shape[0] < 128 or picture.shape[1] < 64:
            return []  # smaller than the detector's window
        return [[int(number) for number in box] for box in self.hog.detectMultiScale(picture)[0]]


class Objects:
    """Detects objects, such as faces, with a cascade of OpenCV."""

    def __init__(self, cascade):
        self.detector = Detector(cascade, 24)

    def boxes(self, picture):
        return self.detector.faces(cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY))


def with_regions(buffer, label, boxes):
    """Returns a copy of a buffer with a meta for each box, because metas can be added only to a buffer with a single owner. The
    copy shares the memory of the frame."""
    flags = Gst.BufferCopyFlags.FLAGS | Gst.BufferCopyFlags.TIMESTAMPS | Gst.BufferCopyFlags.META | Gst.BufferCopyFlags.MEMORY
    copy = buffer.copy_region(flags, 0, buffer.get_size())
    for x, y, width, height in boxes:
        GstVideo.buffer_add_video_region_of_interest_meta(copy, label, max(x, 0), max(y, 0), width, height)
    return copy


def objects_of(message):
    """Returns the objects of a message as dictionaries. Values that the element could not measure are absent."""
    array = message.get_array("objects")[1]
    with warnings.catch_warnings():
        # GValueArray is deprecated, but PyGObject offers no other access to arrays.
        warnings.simplefilter("ignore")
        objects = [array.get_nth(number) for number in range(array.n_values)]
    return [{"label": one.get_string("label"), "known": round(one.get_value("known"), 3),
             **{name: one.get_value(f"map-{name}") for name in ("x", "y", "width", "height")},
             **{name: round(one.get_value(name), 2) for name in figures if one.has_field(name)}} for one in objects]


def draw(picture, objects):
    for one in objects:
        x, y = one["x"], one["y"]
        cv2.rectangle(picture, (x, y), (x + one["width"], y + one["height"]), (255, 255, 0), 2)
        text = f"{one['z-mm'] / 1000:.2f} m" if "z-mm" in one else "?"
        cv2.putText(picture, text, (x + 4, y + 20), cv2.FONT_HERSHEY_SIMPLEX, 0.6, (255, 255, 0), 2)


def push_picture(appsrc, sample, picture):
    """Pushes a picture, with the caps and the timestamps of a sample."""
    height, width, _ = picture.shape
    rows = numpy.zeros((height, (3 * width + 3) // 4 * 4), "u1")
    rows[:, :3 * width] = picture.reshape(height, -1)
    buffer, model = Gst.Buffer.new_wrapped(rows.tobytes()), sample.get_buffer()
    buffer.pts, buffer.duration = model.pts, model.duration
    appsrc.set_property("caps", sample.get_caps())
    appsrc.emit("push-buffer", buffer)


class Measurement:
    """Passes left frames through a detector to cudasgmstereo, and collects the results."""

    def __init__(self, player, detector, label):
        self.player, self.detector, self.label = player, detector, label
        self.left, self.detected, self.sink = (player[name] for name in ("left", "detected", "sink"))
        self.messages, self.results = player.messages(0), collections.deque()
        self.fed = False

    def feed(self):
        sample = self.left.emit("try-pull-sample", 0)
        if sample:
            self.detected.set_property("caps", sample.get_caps())
            boxes = self.detector.boxes(numpy.ascontiguousarray(frames.array_of(sample)))
            self.detected.emit("push-buffer", with_regions(sample.get_buffer(), self.label, boxes))
        elif self.left.get_property("eos") and not self.fed:
            self.fed = True
            self.detected.emit("end-of-stream")

    def poll(self):
        for message in self.messages:
            if message is None:
                return
            if message.get_name() == "detections":
                self.results.append(message)

    def frames(self):
        """Yields for each frame the sample of the rectified left picture, the time in seconds, and the objects."""
        while not self.player.ended:
            self.feed()
            sample = self.sink.emit("try-pull-sample", Gst.SECOND // 50)
            # The message of a frame is posted before the frame is pushed.
            self.poll()
            if sample:
                message = self.results.popleft()
                yield sample, message.get_value("running-time") / Gst.SECOND, objects_of(message)
            elif self.sink.get_property("eos") and self.player["drawn"]:
                self.player["drawn"].emit("end-of-stream")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("left", help="video, picture, camera or URI of the left camera")
    parser.add_argument("right", help="video, picture, camera or URI of the right camera")
    parser.add_argument("out", nargs="?", metavar="OUT", help="a video (.mkv or .mp4), or a picture of the last frame (.png)")
    parser.add_argument("--focal-length", type=argtypes.number_in(kind=float), help="focal length of the cameras, in pixels of these frames")
    parser.add_argument("--baseline", type=argtypes.number_in(kind=float), help="the distance between the cameras, in mm")
    parser.add_argument("--calibration", metavar="FILE", help="calibration of the cameras by calibrate.py, instead of --focal-length and --baseline")
    parser.add_argument("--cascade", metavar="FILE", help="detect objects with this cascade of OpenCV instead of people: a file, or the name of a file of "
                        "opencv-data, such as haarcascade_frontalface_alt2.xml")
    parser.add_argument("--label", default="person", help="label of the detections (default: %(default)s)")
    parser.add_argument("--property", action="append", default=[], metavar="NAME=VALUE", help="another property of cudasgmstereo (can be repeated)")
    arguments = parser.parse_args()
    if arguments.out and ending(arguments.out) not in ("mkv", "mp4", "png"):
        parser.error(f'"{arguments.out}" has an unsupported extension: use .mkv, .mp4 or .png')
    cameras = [f"{name}={value}" for name, value in (("focal-length", arguments.focal_length), ("baseline", arguments.baseline),
                                                     ("calibration", arguments.calibration)) if value is not None]
    if not arguments.calibration and len(cameras) < 2:
        parser.error("set --focal-length and --baseline, or --calibration")
    return arguments, [*cameras, *arguments.property]


def main():
    arguments, properties = parse_arguments()
    left, right, out = frames.readable(arguments.left), frames.readable(arguments.right), arguments.out or ""
    if out:
        frames.check_output(out, left, right)
    detector = Objects(arguments.cascade) if arguments.cascade else People()
    drawn = ""
    if out and not out.endswith(".png"):
        drawn = f"appsrc name=drawn format=time ! queue ! videoconvert ! {writer(out, 2000000)} async=false"
    elif not out and frames.display_set():
        drawn = "appsrc name=drawn format=time ! queue ! videoconvert ! autovideosink sync=false"
    # async=false: sinks do not wait for preroll, because this program pushes the first frames to the later sinks only when the
    # pipeline plays.
    with frames.Player(" ".join((
            "cudasgmstereo name=stereo detections=true", *properties,
            f"{frames.source_of(left)} ! videoconvert ! video/x-raw,format=RGB ! appsink name=left sync=false async=false max-buffers=2",
            f"{frames.source_of(right)} ! stereo.sink_right  appsrc name=detected format=time ! queue ! stereo.sink_left",
            "stereo.rectified ! queue ! videoconvert ! video/x-raw,format=RGB ! appsink name=sink sync=false async=false", drawn))) as player:
        picture = None
        for sample, time, objects in Measurement(player, detector, arguments.label).frames():
            print(json.dumps({"time": round(time, 3), "objects": objects}), flush=True)
            if out or player["drawn"]:
                picture = frames.array_of(sample).copy()
                draw(picture, objects)
            if player["drawn"]:
                push_picture(player["drawn"], sample, picture)
    if out.endswith(".png") and picture is not None:
        cv2.imwrite(out, cv2.cvtColor(picture, cv2.COLOR_RGB2BGR))
    sys.exit(player.wrong)


if __name__ == "__main__":
    main()
