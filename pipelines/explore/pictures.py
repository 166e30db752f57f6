# SPDX-License-Identifier: LGPL-2.1-or-later
"""Converts frames for the page: to JPEG, PNG, point clouds and statistics. Separate pipelines convert single frames, so that
the conversion does not slow down the explored pipeline."""
import array
import importlib
import json
import math
import os
import struct
import tempfile
import threading

import frames
from explore.inputs import Unusable
from gi.repository import Gst, GstVideo

max_cloud = 60000  # points: a message of about 1 MB
png, rgb = "videoconvert ! pngenc", "videoconvert ! video/x-raw,format=RGB"


class Converter:
    """A pipeline that converts one frame at a time; calls from several threads wait for each other. The streaming threads raise
    their niceness by 5, so that they do not slow down the explored pipeline. With a niceness of 19, a page on a busy machine would
    hardly get any pictures."""

    def __init__(self, elements):
        download = "cudadownload ! " if Gst.ElementFactory.find("cudadownload") else ""
        self.pipeline = Gst.parse_launch(f"appsrc name=in format=time ! {download}{elements} ! appsink name=out sync=false")
        self.source, self.sink, self.turn = self.pipeline.get_by_name("in"), self.pipeline.get_by_name("out"), threading.Lock()
        self.is_closed = False
        self.pipeline.get_bus().set_sync_handler(self.be_nice)
        self.pipeline.set_state(Gst.State.PLAYING)

    @staticmethod
    def be_nice(_, message):
        """Sync handler of the bus: each new streaming thread raises its own niceness."""
        if message.type == Gst.MessageType.STREAM_STATUS and message.parse_stream_status()[0] == Gst.StreamStatusType.ENTER:
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), min(19, os.nice(0) + 5))
        return Gst.BusSyncReply.PASS

    def __call__(self, sample):
        with self.turn:
            if self.source.emit("push-sample", sample) != Gst.FlowReturn.OK:
                raise Unusable("The frame cannot be converted, because the converter has stopped after an error: reload the page.")
            while not (done := self.sink.emit("try-pull-sample", Gst.SECOND)):
                message = self.pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
                if message or self.is_closed:
                    raise Unusable(message.parse_error()[0].message if message else "The page was closed while a frame was being converted.")
            return done

    def close(self):
        self.is_closed = True
        self.pipeline.set_state(Gst.State.NULL)


class Jpeg(Converter):
    """Converts frames to JPEG, scaled down to the size of a window."""

    def __init__(self):
        super().__init__("videoconvert ! videoscale add-borders=false ! capsfilter name=size ! jpegenc quality=85")

    def scaled(self, sample, width, height):
        info = info_of(sample)
        own_width = info.width * info.par_n / info.par_d
        scale = min(1, width / own_width, height / info.height)
        caps = f"video/x-raw,width={max(1, round(scale * own_width))},height={max(1, round(scale * info.height))},pixel-aspect-ratio=1/1"
        self.pipeline.get_by_name("size").set_property("caps", Gst.Caps.from_string(caps))
        return bytes_of(self(sample))


def bytes_of(sample):
    return sample.get_buffer().extract_dup(0, sample.get_buffer().get_size())


def info_of(sample):
    return GstVideo.VideoInfo.new_from_caps(sample.get_caps())


def message_of(header, *parts):
    """Returns a binary WebSocket message: length of the header (uint32, little-endian), header as JSON, parts."""
    text = json.dumps({**header, "lengths": [len(part) for part in parts]}).encode()
    return struct.pack("<I", len(text)) + text + b"".join(parts)


# --- Measurements of a pair ---

def values_at(points, confidence, positions, measure):
    """Returns the disparity, the confidence and, if calibrated, X, Y and Z in mm at each of `positions`. `measure` is the result
    of Exploration.measure()."""
    info = info_of(confidence)
    meta = GstVideo.buffer_get_video_meta(confidence.get_buffer())
    product, is_calibrated = measure
    values = []
    for x, y in positions:
        x, y = min(max(int(x), 0), info.width - 1), min(max(int(y), 0), info.height - 1)
        place = struct.unpack("<3f", points.get_buffer().extract_dup(12 * (y * info.width + x), 12))
        value = {"x": x, "y": y, "confidence": confidence.get_buffer().extract_dup(y * (meta.stride[0] if meta else info.stride[0]) + x, 1)[0]}
        if math.isfinite(place[2]):
            value["disparity"] = product / place[2]
            if is_calibrated:
                value["place"] = place
        values.append(value)
    return values


def cloud(points, colors):
    """Returns the points in mm and their colours as the bytes of two arrays, subsampled to about max_cloud points or fewer."""
    both = [frames.array_of(sample) for sample in (points, colors)]
    step = math.ceil(math.sqrt(both[0].shape[0] * both[0].shape[1] / max_cloud))
    return [one[::step, ::step].tobytes() for one in both]


def ply(points, colors):
    """Returns the bytes of a PLY file."""
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, "points.ply")
        importlib.import_module("point-cloud").write_ply(name, frames.array_of(points), frames.array_of(colors))
        with open(name, "rb") as file:
            return file.read()


# --- Statistics of a frame ---

class Meter(Converter):
    """Measures the luminance statistics of a frame with cudahistequalize."""

    fields = "mean", "stddev", "entropy", "percentile-1", "percentile-5", "percentile-50", "percentile-95", "percentile-99"

    def __init__(self):
        super().__init__("videoconvert ! cudahistequalize backend=cpu strength=0 post-messages=true")

    def measured(self, sample):
        self(sample)
        while not (message := self.pipeline.get_bus().timed_pop_filtered(Gst.SECOND, Gst.MessageType.ELEMENT)):
            if self.is_closed:  # close() flushes the bus, so the message may never arrive.
                raise Unusable("The page was closed while a frame was being measured.")
        structure = message.get_structure()
        bins = array.array("Q", structure.get_value("bins").get_data())
        return {"bins": [sum(bins[i:i + len(bins) // 256]) for i in range(0, len(bins), len(bins) // 256)],
                "levels": len(bins), **{field: structure.get_value(field) for field in self.fields}}
