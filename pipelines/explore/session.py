# SPDX-License-Identifier: LGPL-2.1-or-later
"""One exploration and its browsers. Methods run in the asyncio event loop, except watched(), which runs in the only thread that
changes the pipeline. Other threads convert frames."""
import asyncio
import concurrent.futures
import functools
import os
import sys

import frames
from explore import limits
from explore.files import Folder
from explore.inputs import Input, Unusable
from explore.pictures import Meter
from explore.pipeline import Exploration
from explore.properties import elements, groups, takes_pairs
from gi.repository import Gst

figures_every = 0.5  # seconds


class Session:
    def __init__(self, exploration, inputs_of, offered):
        # inputs_of(factory) returns inputs and settings; `offered` lists the elements that the page offers.
        self.exploration, self.inputs_of, self.offered = exploration, inputs_of, offered
        self.note, self.is_busy, self.folder = "", False, Folder(os.getcwd())
        self.browsers, self.banners, self.arrived, self.bus = set(), [], asyncio.Event(), None
        self.control_thread, self.meters = concurrent.futures.ThreadPoolExecutor(1), None
        self.loop, self.is_ending = asyncio.get_running_loop(), False

    async def control(self, function, *arguments):
        """Runs a function that changes the pipeline in the control thread, and shows its error as a banner."""
        try:
            await self.loop.run_in_executor(self.control_thread, self.watched, function, *arguments)
        except Unusable as reason:
            self.banner("error", str(reason))
        self.broadcast(self.state())
        self.arrived.set()

    def watched(self, function, *arguments):
        """Calls the function in the control thread. Connects the callbacks first, and links the wanted taps afterwards."""
        exploration = self.exploration
        exploration.on_frame = lambda: self.loop.call_soon_threadsafe(self.arrived.set)
        exploration.on_start = lambda bus: self.loop.call_soon_threadsafe(self.watch, bus)
        try:
            function(*arguments)
        finally:
            exploration.link_wanted_pads(set().union(*(browser.wanted() for browser in self.browsers)))

    def watch(self, bus):
        """Reads the bus of the current pipeline in the event loop."""
        self.unwatch()
        self.bus, self.banners = bus, []
        self.loop.add_reader(bus.get_pollfd().fd, self.read)
        self.broadcast({"is": "banners", "banners": []})

    def unwatch(self):
        if self.bus:
            self.loop.remove_reader(self.bus.get_pollfd().fd)
            self.bus = None

    def read(self):
        while self.bus and (message := self.bus.pop()):
            kind, source = message.type, message.src
            if kind == Gst.MessageType.ERROR:
                self.unwatch()
                self.exploration.has_failed = True
                text = message.parse_error()[0].message
                if source == self.exploration.element:
                    asyncio.ensure_future(self.control(self.exploration.refuse, text, True))
                else:
                    self.banner("error", text)
                    asyncio.ensure_future(self.control(self.exploration.stop))
            elif kind == Gst.MessageType.WARNING:
                text = message.parse_warning()[0].message
                if text.startswith(frames.harmless[0]):
                    self.say_note(text)
                elif source == self.exploration.element and limits.refusal in text:
                    asyncio.ensure_future(self.control(self.exploration.refuse, text.replace(f" {limits.refusal}", ""), False))
                else:
                    self.banner("warning", text)
            elif kind == Gst.MessageType.EOS:
                asyncio.ensure_future(self.control(self.exploration.repeat))
            elif kind == Gst.MessageType.QOS and source == self.exploration.element:
                self.exploration.skipped = message.parse_qos_stats()[2]
            elif kind == Gst.MessageType.ELEMENT and source == self.exploration.element:
                self.broadcast({"is": "message", **numbers_of(message.get_structure())})

    def banner(self, level, text):
        """Shows a message on the terminal and in the page. Ignores a message that is already shown."""
        if {"level": level, "text": text} not in self.banners:
            print(f"{level}: {text}", file=sys.stderr, flush=True)
            self.banners.append({"level": level, "text": text})
            self.broadcast({"is": "banners", "banners": self.banners})

    def say_note(self, text):
        """Shows a note that does not concern results, such as that there is no GPU. Ignores a note that is already shown."""
        if text != self.note:
            print(f"note: {text}", file=sys.stderr, flush=True)
            self.note = text
            self.broadcast(self.state())

    def broadcast(self, what):
        for browser in self.browsers:
            browser.post(what)

    def hello(self):
        """Returns the message that describes the element and its inputs to a page."""
        properties = self.exploration.properties
        return {"is": "hello", "element": properties.factory, "elements": self.offered, "inputs": [one.name for one in self.exploration.inputs],
                "stereo": self.exploration.is_stereo, "live": self.exploration.is_live(), "properties": self.exploration.describe()}

    def state(self):
        return {"is": "state", "values": self.exploration.texts(), "refused": self.exploration.refused, "paused": self.exploration.is_paused,
                "measured": self.exploration.is_calibrated(), "note": self.note}

    async def change(self, factory, inputs_of):
        """Switches to another element or other inputs. Keeps only the settings of backend and cuda-device-id."""
        if self.is_busy:
            raise Unusable("The cameras are being calibrated; wait for the end of the calibration.")
        device = {name: text for name, text in self.exploration.settings.items() if name in groups["Device"][:2]}
        await self.control(self.exploration.stop)
        try:
            inputs, settings = await asyncio.to_thread(inputs_of, factory)
            self.exploration = Exploration(factory, inputs, {**device, **settings})
            self.inputs_of = inputs_of
        finally:
            self.broadcast(self.hello())
            await self.control(self.exploration.start)

    async def change_element(self, factory):
        if factory not in self.offered:
            raise Unusable(f"{factory} does not accept the current inputs: choose other inputs.")
        await self.change(factory, self.inputs_of)

    async def open(self, names, is_packed):
        """Switches to other inputs. Keeps the element if it accepts these inputs."""
        is_pair = len(names) > 1 or is_packed
        matching = [name for name in elements() if takes_pairs(name) == is_pair]
        current = self.exploration.properties.factory
        inputs = functools.cache(lambda: [Input(name) for name in names])
        await self.change(current if current in matching else "cudasgmstereo" if is_pair else "cudahistequalize",
                          lambda _: (inputs(), {"frame-packing": "side-by-side"} if is_packed else {}))
        self.offered = matching
        self.broadcast(self.hello())
        self.broadcast(self.state())

    async def wait_until_applied(self):
        """Waits, at most 20 s, until the last change has been applied to a frame or refused by the element."""
        end = self.loop.time() + 20
        while self.exploration.is_playing and not self.exploration.is_change_applied() and self.loop.time() < end:
            await asyncio.sleep(0.05)
        self.read()
        await self.control(lambda: None)

    async def next_samples(self, names, before):
        """Waits for frames of the taps that names() returns, newer than `before`, and returns them."""
        while True:
            self.arrived.clear()
            if self.exploration.is_playing:
                for name in names():
                    self.exploration.request_frame(name)
                samples = self.exploration.samples(*names())
                if all(samples) and samples[0] is not before:
                    return samples
            await self.arrived.wait()

    async def report(self):
        """Periodically sends the figures (rates, times and statistics) to all connected browsers."""
        while True:
            await asyncio.sleep(figures_every)
            if not self.browsers or not self.exploration.is_playing:
                continue
            self.meters = self.meters or (Meter(), Meter())
            samples = self.exploration.samples("after", "before")
            try:
                measured = await asyncio.to_thread(lambda: [meter.measured(one) for meter, one in zip(self.meters, samples) if one])
                self.broadcast({"is": "figures", **self.exploration.figures(), "luminance": measured})
            except Unusable as reason:
                self.banner("warning", str(reason))
                self.meters = None

    async def close(self):
        self.unwatch()
        self.exploration.has_failed = True  # ends the wait for preroll in Exploration.start()
        await self.loop.run_in_executor(self.control_thread, self.exploration.stop)


def numbers_of(structure):
    """Returns the name and the numeric fields of an element message."""
    fields = {name: structure.get_value(name) for name in (structure.nth_field_name(i) for i in range(structure.n_fields()))}
    return {"name": structure.get_name(), "fields": {name: value for name, value in fields.items() if isinstance(value, int | float)}}
