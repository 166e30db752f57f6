# SPDX-License-Identifier: LGPL-2.1-or-later
"""The HTTP server and the WebSocket. The page and the WebSocket need the token. Only the files in a fixed table are served."""
import asyncio
import contextlib
import ipaddress
import json
import pathlib
import secrets
import socket
import urllib.parse

from aiohttp import WSMsgType, web
from explore.inputs import Unusable
from explore.pictures import Converter, Jpeg, bytes_of, cloud, info_of, message_of, ply, png, rgb, values_at
from explore.recipes import recipes
from gi.repository import Gst

page = pathlib.Path(__file__).parent / "page"
kinds = {".html": "text/html; charset=utf-8", ".css": "text/css", ".js": "text/javascript"}
files = {f"/{name}": page / (name or "index.html") for name in ("", "style.css", "main.js", "picture.js", "properties.js", "figures.js", "cloud.js", "inputs.js", "scale.js")}
files["/three.module.js"] = pathlib.Path("/usr/share/javascript/three/three.module.js")
headers = {"Content-Security-Policy": "default-src 'self'; img-src 'self' blob:; connect-src 'self'; frame-ancestors 'none'",
           "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store"}
max_browsers = 8
max_waiting = 50  # requests of a browser
max_rate = 30  # pictures per second
pictures = "before", "after", "depth", "confidence", "rectified"
taps = *pictures, "points"


def some_of(fits, maximum, value):
    return isinstance(value, list) and 0 < len(value) <= maximum and all(map(fits, value))


def is_text(value):
    return isinstance(value, str) and len(value) <= 65536


def is_flag(value):
    return isinstance(value, bool)


def is_length(value):
    return type(value) in (int, float) and 0 <= value < 1e6


# The valid requests of a page, with a validator for each field.
known = {
    "show": {"pictures": lambda value: some_of(pictures.__contains__, 2, value) and len(set(value)) == len(value),
             "width": is_length, "height": is_length, "values": is_flag, "cloud": is_flag},
    "seen": {}, "cloud-seen": {}, "snapshot": {}, "ply": {}, "copy": {}, "again": {}, "reset": {},
    "pause": {"paused": is_flag}, "seek": {"position": is_length}, "browse": {"folder": is_text},
    "open": {"names": lambda value: some_of(is_text, 2, value), "packed": is_flag},
    "set": {"name": is_text, "value": is_text}, "element": {"name": is_text},
    "values": {"at": lambda value: some_of(lambda one: some_of(is_length, 2, one) and len(one) == 2, 8, value)},
}


