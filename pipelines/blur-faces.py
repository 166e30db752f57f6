#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Blurs the faces that OpenCV's detector finds, so strongly that the largest face of a frame cannot be recognised. Files are
read twice. The first pass looks for faces, so that a face is also covered before it is first detected and while the detector
misses it. Videos are rotated by their orientation tag and keep their sound. At the end, the script lists the times without a
face and the times at which a face was lost: check the result there. If no face was found, the exit status is 1."""
import argparse
import itertools
import math
import os
import sys

import argtypes
import frames
from faces.detector import Detector
from faces.film import ending, film_of, filter_tags, keep_sound, writer
from faces.tracks import Tracks, margin
import numpy
from gi.repository import Gst, GstVideo

# An empty rectangle, for frames in which the detector has found no face.
nobody = "0,0,0,0"
# Settings with which frames pass unchanged.
idle = {"regions": nobody, "regions-missing": "pass", "region-invert": False, "region-persistence": 0}
# A sigma of a quarter of a face's width, or a mosaic of 3 blocks across it, prevents detection, recognition and restoration
# (docs/elements/cudagaussblur.md).
sigma_share, blocks = 1 / 4, 3
largest_sigma, largest_block = 127, 256
# A frame that is blurred as a whole is blurred at least as strongly as for a face whose width is this share of the frame's
# shorter side.
unknown_share = 1 / 3
# Width of a face as a share of the width of its region, which includes margins.
face_share = 1 / (1 + 2 * margin)


def strength(width, method="gaussian", sigma=0, block_size=0):
    """Returns the name of the element that hides a face of this width, and the properties to set. If the face is too wide for
    the method, uses the next one of gaussian, mosaic and solid. region-strength scales the strength with larger regions."""
    if method == "gaussian" and width * sigma_share <= largest_sigma:
        return "blur", {"sigma": max(sigma, width * sigma_share), "region-strength": sigma_share * face_share}
    if method != "solid" and width <= largest_block * blocks:
        return "pixelate", {"method": "mosaic", "block-size": max(block_size, math.ceil(width / blocks)), "region-strength": face_share / blocks}
    return "pixelate", {"method": "solid"}


def hiding(properties):
    """Returns the launch line of both elements, and the preferred method: gaussian, mosaic or solid. Each NAME=VALUE of
    `properties` goes to the elements that have a property of this name."""
    frames.find_elements()
    values = dict(one.partition("=")[::2] for one in properties)
    method = values.pop("method", "gaussian")
    blur, pixelate = (Gst.ElementFactory.make(factory) for factory in ("cudagaussblur", "cudapixelate"))
    of_pixelate = {name: value for name, value in values.items() if pixelate.find_property(name)}
    # Unknown properties go to cudagaussblur, so that GStreamer reports them.
    of_blur = {name: value for name, value in values.items() if blur.find_property(name) or name not in of_pixelate}
    # With one frame in flight, cudagaussblur pushes each frame before it takes the next frame, so one probe can set both elements.
    of_blur["frames-in-flight"] = 1
    description = " ! ".join(f"{element} " + " ".join(f"{name}={value}" for name, value in own.items())
                             for element, own in (("cudagaussblur name=blur", of_blur), ("cudapixelate name=pixelate", of_pixelate)))
    return description, method


def luminance(buffer, caps):
    """Returns a copy of the Y plane of a frame as a numpy array."""
    info = GstVideo.VideoInfo.new_from_caps(caps)
    meta = GstVideo.buffer_get_video_meta(buffer)
    pitch, offset = (meta.stride[0], meta.offset[0]) if meta else (info.stride[0], info.offset[0])
    data = buffer.extract_dup(offset, pitch * (info.height - 1) + info.width)
    return numpy.ndarray((info.height, info.width), "u1", data, strides=(pitch, 1))


def each_frame(element, function):
    """Calls a function with each buffer and its caps in the streaming thread, before the element takes the buffer."""
    def probe(pad, info):
        # Posts an error, because PyGObject ignores exceptions in a probe, and the frame would pass with the previous frame's regions.
        try:
            function(info.get_buffer(), pad.get_current_caps())
            return Gst.PadProbeReturn.OK
        except Exception as error:
            element.message_full(Gst.MessageType.ERROR, Gst.StreamError.quark(), Gst.StreamError.FAILED,
                                 f"Looking for faces failed: {error}", None, "", "", 0)
            return Gst.PadProbeReturn.DROP

    element.get_static_pad("sink").add_probe(Gst.PadProbeType.BUFFER, probe)


class Faces:
    """Detects the faces in the frames of a video or a camera, and returns what to hide in each frame."""

    def __init__(self, detector, tracks):
        self.detector, self.tracks = detector, tracks
        # film: (timestamp, Frame) of each frame of the first pass. time: time of the last frame in seconds. next: index in film
        # of the next frame to play.
        self.film, self.time, self.next = [], 0, 0

    def look(self, buffer, caps):
        """Detects faces in the next frame, and returns its Frame."""
        gray = luminance(buffer, caps)
        # The time of a frame without a timestamp is 40 ms after the previous frame.
        self.time = buffer.pts / Gst.SECOND if buffer.pts != Gst.CLOCK_TIME_NONE else self.time + 0.04
        return self.tracks.add(self.time, self.detector.faces(gray), self.detector.cut(gray))

    def note(self, buffer, caps):
        """Detects faces in a frame of the first pass, and stores the result."""
        self.film.append((buffer.pts, self.look(buffer, caps)))

    def of_camera(self, buffer, caps):
        frame = self.look(buffer, caps)
        self.tracks.forget()
        return self.tracks.hidden(frame)

    def of_film(self, buffer, _):
        # Skips frames that elements upstream have dropped, because the sink has reported late frames (QoS).
        for time, frame in itertools.islice(self.film, self.next, None):
            self.next += 1
            hidden = self.tracks.hidden(frame)
            if time == buffer.pts:
                return hidden
        raise ValueError("the video has changed since the first pass: start again")


def follow(player, method, hidden, missing, widest):
    """Sets the regions and the strength for each frame in the streaming thread, before the first element takes the frame. An
    element reads its properties when it takes a frame, so they apply to exactly this frame. A probe in Python cannot add metas,
    because PyGObject's second reference makes the buffer not writable, and buffer_add_video_region_of_interest_meta() crashes."""
    elements = {name: player[name] for name in ("blur", "pixelate")}
    least = elements["blur"].get_property("sigma"), elements["pixelate"].get_property("block-size")
    active = {name: {key: element.get_property(key) for key in idle} for name, element in elements.items()}

    def set_properties(buffer, caps):
        what = hidden(buffer, caps)
        size = caps.get_structure(0)
        shorter = min(size.get_int("width").value, size.get_int("height").value)
        regions = ";".join("%d,%d,%d,%d" % box for box in what.boxes) or nobody
        # Also considers the sizes of the regions, because the region of a missed face is larger than its last detection.
        width = max([what.width, *(min(shorter, *box[2:]) * face_share for box in what.boxes)])
        if missing == "all" and (what.whole or not what.boxes):
            # With an empty `regions`, the element processes the whole frame.
            regions = ""
            width = max(width, widest(), unknown_share * shorter)
        chosen, properties = strength(width, method, *least)
        for name, element in elements.items():
            settings = {**active[name], "regions": regions, **properties} if name == chosen else idle
            for key, value in settings.items():
                element.set_property(key, value)

    each_frame(elements["blur"], set_properties)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("input", nargs="?", default="/dev/video0", help="a video, a camera or a URI, such as rtsp://… (default: /dev/video0)")
    parser.add_argument("out", nargs="?", metavar="OUT", help="a file whose name ends in .mkv or .mp4 (default without a display: faces.mkv)")
    parser.add_argument("--cascade", default="haarcascade_frontalface_alt2.xml", metavar="FILE",
                        help="the cascade: a file, or the name of a file of opencv-data (default: %(default)s)")
    parser.add_argument("--smallest", type=argtypes.number_in(1), default=24, metavar="PIXELS", help="width of the smallest face (default: %(default)s)")
    parser.add_argument("--persistence", type=argtypes.number_in(0, 86400, float), default=1, metavar="SECONDS",
                        help="how long a missed face stays blurred at its last position, in files also before its first detection; "
                             "then it is lost (default: %(default)g)")
    parser.add_argument("--lost", type=argtypes.number_in(0, 86400, float), default=10, metavar="SECONDS",
                        help="how long --missing applies after a face was lost, unless the scene changes (default: %(default)g)")
    parser.add_argument("--missing", choices=("all", "pass"), default="all",
                        help="frames without any face or with a lost face: blur them as a whole (all), or blur only their known faces "
                             "(pass; default: all)")
    parser.add_argument("--keep-tags", action="store_true",
                        help="keep titles, comments, locations and all other tags; without this option, only language "
                             "tags are kept")
    parser.add_argument("--property", action="append", default=["region-shape=ellipse", "region-feather=8"], metavar="NAME=VALUE",
                        help="a property of cudagaussblur, cudapixelate or both; can be repeated (default: region-shape=ellipse and "
                             "region-feather=8). sigma and block-size are minimum values, raised to 1/4 and 1/3 of the width of the largest "
                             "face in the frame. With method=mosaic or method=solid, cudapixelate hides all faces")
    arguments = parser.parse_args()
    arguments.out = arguments.out or ("" if frames.display_set() else "faces.mkv")
    if arguments.out and ending(arguments.out) not in ("mkv", "mp4"):
        parser.error(f'"{arguments.out}" has an unsupported extension: use .mkv or .mp4')
    return arguments


