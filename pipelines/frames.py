# SPDX-License-Identifier: LGPL-2.1-or-later
"""Functions that the Python examples share: they find the elements, check inputs and outputs, and play a pipeline whose frames
arrive as numpy arrays and whose messages arrive as structures."""
import os
import pathlib
import shlex
import sys
import time

try:
    import gi

    gi.require_version("Gst", "1.0")
    gi.require_version("GstVideo", "1.0")
    import numpy
    from gi.repository import GLib, Gst, GstVideo
except (ImportError, ValueError) as error:
    sys.exit(f"{error}. Run this, and start this program with the system's Python:\n"
             "  sudo apt-get install python3-gi gir1.2-gst-plugins-base-1.0 python3-numpy python3-matplotlib\n"
             f"  /usr/bin/python3 {shlex.join(sys.argv)}")

# Creates all enumerations now. Otherwise PyGObject would create them when streaming threads first use them, which is not
# thread-safe.
for name in dir(Gst):
    getattr(Gst, name, None)

examples = "/usr/share/doc/opencv-doc/examples/data/"


def display_set():
    return bool(os.environ.get("WAYLAND_DISPLAY") or os.environ.get("DISPLAY"))


def is_uri(name):
    return "://" in name


def is_camera(name):
    """Returns True for live sources."""
    return name.startswith(("/dev/video", "rtsp", "udp://", "srt://", "rtmp"))


def readable(name):
    """Returns the name of an input. Ends the program if it is a file or camera that cannot be read. Does not check URIs, for
    which GStreamer reports errors."""
    if os.path.isdir(name):
        sys.exit(f"{name}: this is a folder; name a file")
    if not is_uri(name) and not os.access(name, os.R_OK):
        hint = "; it is in Debian's package opencv-doc" if name.startswith(examples) else "; correct its name or permissions"
        sys.exit(f"{name}: there is no such file or camera, or it cannot be read{hint}")
    return name


def check_output(name, *inputs):
    """Ends the program if the file cannot be written or is one of the inputs."""
    folder = os.path.dirname(name) or "."
    if not os.path.isdir(folder):
        sys.exit(f"{name}: there is no folder {folder}; create it, or name another file")
    if os.path.isdir(name):
        sys.exit(f"{name}: this is a folder; name a file")
    if not os.access(name if os.path.exists(name) else folder, os.W_OK):
        sys.exit(f"{name}: this file cannot be written; name another file")
    if os.path.exists(name) and any(os.path.samefile(name, one) for one in inputs if os.path.exists(one)):
        sys.exit(f"{name}: this is the input itself; name another file for the result")


def quoted(text):
    """Quotes a text for a launch line."""
    text = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'


def decoder_of(name, properties=""):
    if is_uri(name):
        return f"uridecodebin uri={quoted(name)} {properties}"
    source = "v4l2src device" if name.startswith("/dev/video") else "filesrc location"
    return f"{source}={quoted(name)} ! decodebin {properties}"


def source_of(name):
    """Returns the elements, in the syntax of gst-launch-1.0, that decode a file, a camera or a URI. videoflip applies the
    orientation tag of videos and photographs."""
    upright = "" if name.startswith("/dev/video") else " ! videoflip video-direction=auto"
    return f"{decoder_of(name)} ! videoconvert{upright} ! queue"


def find_elements():
    """Makes GStreamer find the elements, installed or in a build folder."""
    top = pathlib.Path(__file__).resolve().parent.parent
    # The plug-in of this installation's prefix takes precedence over GStreamer's plug-in folder.
    own, path = top / "pipelines/plugin", os.environ.get("GST_PLUGIN_PATH", "")
    if own.exists() and str(own.resolve()) not in path.split(":"):
        os.environ["GST_PLUGIN_PATH"] = ":".join(filter(None, [path, str(own.resolve())]))
    Gst.init(None)
    for build in (None, "build", "build-quickstart"):
        if build and (top / build / "gst").is_dir():
            Gst.Registry.get().scan_path(str(top / build / "gst"))
        if Gst.ElementFactory.find("cudasgmstereo"):
            return
    sys.exit("GStreamer does not find the elements. Install the package gstreamer1.0-cudavision, or build them: meson setup build && ninja -C build")


# A warning of cudasgmstereo that contains one of these texts does not concern the result.
harmless = "Frames are processed on the CPU", "takes time for disparities"


