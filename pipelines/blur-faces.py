#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Blurs the faces that OpenCV's detector finds. It looks at each frame just before cudagaussblur takes it, so that the
regions are those of this very frame. A film that stands on its side is turned first, and its sound goes along."""
import argparse
import os
import sys

import frames
import numpy
from gi.repository import Gst, GstVideo

try:
    import cv2
except ImportError as error:
    sys.exit(f"{error}. Install it: sudo apt-get install python3-opencv\nIt is for the system's Python:\n"
             f"  /usr/bin/python3 {' '.join(sys.argv)}")

cascades = "/usr/share/opencv4/haarcascades/"
# A rectangle without pixels: the detector has looked, and there is no face.
nobody = "0,0,0,0"


class Faces:
    """The faces of a film, frame by frame. A face that the detector loses stays where it was for a while, unless another
    one is found there; for a frame with no face at all, region-persistence would do the same."""

    def __init__(self, cascade, smallest, persistence):
        self.detector = cv2.CascadeClassifier()
        try:
            loaded = self.detector.load(cascade)
        except (cv2.error, SystemError):
            loaded = False
        if not loaded:
            sys.exit(f"{cascade}: this is not a cascade of OpenCV; Debian's package opencv-data has some")
        self.smallest, self.persistence = smallest, persistence
        self.seen = []  # faces and when they were seen, in ns

    def of_frame(self, gray, time):
        found = [grown(face) for face in self.detector.detectMultiScale(gray, 1.1, 4, minSize=(self.smallest, self.smallest))]
        kept = [(face, when) for face, when in self.seen
                if 0 <= time - when <= self.persistence and not any(overlap(face, one) for one in found)]
        self.seen = kept + [(face, time) for face in found]
        return [face for face, _ in self.seen]


def grown(face):
    """The detector cuts close: hair, ears and chin are outside."""
    x, y, width, height = (int(number) for number in face)
    return x - width // 4, y - height // 4, width + width // 2, height + height // 2


def overlap(one, other):
    return all(one[i] < other[i] + other[i + 2] and other[i] < one[i] + one[i + 2] for i in (0, 1))


def luminance(buffer, caps):
    """The Y plane of a frame, as a numpy array of its rows."""
    info = GstVideo.VideoInfo.new_from_caps(caps)
    meta = GstVideo.buffer_get_video_meta(buffer)
    pitch, offset = (meta.stride[0], meta.offset[0]) if meta else (info.stride[0], info.offset[0])
    data = buffer.extract_dup(offset, pitch * (info.height - 1) + info.width)
    return numpy.ndarray((info.height, info.width), "u1", data, strides=(pitch, 1))


def follow(blur, faces):
    """Sets `regions` for each frame in the thread that brings it, before the element takes it. The element reads its
    properties when it takes a frame, so no other frame gets these regions, however many are in flight or wait in
    queues. A probe in Python cannot add metas to the frame: PyGObject holds the buffer as well, and a buffer with two
    owners is not writable (buffer_add_video_region_of_interest_meta() then crashes)."""
    def probe(pad, info):
        # An exception would end here and the frame would pass with the regions of the one before.
        try:
            buffer = info.get_buffer()
            found = faces.of_frame(luminance(buffer, pad.get_current_caps()), buffer.pts)
            blur.set_property("regions", ";".join("%d,%d,%d,%d" % face for face in found) or nobody)
            return Gst.PadProbeReturn.OK
        except Exception as error:
            blur.message_full(Gst.MessageType.ERROR, Gst.StreamError.quark(), Gst.StreamError.FAILED,
                              f"No faces can be looked for: {error}", None, "", "", 0)
            return Gst.PadProbeReturn.DROP

    blur.get_static_pad("sink").add_probe(Gst.PadProbeType.BUFFER, probe)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("input", nargs="?", default="/dev/video0", help="a film, a camera or a URI, such as rtsp://… (default: /dev/video0)")
    parser.add_argument("out", nargs="?", metavar="OUT.mkv", help="default without a display: faces.mkv")
    parser.add_argument("--cascade", default="haarcascade_frontalface_alt2.xml", metavar="FILE",
                        help="what to look for, a file or the name of one of opencv-data (default: %(default)s)")
    parser.add_argument("--smallest", type=int, default=24, metavar="PIXELS", help="width of the smallest face (default: %(default)s)")
    parser.add_argument("--persistence", type=float, default=1, metavar="SECONDS",
                        help="how long a face stays blurred that the detector has lost (default: %(default)g)")
    parser.add_argument("--missing", choices=("pass", "all"), default="pass",
                        help="what happens to frames without any face: they pass, or are blurred as a whole (default: pass)")
    parser.add_argument("--property", action="append", default=["sigma=15", "region-shape=ellipse", "region-feather=8"],
                        metavar="NAME=VALUE", help="a property of cudagaussblur; sigma should be an eighth of a face's width")
    arguments = parser.parse_args()
    out = arguments.out or ("" if frames.display_set() else "faces.mkv")
    if out and not out.endswith(".mkv"):
        parser.error(f'"{out}" would not be what its name says: let it end in .mkv')
    if arguments.smallest < 1 or not 0 <= arguments.persistence <= 86400:
        parser.error("--smallest is at least 1, --persistence from 0 to 86400")
    cascade = arguments.cascade if os.path.exists(arguments.cascade) else cascades + arguments.cascade
    if not os.path.isfile(cascade):
        sys.exit(f"{cascade}: there is no such file. Install it: sudo apt-get install opencv-data")
    frames.readable(arguments.input)
    if out:
        frames.check_output(out, arguments.input)
    faces = Faces(cascade, arguments.smallest, int(arguments.persistence * Gst.SECOND))
    sink = f'vp8enc deadline=1 target-bitrate=2000000 ! matroskamux name=mux ! filesink location={frames.quoted(out)}' if out else "autovideosink"
    player = frames.Player(f"{frames.film_of(arguments.input)} film. ! video/x-raw ! videoconvert ! queue ! videoflip video-direction=auto "
                           "! videoconvert ! video/x-raw,format=(string){I420,NV12} "
                           f"! cudagaussblur name=blur regions={nobody} regions-missing={arguments.missing} "
                           f"{' '.join(arguments.property)} ! queue ! videoconvert ! {sink}")
    follow(player["blur"], faces)
    if out:
        frames.keep_sound(player["film"], player["mux"])
        print(f"Writing {out}", flush=True)
    with player:
        player.to_the_end()


if __name__ == "__main__":
    main()