def main():
    arguments = parse_arguments()
    source, out = arguments.input, arguments.out
    detector = Detector(arguments.cascade, arguments.smallest)
    frames.readable(source)
    if out:
        frames.check_output(out, source)
    faces = Faces(detector, Tracks(arguments.persistence, arguments.lost))
    film = film_of(source, ending(out) if out else "mkv", arguments.keep_tags)
    upright = f"{film} film. ! video/x-raw ! videoconvert ! queue ! videoflip video-direction=auto ! videoconvert ! video/x-raw,format=(string){{I420,NV12}}"
    hidden = faces.of_camera
    if os.path.isfile(source) or source.startswith("file://"):
        hidden = faces.of_film
        with frames.Player(f"{upright} ! fakesink name=look sync=false") as player:
            each_frame(player["look"], faces.note)
            player.to_the_end("Looking for faces")
        if player.interrupted:
            sys.exit("Interrupted; nothing is written.")
    sink = f"videoconvert ! {writer(out, 2000000)}" if out else "videoconvert ! autovideosink"
    elements, method = hiding([f"regions-missing={arguments.missing}", *arguments.property])
    player = frames.Player(f"{upright} ! {elements} ! queue ! {sink}")
    follow(player, method, hidden, arguments.missing, lambda: faces.tracks.widest)
    if out:
        filter_tags(player["mux"], arguments.keep_tags)
        keep_sound(player["film"], player["mux"])
        print(f"Writing {out}", flush=True)
    with player:
        player.to_the_end("Blurring")
    print("".join(f"{line}\n" for line in faces.tracks.report()), end="")
    if not faces.tracks.found:
        sys.exit("No face was found. All frames are blurred as a whole; a smaller --smallest or another --cascade may find faces."
                 if arguments.missing == "all" else "No face was found, and nothing is blurred: try a smaller --smallest or another --cascade.")


if __name__ == "__main__":
    main()