class Browser:
    """The WebSocket of one browser. A picture is sent only after the browser has shown the previous one, so that slow
    connections get fewer pictures."""

    def __init__(self, session, ws):
        self.session, self.ws, self.outgoing = session, ws, asyncio.Queue(1000)
        self.shows, self.also, self.converters = None, set(), {}
        self.seen, self.cloud_seen = asyncio.Event(), asyncio.Event()
        self.doing, self.turn, self.last_picture, self.last_cloud = set(), asyncio.Lock(), None, None

    def wanted(self):
        if not self.shows:
            return self.also
        return self.also.union(self.shows["pictures"], {"points", "confidence"} if self.shows["values"] else (),
                               {"points", "rectified"} if self.shows["cloud"] else ())

    def post(self, what):
        """Queues a message. Drops it if 1000 messages are already queued, because then the connection is too slow."""
        with contextlib.suppress(asyncio.QueueFull):
            self.outgoing.put_nowait(what)

    async def run(self):
        tasks = [asyncio.ensure_future(one) for one in (self.send_messages(), self.whenever(self.seen, self.send_pictures),
                                                        self.whenever(self.cloud_seen, self.send_cloud))]
        for what in (self.session.hello(), self.session.state(), {"is": "banners", "banners": self.session.banners}):
            self.post(what)
        try:
            async for message in self.ws:
                self.hear(message.data if message.type == WSMsgType.TEXT else "")
        finally:
            for task in (*tasks, *self.doing):
                task.cancel()
            await asyncio.gather(*tasks, *self.doing, return_exceptions=True)
            for converter in self.converters.values():
                converter.close()

    def refuse(self, why):
        self.post({"is": "refused", "text": why})

    def hear(self, text):
        try:
            said = json.loads(text)
            do = said.pop("do")
            if set(said) != set(known[do]) or not all(fits(said[name]) for name, fits in known[do].items()):
                raise ValueError
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            self.refuse("This request is invalid: reload the page.")
            return
        if do in ("seen", "cloud-seen"):
            if self.shows:
                (self.seen if do == "seen" else self.cloud_seen).set()
        elif len(self.doing) < max_waiting:
            self.doing.add(task := asyncio.ensure_future(self.do(do, said)))
            task.add_done_callback(self.doing.discard)
        else:
            self.refuse(f"{max_waiting} requests are waiting: try again in a moment.")

    async def do(self, do, said):
        """Handles one request at a time; refusals are sent to the page."""
        async with self.turn:
            try:
                await getattr(self, "do_" + do)(**said)
            except Unusable as reason:
                self.refuse(str(reason))
            except asyncio.TimeoutError:
                self.refuse("No frame has arrived within 20 s: if playback is paused, continue it; otherwise, wait until the page shows a picture, or choose another input.")

    # --- Requests ---

    async def do_show(self, **shows):
        self.shows = shows
        await self.session.control(lambda: None)
        self.seen.set()
        self.cloud_seen.set()

    async def do_set(self, name, value):
        await self.session.control(self.session.exploration.set, name, value)

    async def do_element(self, name):
        await self.session.change_element(name)

    async def do_again(self):
        await self.session.control(self.session.exploration.restart)

    async def do_reset(self):
        await self.session.control(self.session.exploration.reset)

    async def do_pause(self, paused):
        await self.session.control(self.session.exploration.pause, paused)

    async def do_seek(self, position):
        await self.session.control(self.session.exploration.jump, int(position * Gst.SECOND))

    async def do_browse(self, folder):
        self.post({"is": "folder", **await asyncio.to_thread(self.session.folder.list, folder)})

    async def do_open(self, names, packed):
        if packed and len(names) > 1:
            raise Unusable("Choose two inputs, or one input whose frames hold both pictures.")
        await self.session.open(await asyncio.to_thread(lambda: [self.session.folder.input(name) for name in names]), packed)

    async def do_copy(self):
        await self.session.wait_until_applied()
        self.post({"is": "copy", **recipes(self.session.exploration)})

    async def do_values(self, at):
        samples = await self.samples("points", "confidence")
        self.post({"is": "values", "values": values_at(*samples, at, self.session.exploration.measure())})

    async def do_snapshot(self):
        sample = None
        while sample is None or not self.session.exploration.is_change_applied():
            sample, = await self.samples("after", before=sample)
        picture = await asyncio.to_thread(self.converter("png", lambda: Converter(png)), sample)
        self.post(message_of({"is": "file", "name": "explored.png"}, bytes_of(picture)))

    async def do_ply(self):
        points, rectified = await self.samples("points", "rectified")
        colors = await asyncio.to_thread(self.converter("rgb", lambda: Converter(rgb)), rectified)
        name = "explored.ply" if self.session.exploration.is_calibrated() else "explored-without-scale.ply"
        self.post(message_of({"is": "file", "name": name}, await asyncio.to_thread(ply, points, colors)))

    async def samples(self, *names, before=None):
        """Returns the newest frames of these taps, newer than `before`. Links the taps while it waits."""
        if not set(names) <= set(taps if self.session.exploration.is_stereo else taps[:2]):
            raise Unusable("Only cudasgmstereo measures distances: choose this element.")
        is_linked = set(names) <= set(self.session.exploration.linked)
        self.also = set(names)
        try:
            if not is_linked:
                await self.session.control(lambda: None)
            return await asyncio.wait_for(self.session.next_samples(lambda: names, before), 20)
        finally:
            self.also = set()
            if not is_linked:
                await self.session.control(lambda: None)

    # --- Outgoing messages ---

    async def send_messages(self):
        while True:
            what = await self.outgoing.get()
            await (self.ws.send_bytes(what) if isinstance(what, bytes) else self.ws.send_json(what))

    def converter(self, key, make):
        if key not in self.converters:
            self.converters[key] = make()
        return self.converters[key]

    async def whenever(self, event, send):
        """Calls send() each time the event is set. After an error, shows the error and tries the next frame."""
        while True:
            await event.wait()
            event.clear()
            try:
                await send()
            except Unusable as reason:
                self.session.banner("error", str(reason))
                event.set()

    async def send_pictures(self):
        begun, samples = self.session.loop.time(), await self.session.next_samples(lambda: self.shows["pictures"], self.last_picture)
        self.last_picture = samples[0]
        jpegs = [self.converter(f"jpeg {side}", Jpeg) for side in range(len(samples))]
        parts = [await asyncio.to_thread(jpeg.scaled, sample, self.shows["width"], self.shows["height"]) for jpeg, sample in zip(jpegs, samples)]
        info = info_of(samples[-1])
        await self.ws.send_bytes(message_of({"is": "pictures", "width": info.width, "height": info.height}, *parts))
        await asyncio.sleep(begun + 1 / max_rate - self.session.loop.time())

    async def send_cloud(self):
        if self.shows["cloud"]:
            points, rectified = await self.session.next_samples(lambda: ("points", "rectified"), self.last_cloud)
            self.last_cloud = points
            colors = await asyncio.to_thread(self.converter("rgb", lambda: Converter(rgb)), rectified)
            await self.ws.send_bytes(message_of({"is": "cloud"}, *await asyncio.to_thread(cloud, points, colors)))
            await asyncio.sleep(0.1)


