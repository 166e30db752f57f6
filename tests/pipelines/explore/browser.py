# SPDX-License-Identifier: LGPL-2.1-or-later
"""Drives Debian's headless Chromium through the DevTools protocol over two pipes."""
import base64
import json
import os
import re
import select
import shutil
import subprocess
import time

from harness import Skip, expect, pipelines, python, watchdog


class Browser:
    def __init__(self, place):
        program = shutil.which("chromium")
        if not program:
            raise Skip("there is no Chromium: sudo apt-get install chromium")
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()
        # Chromium reads the protocol from file descriptor 3 and writes to 4.
        command = f'exec "$@" 3<&{to_browser} 4>&{from_browser}'
        self.log = open(place.folder / ".browser", "w+b")
        self.process = subprocess.Popen(
            ["bash", "-c", command, "bash", program, "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu-sandbox",
             "--enable-unsafe-swiftshader", "--remote-debugging-pipe", f"--user-data-dir={place.folder / 'profile'}", "--window-size=1280,800",
             "about:blank"], pass_fds=(to_browser, from_browser), stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        os.close(to_browser)
        os.close(from_browser)
        self.number, self.received, self.events = 0, b"", []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(watchdog)
        os.close(self.write_end)
        os.close(self.read_end)
        self.log.close()

    def message(self):
        end = time.monotonic() + watchdog
        while b"\0" not in self.received:
            ready, _, _ = select.select([self.read_end], [], [], max(0, end - time.monotonic()))
            data = os.read(self.read_end, 1 << 20) if ready else b""
            if not data:
                raise AssertionError("the browser does not answer")
            self.received += data
        text, _, self.received = self.received.partition(b"\0")
        return json.loads(text)

    def call(self, method, session=None, **parameters):
        self.number += 1
        said = {"id": self.number, "method": method, "params": parameters, **({"sessionId": session} if session else {})}
        os.write(self.write_end, json.dumps(said).encode() + b"\0")
        while True:
            message = self.message()
            if message.get("id") == self.number:
                expect("error" not in message, f"{method}: {message.get('error')}")
                return message["result"]
            self.events.append(message)

    def open(self, address):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, target, session)
        page.call("Runtime.enable")
        page.call("Page.enable")
        page.call("Page.navigate", url=address)
        return page


