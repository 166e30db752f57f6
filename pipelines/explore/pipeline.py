# SPDX-License-Identifier: LGPL-2.1-or-later
"""The explored pipeline and its taps: leaky branches that deliver frames to a page without blocking the pipeline.

A tap keeps the newest frames and drops older frames. Python code runs in streaming threads only if a browser waits for a frame
or Timing measures a frame."""
import collections
import glob
import pathlib
import re
import sys
import time

import frames
from explore import limits
from explore.inputs import Unusable, hang
from explore.properties import Properties, make, takes_pairs
from gi.repository import GLib, Gst

# Queue length of a tap in frames. Frames before and after the element are matched by timestamp, so the element must not delay
# frames by more than this.
kept_frames = 4
# Request pads of cudasgmstereo, with the caps that the page needs.
request_pads = {"depth": "video/x-raw,format=RGB", "confidence": "video/x-raw,format=GRAY8", "rectified": "video/x-raw",
                "points": "other/tensors"}


def tap(name):
    """Returns the elements of a tap. It never blocks: while the appsink prerolls, the queue drops frames."""
    return (f"queue leaky=downstream max-size-buffers={kept_frames} max-size-bytes=0 max-size-time=0 "
            f"! appsink name=tap-{name} sync=false async=false drop=true max-buffers={kept_frames} wait-on-eos=false enable-last-sample=false")