class Server:
    def __init__(self, session, host, port):
        self.session, self.host, self.port, self.token = session, host, port, secrets.token_urlsafe(16)

    async def start(self):
        app = web.Application(client_max_size=65536)
        app.router.add_get("/socket", self.talk)
        for path in files:
            app.router.add_get(path, self.file)
        self.runner = web.AppRunner(app, access_log=None)
        await self.runner.setup()
        await web.TCPSite(self.runner, self.host, self.port).start()
        self.port = self.runner.addresses[0][1]

    async def close(self):
        for browser in list(self.session.browsers):
            await browser.ws.close()
        await self.runner.cleanup()

    def check(self, request, needs_token):
        """Refuses requests whose Host is neither an IP address nor a name of this machine, whose Origin is another site, or which
        lack a needed token. The check of the Host stops DNS rebinding."""
        try:
            name = urllib.parse.urlsplit(f"//{request.host}").hostname or ""
            own = name in ("localhost", socket.gethostname(), self.host) or bool(ipaddress.ip_address(name))
        except ValueError:
            own = False
        if not own or request.headers.get("Origin", f"http://{request.host}") != f"http://{request.host}":
            raise web.HTTPForbidden(text="Open the link that explore.py has printed: the server does not accept this address.\n")
        if needs_token and not secrets.compare_digest(request.query.get("token", "").encode(), self.token.encode()):
            raise web.HTTPForbidden(text="Open the link that explore.py has printed: it ends with a token.\n")

    async def file(self, request):
        self.check(request, request.path == "/")
        path = files[request.path]
        if not path.exists():
            raise web.HTTPNotFound(text="This file is missing: install Debian's package libjs-three.\n")
        return web.FileResponse(path, headers={**headers, "Content-Type": kinds[path.suffix]})

    async def talk(self, request):
        self.check(request, True)
        if len(self.session.browsers) >= max_browsers:
            raise web.HTTPServiceUnavailable(text=f"{max_browsers} pages are open already; close a page.\n")
        ws = web.WebSocketResponse(max_msg_size=131072, heartbeat=20)
        await ws.prepare(request)
        browser = Browser(self.session, ws)
        self.session.browsers.add(browser)
        try:
            await browser.run()
        finally:
            self.session.browsers.discard(browser)
            await self.session.control(lambda: None)
        return ws
