# SPDX-License-Identifier: LGPL-2.1-or-later
"""One exploration and the browsers that look at it. Everything here runs in the loop of asyncio; what may block runs in
threads: one for what changes the pipeline, others for what is made of frames."""
import asyncio
import concurrent.futures
import sys

from explore.inputs import Unusable
from explore.pictures import Meter
from explore.pipeline import Exploration
from explore.properties import elements
from gi.repository import Gst

figures_every = 0.5  # seconds


class Session:
    def __init__(self, exploration, inputs_of):
        self.exploration, self.inputs_of = exploration, inputs_of
        self.browsers, self.banners, self.arrived, self.bus = set(), [], asyncio.Event(), None
        self.control_thread, self.meters = concurrent.futures.ThreadPoolExecutor(1), None
        self.loop, self.is_ending = asyncio.get_running_loop(), False

    async def control(self, function, *arguments):
        """Calls what changes the pipeline, and shows why it cannot."""
        try:
            await self.loop.run_in_executor(self.control_thread, self.watched, function, *arguments)
        except Unusable as reason:
            self.banner("error", str(reason))
        self.tell(self.state())
        self.arrived.set()

    def watched(self, function, *arguments):
        """In the thread of control: another pipeline has another bus, and other taps."""
        exploration, before = self.exploration, self.exploration.pipeline
        exploration.on_frame = lambda: self.loop.call_soon_threadsafe(self.arrived.set)
        try:
            function(*arguments)
        finally:
            if exploration.pipeline is not before:
                self.loop.call_soon_threadsafe(self.watch, exploration.pipeline.get_bus())
            exploration.want(set().union(*(browser.wanted() for browser in self.browsers)))

    def watch(self, bus):
        """Reads the messages of the pipeline that plays now."""
        self.unwatch()
        self.bus, self.banners = bus, []
        self.loop.add_reader(bus.get_pollfd().fd, self.read)
        self.tell({"is": "banners", "banners": []})

    def unwatch(self):
        if self.bus:
            self.loop.remove_reader(self.bus.get_pollfd().fd)
            self.bus = None

    def read(self):
        while self.bus and (message := self.bus.pop()):
            kind, source = message.type, message.src
            if kind == Gst.MessageType.ERROR:
                self.banner("error", message.parse_error()[0].message)
                self.unwatch()
                asyncio.ensure_future(self.control(self.exploration.stop))
            elif kind == Gst.MessageType.WARNING:
                self.banner("warning", message.parse_warning()[0].message)
            elif kind == Gst.MessageType.EOS:
                asyncio.ensure_future(self.control(self.exploration.repeat))
            elif kind == Gst.MessageType.QOS and source == self.exploration.element:
                self.exploration.skipped = message.parse_qos_stats()[2]
            elif kind == Gst.MessageType.ELEMENT and source == self.exploration.element:
                self.tell({"is": "message", **numbers_of(message.get_structure())})

    def banner(self, level, text):
        """Shows a message in the terminal and on the page."""
        if {"level": level, "text": text} not in self.banners:
            print(f"{level}: {text}", file=sys.stderr, flush=True)
            self.banners.append({"level": level, "text": text})
            self.tell({"is": "banners", "banners": self.banners})

    def tell(self, what):
        for browser in self.browsers:
            browser.post(what)

    def hello(self):
        """Describes the element for a page."""
        properties = self.exploration.properties
        return {"is": "hello", "element": properties.factory, "elements": elements() if self.inputs_of else [properties.factory],
                "inputs": [one.name for one in self.exploration.inputs], "stereo": self.exploration.is_stereo, "properties": properties.describe()}

    def state(self):
        return {"is": "state", "values": self.exploration.texts()}

    async def change_element(self, factory):
        if factory not in (elements() if self.inputs_of else []):
            raise Unusable("This element does not fit the inputs: start explore.py with others.")
        await self.control(self.exploration.stop)
        try:
            self.exploration = await asyncio.to_thread(lambda: Exploration(factory, *self.inputs_of(factory)))
        except Unusable as reason:
            self.banner("error", str(reason))
        self.tell(self.hello())
        await self.control(self.exploration.start)

    async def next_samples(self, names, before):
        """The newest frames of the taps that names() are, once they are others than `before`."""
        while True:
            self.arrived.clear()
            if self.exploration.is_playing:
                for name in names():
                    self.exploration.ask(name)
                samples = self.exploration.samples(*names())
                if all(samples) and samples[0] is not before:
                    return samples
            await self.arrived.wait()

    async def report(self):
        """Sends the figures to the browsers, for as long as there are any."""
        while True:
            await asyncio.sleep(figures_every)
            if not self.browsers or not self.exploration.is_playing:
                continue
            self.meters = self.meters or (Meter(), Meter())
            samples = self.exploration.samples("after", "before")
            try:
                measured = await asyncio.to_thread(lambda: [meter.measured(one) for meter, one in zip(self.meters, samples) if one])
                self.tell({"is": "figures", **self.exploration.figures(), "luminance": measured})
            except Unusable as reason:
                self.banner("warning", str(reason))
                self.meters = None

    async def close(self):
        self.unwatch()
        await self.loop.run_in_executor(self.control_thread, self.exploration.stop)


def numbers_of(structure):
    """The numbers of an element message."""
    fields = {name: structure.get_value(name) for name in (structure.nth_field_name(i) for i in range(structure.n_fields()))}
    return {"name": structure.get_name(), "fields": {name: value for name, value in fields.items() if isinstance(value, int | float)}}