class Exploration:
    """A pipeline that repeats its inputs endlessly through one element. Methods may block. All state changes must come from
    the same thread."""

    def __init__(self, factory, inputs, settings):
        self.properties, self.inputs = Properties(factory), inputs
        pads = {pad.name_template: pad.get_caps() for pad in Gst.ElementFactory.find(factory).get_static_pad_templates()}
        self.is_stereo = takes_pairs(factory)
        self.keeps_format = not self.is_stereo and pads["sink"].is_equal(pads["src"])
        for name, text in settings.items():
            self.properties.value(name, text)
        self.settings = dict(settings)
        packing = settings.get("frame-packing", "none").lower()
        if len(inputs) != (needed := 2 if self.is_stereo and packing in limits.pair else 1):
            if "frame-packing" in settings:
                raise Unusable(f"frame-packing={packing} needs {'two inputs, left and right' if needed > 1 else 'one input'}, not {len(inputs)}")
            takes = "two inputs, left and right, or one input with --packed" if self.is_stereo else "one input"
            raise Unusable(f"{factory} takes {takes}, not {len(inputs)}")
        self.pipeline = self.element = self.sink = self.on_frame = self.on_start = None
        self.is_playing, self.is_paused, self.has_failed, self.linked, self.awaited = False, False, False, {}, 0
        # good: settings and property values with which a frame was processed. trial: settings that no frame has confirmed yet.
        # refused: maps a property to the refused text and the reason.
        self.good, self.trial, self.refused = None, dict(settings), {}

    # --- Description ---

    def describe(self):
        """Returns the descriptions of the properties. frame-packing offers only values that fit the number of inputs."""
        packings = list((limits.pair if len(self.inputs) > 1 else limits.packed).items())
        return [{**one, "choices": packings, "default": packings[0][0]} if one["name"] == "frame-packing" else one for one in self.properties.describe()]

    def output_caps(self):
        """Returns caps that select an output that the page can show; None if the element's output is always a picture."""
        return {"cudasgmstereo": "video/x-raw,format=RGB", "cudaintegral": "video/x-raw"}.get(self.properties.factory)

    def on_card(self):
        """Returns True if frames stay in CUDA memory until a page shows them. This requires GStreamer's cudaupload and
        cudadownload, an element whose output has the format of its input, and its CUDA backend."""
        if not self.keeps_format or not all(map(Gst.ElementFactory.find, ("cudaupload", "cudadownload"))):
            return False
        element = make(self.properties.factory)
        for name in ("backend", "cuda-device-id"):
            element.set_property(name, self.properties.value(name, self.settings.get(name, self.properties.defaults[name])))
        element.set_state(Gst.State.READY)
        backend = element.get_property("active-backend").value_nick
        element.set_state(Gst.State.NULL)
        return backend == "cuda"

    def description(self):
        memory = "video/x-raw(memory:CUDAMemory)" if self.on_card() else ""
        upload = f" ! cudaupload ! {memory}" if memory else ""
        caps = memory or self.output_caps()
        left, *right = self.inputs
        # cudasgmstereo pushes to all its pads from one thread. During a pause, the main sink blocks. With this queue, it does not
        # block the pushes to the other pads.
        apart = "queue max-size-buffers=1 max-size-bytes=0 max-size-time=0 ! " if self.is_stereo else ""
        parts = [f"{left.endless()}{upload} ! tee name=before  before. ! {tap('before')}",
                 f"{self.properties.factory} name=element{f' ! {caps}' if caps else ''} ! tee name=after",
                 f"before. ! element.{'sink_left' if self.is_stereo else 'sink'}",
                 f"after. ! {tap('after')}",
                 f"after. ! {apart}fakesink name=sink sync=true enable-last-sample=false qos={str(self.is_live()).lower()}"]
        if self.is_stereo and right:
            parts.append(f"{right[0].endless()} ! element.sink_right")
        return "  ".join(parts)

    def is_live(self):
        return any(one.is_live for one in self.inputs)

    # --- Playing ---

    def start(self, position=0):
        """Starts at a position in ns. Raises Unusable if the pipeline is invalid; later errors arrive on the bus."""
        try:
            self.pipeline = Gst.parse_launch(self.description())
        except GLib.Error as error:
            raise Unusable(error.message) from None
        self.element, self.sink, self.has_failed = self.pipeline.get_by_name("element"), self.pipeline.get_by_name("sink"), False
        self.on_start(self.pipeline.get_bus())
        self.linked, self.latest = {}, collections.defaultdict(lambda: collections.deque(maxlen=kept_frames))
        self.shown, self.counted = -1 if position else 0, (0, 0)  # a video that starts near its end may end without a frame
        self.skipped, self.timing, self.counts = 0, Timing(self.element), collections.deque([(time.monotonic(), 0)], maxlen=6)
        for name in ("before", "after"):
            self.adopt(name, self.pipeline.get_by_name(f"tap-{name}"))
        if self.properties.factory == "cudahistequalize":
            self.element.set_property("post-messages", True)
        for name, text in self.settings.items():
            self.element.set_property(name, self.properties.value(name, text))
        self.begun, self.is_playing, self.awaited, self.is_paused = position, True, 1, self.is_paused and not self.is_live()
        if (position or self.is_paused) and self.pipeline.set_state(Gst.State.PAUSED) == Gst.StateChangeReturn.ASYNC:
            end = time.monotonic() + hang / Gst.SECOND
            while not self.has_failed and time.monotonic() < end and self.pipeline.get_state(Gst.SECOND // 10)[0] == Gst.StateChangeReturn.ASYNC:
                pass
            if position:
                self.seek(position)
        if not self.is_paused:
            self.pipeline.set_state(Gst.State.PLAYING)

    def stop(self):
        self.is_playing = False
        if self.pipeline:
            self.pipeline.set_state(Gst.State.NULL)
            self.linked = {}

    def restart(self):
        position = self.position() if self.is_playing and not self.is_live() else 0
        self.stop()
        self.start(position)

    def position(self):
        known, position = self.sink.query_position(Gst.Format.TIME)
        return position if known else self.begun

    def duration(self):
        """Returns the duration of a video in ns; 0 for cameras and photographs."""
        known, duration = self.sink.query_duration(Gst.Format.TIME)
        return duration if known and not self.is_live() and not self.inputs[0].is_photograph else 0

    def pause(self, is_paused):
        if self.is_playing:
            self.is_paused = is_paused
            self.pipeline.set_state(Gst.State.PAUSED if is_paused else Gst.State.PLAYING)

    def jump(self, position):
        """Seeks to a position of a video, in ns."""
        if self.is_playing and self.duration():
            self.shown = -1
            self.latest.clear()
            self.seek(max(0, min(position, self.duration() - Gst.SECOND // 10)))

    def refresh(self):
        """During a pause, processes the visible frame again with the new settings, because no new frame follows."""
        if self.is_paused and not self.is_live():
            self.latest.clear()
            self.seek(self.position())

    def seek(self, position):
        # Seeks on one sink, which reaches all inputs. The pipeline would send the event through each of its sinks.
        return self.sink.seek_simple(Gst.Format.TIME, Gst.SeekFlags.FLUSH | (Gst.SeekFlags.ACCURATE if position else Gst.SeekFlags.KEY_UNIT), position)

    def repeat(self):
        """Restarts a video at EOS. Raises Unusable for live streams, and if no frame was rendered since the last restart."""
        rendered = self.rendered()
        if self.is_live() or rendered == self.shown:
            self.stop()
            raise Unusable("The stream has ended: try again, or choose another input." if self.is_live() else "The video has ended without a frame: choose another input.")
        self.shown = rendered
        if self.seek(0):
            self.rendered()
        else:
            self.stop()
            self.start()

    def set(self, name, text):
        """Sets a property: immediately if it can change while playing, otherwise by a restart. If the text is not a valid value,
        only records the text as refused."""
        self.properties.check(name)
        try:
            value = self.properties.value(name, text)
        except Unusable as reason:
            self.refused[name] = {"text": text, "why": str(reason)}
            return
        if self.is_change_applied():
            self.good, self.trial = (dict(self.settings), self.properties.texts(self.element)), {}
        self.refused.pop(name, None)
        self.trial[name] = text
        self.settings.pop(name, None)
        self.settings[name] = text
        self.apply(name, value)

    def apply(self, name, value):
        if self.is_playing and self.properties.is_live(name):
            self.element.set_property(name, value)
            self.awaited = self.rendered() + max(3, int(self.texts().get("frames-in-flight", 0))) + 2
            if "points" in self.linked or "depth" in self.linked:
                self.make_measurable()
            self.refresh()
        else:
            self.restart()

    def refuse(self, reason, is_fatal):
        """Reverts the unconfirmed setting that the element's message names or, if `good` is set, the only unconfirmed setting. If
        there is none, raises Unusable, and stops the pipeline if `is_fatal` is true."""
        found = {name: re.search(rf"(?<![\w-]){name}(?![\w-])", reason) for name in self.trial}
        named = sorted((match.start(), name) for name, match in found.items() if match)
        name = named[0][1] if named else next(iter(self.trial)) if self.good and len(self.trial) == 1 else None
        if not name:
            if is_fatal:
                self.stop()
            raise Unusable(reason)
        self.refused[name] = {"text": self.trial.pop(name), "why": reason}
        if not self.good:  # A value from the command line: reported on the terminal, because no page may be open yet.
            print(f"warning: {reason} Using the default of {name}.", file=sys.stderr, flush=True)
        settings, texts = self.good or ({}, self.properties.defaults)
        self.settings.pop(name, None)
        if name in settings:
            self.settings[name] = settings[name]
        if is_fatal:
            self.restart()
        else:
            self.apply(name, self.properties.value(name, texts[name]))

    def reset(self):
        """Resets all properties to their defaults, except frame-packing, which depends on the inputs."""
        self.settings = {name: text for name, text in self.settings.items() if name == "frame-packing"}
        self.trial, self.refused = {}, {}
        self.restart()

    def is_change_applied(self):
        """Returns True if a frame was processed with the last change of the settings, not counting frames that were already in
        flight at the time of the change."""
        if not self.is_playing:
            return False
        if self.is_paused:
            return all(self.samples("after"))
        return self.rendered() >= self.awaited

    # --- The taps ---

    def adopt(self, name, sink):
        sink.connect("new-sample", self.on_sample)
        sink.connect("new-preroll", self.on_sample)
        self.linked[name] = sink

    def on_sample(self, sink):
        """Handles a signal of an appsink in a streaming thread: reports one frame, and disables the signal until request_frame()."""
        sink.set_property("emit-signals", False)
        self.on_frame()
        return Gst.FlowReturn.OK

    def request_frame(self, name):
        """Makes the next frame of a tap call on_frame()."""
        if sink := self.linked.get(name):
            sink.set_property("emit-signals", True)

    def link_wanted_pads(self, names):
        """Links these request pads of the element and unlinks all others, because the element skips the work for unlinked
        pads."""
        if not self.is_playing or not self.is_stereo:
            return
        new = names & set(request_pads) - set(self.linked)
        for name in new:
            if name in ("points", "depth"):
                self.make_measurable()
            sink = Gst.parse_bin_from_description(f"capsfilter caps={request_pads[name]} ! {tap(name)}", True)
            self.pipeline.add(sink)
            sink.sync_state_with_parent()
            self.element.request_pad_simple(name).link(sink.get_static_pad("sink"))
            if self.element.get_static_pad("src").get_sticky_event(Gst.EventType.EOS, 0):
                # The video has just ended. The pipeline posts EOS, after which the video restarts, only when all sinks have
                # received EOS.
                sink.send_event(Gst.Event.new_eos())
            self.adopt(name, sink.get_by_name(f"tap-{name}"))
        for name in set(self.linked) & set(request_pads) - names:
            pad, sink = self.element.get_static_pad(name), self.linked.pop(name).get_parent()
            pad.unlink(pad.get_peer())
            self.element.release_request_pad(pad)
            self.pipeline.remove(sink)
            sink.set_state(Gst.State.NULL)
            self.latest.pop(name, None)
        if new:
            self.refresh()

    def is_calibrated(self):
        """Returns True if points are in millimetres: the focal length and the baseline, or a calibration file, are set."""
        given = [float(self.settings.get(name, 0)) > 0 for name in ("focal-length", "baseline")]
        files = [self.settings.get(name) for name in ("calibration", "calibration-left")]
        return all(given) or any(file and file != "auto" for file in files)

    def make_measurable(self):
        """Without a calibration, sets an arbitrary focal length and baseline, because the element needs them to compute points. The
        page then derives only disparities from the points, not millimetres. With output=depth, sets nothing, so that the element
        refuses to compute wrong depths."""
        if not self.is_calibrated() and self.settings.get("output") != "depth":
            if self.settings.get("calibration") != "auto":  # calibration=auto depends on the focal length
                self.element.set_property("focal-length", 1000)
            self.element.set_property("baseline", 100)

    def measure(self):
        """Returns focal length times baseline, which converts Z to disparity, and whether Z is in millimetres."""
        return self.element.get_property("focal-length") * self.element.get_property("baseline"), self.is_calibrated()

    def samples(self, *names):
        """Returns one frame of each of these taps: the newest frames with equal timestamps. Returns None for each tap if the
        taps have no such frames."""
        for name in names:
            sink = self.linked.get(name)
            # During a pause, pulls the preroll frame first, because try-pull-sample would drop it.
            while sink and (sample := (self.is_paused and sink.emit("try-pull-preroll", 0)) or sink.emit("try-pull-sample", 0)):
                # Copies the sample, because an appsink of GStreamer 1.22 cannot change the caps of a sample that is still referenced.
                self.latest[name].append(Gst.Sample.new(sample.get_buffer(), sample.get_caps(), sample.get_segment(), None))
        for first in reversed(self.latest[names[0]]):
            pts = first.get_buffer().pts
            found = [next((one for one in reversed(self.latest[name]) if one.get_buffer().pts == pts), None) for name in names]
            if all(found):
                return found
        return [None for _ in names]

    # --- Figures ---

    def rendered(self):
        """Returns the number of frames since the start. The sink resets its count when a video restarts, so the counts are
        added up."""
        count = self.sink.get_property("stats").get_value("rendered")
        self.counted = (self.counted[0] + (self.counted[1] if count < self.counted[1] else 0), count)
        return sum(self.counted)

    def texts(self):
        """Returns the current property values as texts. If explore.py has set a property for its own use, returns the user's
        setting or the default."""
        texts = self.properties.texts(self.element or make(self.properties.factory))
        for name in ("post-messages",) if self.is_calibrated() else ("post-messages", "focal-length", "baseline"):
            if name in texts:
                texts[name] = self.settings.get(name, self.properties.defaults[name])
        return texts

    def figures(self):
        now, rendered = time.monotonic(), self.rendered()
        (before, old), _ = self.counts[0], self.counts.append((now, rendered))
        dropped = self.skipped + sum(self.element.get_property(name) for name in self.properties.specs if name.startswith("dropped-"))
        self.timing.measure()
        backend = self.element.get_property("active-backend").value_nick
        return {"rate": (rendered - old) / max(now - before, 1e-3), "microseconds": self.timing.median(), "dropped": dropped,
                "backend": card_name(self.element.get_property("cuda-device-id")) if backend == "cuda" else backend,
                "position": self.position() / Gst.SECOND, "duration": self.duration() / Gst.SECOND}


def card_name(number):
    """Returns the model name of a GPU, from the driver's /proc files, or "cuda" if it is unknown; -1 means the first GPU."""
    cards = [pathlib.Path(name).read_text() for name in sorted(glob.glob("/proc/driver/nvidia/gpus/*/information"))]
    return re.search(r"Model:\s*(.*)", cards[max(number, 0)]).group(1) if max(number, 0) < len(cards) else "cuda"


class Timing:
    """Measures how long the element takes for a frame: from the arrival of its last input frame, or from the push of the
    previous output frame if that is later, to the push of its output frame."""

    def __init__(self, element):
        self.element, self.times, self.is_measuring = element, collections.deque(maxlen=9), False

    def measure(self):
        """Adds probes that measure one frame: the second output frame from now."""
        if self.is_measuring:
            return
        self.is_measuring, arrived, left, probes = True, collections.defaultdict(list), [], []

        def arrives(pad, info):
            arrived[pad.get_name()].append((info.get_buffer().pts, time.perf_counter_ns()))
            return Gst.PadProbeReturn.OK

        def leaves(_, info):
            now, pts = time.perf_counter_ns(), info.get_buffer().pts
            if left:
                # Iterates over a copy, because another thread may add a pad to `arrived` at the same time.
                begun = [min(one, key=lambda entry: abs(entry[0] - pts))[1] for one in list(arrived.values()) if one]
                self.times.append((now - max(left + [one for one in begun if one < now])) / 1000)
                for pad, probe in probes:
                    pad.remove_probe(probe)
                self.is_measuring = False
            left.append(now)
            return Gst.PadProbeReturn.OK

        pads = [(pad, arrives) for pad in self.element.sinkpads] + [(self.element.get_static_pad("src"), leaves)]
        for pad, probe in pads:
            probes.append((pad, pad.add_probe(Gst.PadProbeType.BUFFER, probe)))

    def median(self):
        return sorted(self.times)[len(self.times) // 2] if self.times else None