class Page:
    def __init__(self, browser, target, session):
        self.browser, self.target, self.session = browser, target, session

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def run(self, script):
        """Evaluates a JavaScript expression, and awaits its promise."""
        result = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True, userGesture=True)
        expect("exceptionDetails" not in result, f"{script}: {result.get('exceptionDetails', {}).get('exception', {}).get('description')}")
        return result["result"].get("value")

    def wait(self, script, what):
        """Waits until an expression is true, and returns its value."""
        end = time.monotonic() + watchdog
        while not (value := self.run(script)):
            expect(time.monotonic() < end, f"{what}: not within {watchdog} s")
            time.sleep(0.05)
        return value

    def mouse(self, *places):
        """Presses the mouse button at the first position, moves the pointer to the other positions and releases the button."""
        kinds = ["mousePressed", *["mouseMoved"] * (len(places) - 1), "mouseReleased"]
        self.hover(places[0])
        for kind, (x, y) in zip(kinds, [*places, places[-1]]):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=0 if kind == "mouseReleased" else 1, clickCount=1)

    def hover(self, place):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=place[0], y=place[1])

    def press(self, *keys, shift=False):
        """Presses keys by their JavaScript names."""
        codes = {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Enter": 13, "Escape": 27, "Tab": 9, "Home": 36, "End": 35, "Delete": 46}
        for key in keys:
            code = {"windowsVirtualKeyCode": codes[key]} if key in codes else {"text": key}
            for kind in ("keyDown", "keyUp"):
                self.call("Input.dispatchKeyEvent", type=kind, key=key, modifiers=8 if shift else 0, **code)

    def touch(self, *places):
        """Moves fingers on the screen. Each step is a list with the position of each finger."""
        for kind, points in (("touchStart", places[0]), *(("touchMove", points) for points in places[1:]), ("touchEnd", [])):
            self.call("Input.dispatchTouchEvent", type=kind, touchPoints=[{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(points)])

    def resize(self, width, height, is_phone=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=is_phone)
        self.call("Emulation.setTouchEmulationEnabled", enabled=is_phone, maxTouchPoints=2)

    def screenshot(self, path, **more):
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", **more)["data"]))

    def problems(self):
        """Lists the errors of the page's scripts so far."""
        return [event["params"] for event in self.browser.events if event["method"] == "Runtime.exceptionThrown" and event["sessionId"] == self.session]

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)


class Explored:
    """Runs explore.py, and a browser with its page."""

    def __init__(self, place, *arguments, settings=("backend=cpu",)):
        if place.run(python, "-c", "import aiohttp").status:
            raise Skip("there is no aiohttp: sudo apt-get install python3-aiohttp")
        self.browser = Browser(place)
        self.program = place.start(python, pipelines / "explore.py", *arguments, *settings)
        self.program.wait_until(lambda: "Ctrl-C" in self.program.text())
        found = re.search(r"http://\S+", self.program.text())
        expect(found, f"there is no link: {self.program.text()}")
        self.link = found.group()

    def __enter__(self):
        self.page = self.open()
        return self

    def open(self):
        page = self.browser.open(self.link)
        page.wait("document.querySelectorAll('.property').length", "the properties")
        return page

    def __exit__(self, reason, problem, _):
        try:
            problems = self.page.problems()
        finally:
            self.browser.__exit__()
            result = self.program.interrupt()
        if not problem:
            expect(not problems, f"in the page: {problems}")
            expect(result.status == 0 and "Traceback" not in result.text, result.text)


def pixels(page, x, y, width=1, height=1):
    """Returns red, green and blue of a block of width×height pixels. x and y are fractions of the canvas size."""
    return page.run(f"""(() => {{ const c = document.getElementById('picture'), d = c.getContext('2d').getImageData(
        Math.floor({x} * c.width), Math.floor({y} * c.height), {width}, {height}).data; return Array.from(d).filter((_, i) => i % 4 < 3); }})()""")


def middle(page, share_x, share_y, name="picture"):
    """Returns window coordinates for fractions of the canvas size."""
    x, y, width, height = page.run(f"(r => [r.x, r.y, r.width, r.height])(document.getElementById('{name}').getBoundingClientRect())")
    return x + share_x * width, y + share_y * height


def settle(page):
    """Waits until the canvas keeps its place and size, which change while the page gets its parts."""
    shape = None
    while shape != (shape := page.run("JSON.stringify(document.getElementById('picture').getBoundingClientRect())")):
        time.sleep(0.3)


def choose(page, tool):
    page.run(f"document.querySelector('[value={tool}]').click()")


def put(page, name, value):
    """Enters a property's value on the page."""
    page.run(f"""(() => {{ const e = document.getElementById('property-{name}'); e.focus();
        if (e.type === 'checkbox') e.checked = {str(value == 'true').lower()}; else e.value = {value!r};
        e.dispatchEvent(new Event('change')); e.blur(); }})()""")


def value(page, name):
    """Returns the property's value on the page."""
    return page.run(f"""(e => e.type === 'checkbox' ? String(e.checked) : e.value ?? e.textContent)(
        document.getElementById('property-{name}'))""")


def refused(page, name):
    """Returns why a property's value is refused; empty if it is accepted."""
    return page.run(f"(row => row.classList.contains('refused') ? row.querySelector('.why').textContent : '')(document.querySelector('[data-name={name}]'))")


def copied(page):
    """Returns the shell command that the page copies."""
    page.run("document.getElementById('shell').value = ''; document.getElementById('copy').click()")
    line = page.wait("document.getElementById('shell').value", "the lines")
    page.run("document.getElementById('lines').close()")
    return line


def text(page, name):
    return page.run(f"document.getElementById('{name}').textContent")


position = "parseFloat(document.getElementById('time').textContent || 0)"


def wait_for_restarts(page, times):
    """Waits until the video has restarted this many times."""
    page.run("window.turns = 0")
    page.wait(f"(now => {{ if (now < window.last) window.turns++; window.last = now; return window.turns >= {times}; }})({position})", "the film's beginning")


def banners(page):
    return page.run("[...document.querySelectorAll('#banners div')].map(line => line.firstChild.textContent)")


def painted(page):
    """Waits for the first picture."""
    page.wait("(c => c.getContext('2d').getImageData(c.width / 2 - 40, c.height / 2 - 40, 80, 80).data.some(level => level > 0 && level < 255))"
              "(document.getElementById('picture'))", "a picture")