class Player:
    """Plays a pipeline, in the syntax of gst-launch-1.0, inside a `with` block."""

    def __init__(self, description):
        find_elements()
        try:
            self.pipeline = Gst.parse_launch(description)
        except GLib.Error as error:
            sys.exit(error.message)
        self.bus = self.pipeline.get_bus()
        # True after cudasgmstereo has warned that its result is wrong.
        self.wrong = False
        # interrupted: Ctrl-C has ended the pipeline. ended: EOS or an error has arrived.
        self.interrupted, self.ended = False, False

    def __enter__(self):
        self.pipeline.set_state(Gst.State.PLAYING)
        return self

    def __exit__(self, reason=None, *_):
        if reason is KeyboardInterrupt and not self.ended:
            # Ctrl-C sends EOS, so that an output file becomes complete. Slow encoders get 5 minutes; a second Ctrl-C ends
            # the program.
            self.pipeline.send_event(Gst.Event.new_eos())
            end = time.monotonic() + (300 if self["mux"] else 5)
            while time.monotonic() < end and not self.bus.timed_pop_filtered(Gst.SECOND // 10, Gst.MessageType.EOS | Gst.MessageType.ERROR):
                pass
        self.pipeline.set_state(Gst.State.NULL)
        self.interrupted = reason is KeyboardInterrupt
        return self.interrupted

    def __getitem__(self, name):
        return self.pipeline.get_by_name(name)

    def messages(self, wait=0.1):
        """Yields the structure of each element message, and None after every `wait` seconds without a message, until EOS or
        until the user closes the window. An error ends the program."""
        kinds = Gst.MessageType.ELEMENT | Gst.MessageType.EOS | Gst.MessageType.WARNING | Gst.MessageType.ERROR
        while True:
            message = self.bus.timed_pop_filtered(int(wait * Gst.SECOND), kinds)
            self.ended |= message is not None and message.type in (Gst.MessageType.EOS, Gst.MessageType.ERROR)
            if message is None or message.type == Gst.MessageType.ELEMENT:
                yield message and message.get_structure().copy()
            elif message.type == Gst.MessageType.EOS:
                return
            elif message.type == Gst.MessageType.WARNING:
                self.warn(message.src, message.parse_warning()[0].message)
            else:
                text = message.parse_error()[0].message
                if text in ("Output window was closed", "Quit requested"):
                    return
                self.__exit__()
                sys.exit(f"{message.src.get_name()}: {text}")

    def frames(self, make_array=None):
        """Yields the time in seconds and the array of each frame that arrives at the appsink named sink. make_array() converts
        samples to arrays (default: array_of())."""
        sink = self["sink"]
        messages = self.messages(0)
        ended = False
        while True:
            sample = sink.emit("try-pull-sample", Gst.SECOND // 10)
            if sample:
                yield sample.get_buffer().pts / Gst.SECOND, (make_array or array_of)(sample)
            elif ended:
                return
            try:
                while next(messages) is not None:
                    pass
            except StopIteration:
                ended = True

    def warn(self, source, text):
        print(f"warning: {text}", file=sys.stderr)
        factory = isinstance(source, Gst.Element) and source.get_factory()
        self.wrong |= bool(factory) and factory.get_name() == "cudasgmstereo" and not any(words in text for words in harmless)

    def first_frames(self, *sinks):
        """Returns the arrays of the first frames at these appsinks. Sends EOS before it returns, because cudasgmstereo posts its
        warnings about a single pair at EOS."""
        messages, ended, arrays = self.messages(0), False, {}
        for sink in sinks:
            # Only the first frame is pulled, so at EOS the sink must not wait until the queued frames are pulled.
            self[sink].set_property("wait-on-eos", False)
        while len(arrays) < len(sinks):
            for sink in sinks:
                sample = None if sink in arrays else self[sink].emit("try-pull-sample", Gst.SECOND // 10)
                if sample:
                    arrays[sink] = array_of(sample)
            if ended and len(arrays) < len(sinks):
                sys.exit("The inputs ended before a pair of frames arrived: name two pictures, or two videos that begin at the same time.")
            try:
                while next(messages) is not None:
                    pass
            except StopIteration:
                ended = True
        if not ended:
            self.pipeline.send_event(Gst.Event.new_eos())
            for _ in messages:
                pass
        return [arrays[sink] for sink in sinks]

    def to_the_end(self, doing=""):
        """Plays to the end. Prints `doing`, which describes this pass, and on a terminal also the position in the video."""
        shows = bool(doing) and sys.stdout.isatty()
        if doing and not shows:
            print(doing, flush=True)
        for message in self.messages():
            if shows and message is None:
                self.print_progress(doing)
        if shows:
            self.print_progress(doing)
            print()

    def print_progress(self, doing):
        position, length = (query(Gst.Format.TIME)[1] / Gst.SECOND for query in (self.pipeline.query_position, self.pipeline.query_duration))
        print(f"\r{doing}: {position:.1f} s" + (f" of {length:.1f} s  " if length > 0 else "  "), end="", flush=True)


def is_tensor(caps):
    return caps.get_structure(0).get_name() == "other/tensors"


def layout_of_tensor(caps):
    """Returns the array shape and the numpy.dtype of a tensor."""
    tensor = caps.get_structure(0)
    # The innermost dimension comes first: 1:columns:rows:1, or 3:columns:rows:1 for points.
    numbers, columns, rows, _ = (int(number) for number in tensor.get_string("dimensions").split(":"))
    return (rows, columns) if numbers == 1 else (rows, columns, numbers), numpy.dtype(tensor.get_string("types"))


def array_of(sample):
    """Returns a numpy array of a frame (GRAY8, GRAY16_LE, RGB), a table of sums or a point cloud."""
    buffer, caps = sample.get_buffer(), sample.get_caps()
    data = buffer.extract_dup(0, buffer.get_size())
    if is_tensor(caps):
        shape, kind = layout_of_tensor(caps)
        return numpy.frombuffer(data, kind).reshape(shape).copy()
    info = GstVideo.VideoInfo.new_from_caps(caps)
    bytes_of_pixel = info.finfo.pixel_stride[0]
    meta = GstVideo.buffer_get_video_meta(buffer)
    # Rows may be padded.
    pitch = meta.stride[0] if meta else info.stride[0]
    kind, shape, strides = {
        1: ("u1", (), ()),
        2: ("<u2", (), ()),
        3: ("u1", (3,), (1,)),
    }[bytes_of_pixel]
    return numpy.ndarray((info.height, info.width, *shape), kind, data, strides=(pitch, bytes_of_pixel, *strides))
