# SPDX-License-Identifier: LGPL-2.1-or-later
"""pipelines/explore.py: access to the folder only, pausing, seeking, the search field, messages and early regions."""
import json
import os
import shutil
import time

from browser import Explored, banners, choose, middle, painted, pixels, position, put, settle, text, value
from harness import examples, expect, pipelines, python, test, watchdog


def entries(page):
    return page.run("[...document.querySelectorAll('#entries li')].map(one => one.textContent.trim())")


def click(page, words):
    """Chooses the list entry with this text."""
    page.run(f"[...document.querySelectorAll('#entries li')].find(one => one.textContent.trim() === '{words}').querySelector('button, input').click()")


def answer(page, **said):
    """Sends a message to explore.py and returns the reply about files."""
    return page.run(f"""new Promise(done => {{ const s = new WebSocket(`ws://${{location.host}}/socket${{location.search}}`);
        s.onmessage = ({{ data }}) => {{ const answer = typeof data === 'string' ? JSON.parse(data) : {{}};
            if (['folder', 'refused'].includes(answer.is)) {{ s.close(); done(answer); }} }};
        s.onopen = () => s.send(JSON.stringify({json.dumps(said)})); }})""")


def folder_of(place):
    """Makes a folder with videos, and with links that lead out of the folder."""
    for name in ("films", ".hidden", "films/deep"):
        (place.folder / name).mkdir()
    for name, copy in (("film.mp4", "films/film.mp4"), ("left.png", "left.png"), ("right.png", "right.png"), ("packed.mkv", "films/packed.mkv"),
                       ("film.mp4", ".hidden/film.mp4")):
        shutil.copy(place.materials / name, place.folder / copy)
    (place.folder / "notes.txt").write_text("no picture")
    os.symlink(place.materials / "picture.png", place.folder / "link.png")
    os.symlink("/", place.folder / "root")
    os.symlink("left.png", place.folder / "inner.png")
    os.mkfifo(place.folder / "pipe.mp4")


@test("pipelines/explore.py plays files below its folder, and none outside it")
def _(place):
    folder_of(place)
    with Explored(place, "--element", "cudagaussblur", place.materials / "picture.png") as explored:
        page = explored.page
        painted(page)
        page.run("document.getElementById('choose').click()")
        page.wait("document.getElementById('files').open", "the files")
        listed = entries(page)
        expect({"films/", "left.png", "right.png", "inner.png"} <= set(listed), f"{listed}")
        expect(not {"link.png", "root/", "pipe.mp4", ".hidden/", "notes.txt", "one folder up"} & set(listed), f"{listed}")
        click(page, "films/")
        page.wait("document.getElementById('folder').textContent === 'films'", "the folder")
        click(page, "film.mp4")
        page.run("document.getElementById('open').click()")
        page.wait("document.getElementById('inputs').textContent.endsWith('/films/film.mp4')", "the film")
        page.wait(f"{position} > 0.1", "the film plays")
        expect(page.run("document.getElementById('element').value") == "cudagaussblur" and value(page, "backend") == "cpu", "another element or device")
        painted(page)
        # Opens a pair, for which explore.py changes to cudasgmstereo, then a video with both pictures in one frame.
        page.run("document.getElementById('choose').click()")
        page.wait("document.getElementById('files').open", "the files")
        for name in ("left.png", "right.png"):
            click(page, name)
        expect(text(page, "chosen") == "left: left.png, right: right.png", text(page, "chosen"))
        page.run("document.getElementById('open').click()")
        page.wait("document.getElementById('element').value === 'cudasgmstereo'", "the pair")
        page.wait("document.getElementById('figures').textContent.match(/[1-9][0-9.]* frames/)", "frames")
        expect(page.run("document.getElementById('element').length") == 1, "elements that take no pairs are offered")
        page.run("document.getElementById('choose').click()")
        page.wait("document.getElementById('files').open", "the files")
        click(page, "films/")
        page.wait("document.getElementById('folder').textContent === 'films'", "the folder")
        click(page, "packed.mkv")
        page.run("document.getElementById('packed').click(); document.getElementById('open').click()")
        page.wait("document.getElementById('inputs').textContent.endsWith('packed.mkv')", "the packed film")
        page.wait("document.getElementById('figures').textContent.match(/[1-9][0-9.]* frames/)", "frames")
        expect(value(page, "frame-packing") == "side-by-side" and not page.run("document.querySelector('#banners .error')"), f"{banners(page)}")
        # Paths out of the folder get the same reply as missing files.
        outside = ("..", "/", "/etc", "films/../..", "root", "root/etc", "../" * 30 + "etc", ".hidden", "films/../.hidden", "nowhere", "\0", "left.png",
                   str(place.materials), "x" * 60000)
        for name in outside:
            said = answer(page, do="browse", folder=name)
            expect(said["is"] == "refused" and "picture.png" not in json.dumps(said), f"{name[:40]}: {said}")
        files = ("/etc/passwd", "../materials/picture.png", str(place.materials / "picture.png"), "link.png", "root/etc/passwd", "pipe.mp4", ".hidden/film.mp4",
                 "films", "films/../../materials/left.png", "/dev/video99", "/dev/zero", "nowhere.png", "\0", "file:///etc/passwd", "https://127.0.0.1/a.mp4")
        answers = {answer(page, do="open", names=[name], packed=False)["text"] for name in files}
        expect(len(answers) == 1 and "There is no such file below the folder" in answers.pop(), f"{answers}")
        for names, is_packed in ((["left.png", "/etc/passwd"], False), (["left.png", "right.png"], True), ([], False), (["left.png"] * 3, False)):
            expect(answer(page, do="open", names=names, packed=is_packed)["is"] == "refused", f"{names}, {is_packed}")
        expect(text(page, "inputs").endswith("packed.mkv"), text(page, "inputs"))
        # If a file cannot be played, the current file continues.
        (place.folder / "broken.png").write_bytes(b"no picture")
        expect("broken.png" in answer(page, do="open", names=["broken.png"], packed=False)["text"], "a broken picture")
        page.wait("document.getElementById('figures').textContent.match(/[1-9][0-9.]* frames/)", "frames")
        expect(text(page, "inputs").endswith("packed.mkv"), text(page, "inputs"))


def spread(levels):
    mean = sum(levels) / len(levels)
    return sum((level - mean) ** 2 for level in levels) / len(levels)


@test("pipelines/explore.py pauses, seeks in a video, and shows changes of a paused frame")
def _(place):
    with Explored(place, "--element", "cudagaussblur", examples / "vtest.avi", "sigma=0") as explored:
        page = explored.page
        painted(page)
        page.wait(f"{position} > 1", "a second of the film")
        page.run("document.getElementById('pause').click()")
        page.wait("document.getElementById('pause').textContent === 'play'", "the pause")
        # Waits until the pause takes effect: frame and position are the same in two samples 1.2 s apart.
        place_before, sharp, end = None, None, time.monotonic() + watchdog
        while (page.run(position), pixels(page, 0.55, 0.1, 200, 200)) != (place_before, sharp):
            expect(time.monotonic() < end, f"it plays: {page.run(position)}, {place_before}")
            place_before, sharp = page.run(position), pixels(page, 0.55, 0.1, 200, 200)
            time.sleep(1.2)
        put(page, "sigma", "20")
        end = time.monotonic() + watchdog
        while spread(pixels(page, 0.55, 0.1, 200, 200)) > 0.7 * spread(sharp):
            expect(time.monotonic() < end, "the change of a still frame is not seen")
            time.sleep(0.1)
        put(page, "kernel-size", "4")
        page.wait("document.querySelector('[data-name=kernel-size]').classList.contains('refused')", "the refusal in a pause")
        expect(abs(page.run(position) - place_before) < 0.2, f"it has moved to {page.run(position)}")
        put(page, "sigma", "0")
        page.run("(s => { s.value = 50; s.dispatchEvent(new Event('change')); })(document.getElementById('seek'))")
        page.wait(f"Math.abs({position} - 50) < 0.3", "the place")
        there = page.wait("(c => c.width)(document.getElementById('picture'))", "a picture") and pixels(page, 0.55, 0.1, 200, 200)
        end = time.monotonic() + watchdog
        while sum(abs(a - b) for a, b in zip(there, sharp)) < len(sharp):
            expect(time.monotonic() < end, "the frame is the same at another place")
            time.sleep(0.1)
            there = pixels(page, 0.55, 0.1, 200, 200)
        page.run("document.getElementById('pause').click()")
        page.wait(f"{position} > 51 && {position} < 79", "the film from there")
        # After a seek to the end, the video soon restarts from the beginning.
        page.run("(s => { s.value = s.max; s.dispatchEvent(new Event('change')); })(document.getElementById('seek'))")
        page.wait(f"{position} > 0.5 && {position} < 20", "the beginning")
        # A restart keeps the pause.
        page.run("document.getElementById('pause').click()")
        page.wait("document.getElementById('pause').textContent === 'play'", "the pause")
        put(page, "frames-in-flight", "2")
        page.wait("document.querySelector('[data-name=frames-in-flight]').classList.contains('changed')", "the change")
        painted(page)
        expect(text(page, "pause") == "play" and not banners(page), f"{banners(page)}")
    with Explored(place, place.materials / "left.mkv", place.materials / "right.mkv", "num-disparities=32", "diagnostics-interval=0") as explored:
        page = explored.page
        painted(page)
        page.run("document.getElementById('pause').click()")
        page.wait("document.getElementById('pause').textContent === 'play'", "the pause")
        shown = "/ [56]\\.[0-9]+ pixels, confidence [0-9]+; distance unknown/.test(document.getElementById('pointer').textContent)"
        for move in range(200):  # small movements; the first map may arrive after the first picture
            page.hover(middle(page, 0.6, 0.5 + move % 2 / 100))
            if page.run(shown):
                break
            time.sleep(1)
        page.wait(shown, "a disparity of a still pair")


@test("pipelines/explore.py searches properties, closes messages, keeps early regions, and reports once that there is no card")
def _(place):
    with Explored(place, "--element", "cudahistequalize", examples / "vtest.avi", settings=()) as explored:
        page = explored.page
        painted(page)
        page.wait("document.getElementById('figures').textContent.match(/[1-9][0-9.]* frames/)", "frames")
        if text(page, "figures").endswith("cpu"):
            page.wait("!document.getElementById('note').hidden", "the note")
            put(page, "tiles-x", "4")
            page.wait("document.querySelector('[data-name=tiles-x]').classList.contains('changed')", "the restart")
            page.wait("document.getElementById('figures').textContent.match(/[1-9][0-9.]* frames/)", "frames")
            expect(not banners(page) and "processed on the CPU" in text(page, "note"), f"{banners(page)}")
            expect(explored.program.text().count("processed on the CPU") == 1, explored.program.text())
        visible = "[...document.querySelectorAll('.property')].filter(one => one.checkVisibility()).map(one => one.dataset.name)"
        page.run("document.getElementById('search').focus()")
        page.call("Input.insertText", text="region Feather")
        expect(page.run(visible) == ["region-feather"] and text(page, "found").startswith("1 of "), f"{page.run(visible)}")
        page.run("(s => { s.value = ''; s.dispatchEvent(new Event('input')); })(document.getElementById('search'))")
        expect("method" in page.run(visible) and not text(page, "found"), f"{page.run(visible)}")
        # All times have the same unit.
        page.wait("/ ms per frame/.test(document.getElementById('figures').textContent)", "the time of a frame")
        expect("µs" not in text(page, "figures"), text(page, "figures"))
        # A region is drawn on another page, which has not received its first picture yet.
        early = explored.browser.open("about:blank")
        early.call("Page.addScriptToEvaluateOnNewDocument", source="{ const real = createImageBitmap, held = new Promise(done => { window.release = done; }); "
                   "window.createImageBitmap = async (...what) => { await held; return real(...what); }; }")
        early.call("Page.navigate", url=explored.link)
        early.wait("document.querySelectorAll('.property').length > 0", "the properties")
        settle(early)
        choose(early, "region")
        early.mouse(middle(early, 0.4, 0.4), middle(early, 0.5, 0.5), middle(early, 0.6, 0.6))
        expect(value(early, "regions") == "", "a region of an unknown frame")
        early.run("release()")
        found = early.wait("document.getElementById('property-regions').value.split(',').length === 4 && document.getElementById('property-regions').value", "the region")
        x, y, width, height = map(float, found.split(","))
        # The picture is centred in the canvas.
        expect(abs(x + width / 2 - 0.5) < 0.02 and abs(y + height / 2 - 0.5) < 0.02 and 0.15 < height < 0.25, found)
        early.close()
    with Explored(place, "--element", "cudahistequalize", "rtsp://127.0.0.1:9/") as explored:
        page = explored.page
        page.wait("!!document.querySelector('#banners .error')", "the error")
        page.run("document.querySelector('#banners .error button:last-child').click()")
        expect(not banners(page), "the message is not closed")
        # A later message does not show the closed error again.
        answer(page, do="open", names=["nowhere"], packed=False)
        page.run("document.getElementById('element').dispatchEvent(new Event('change'))")
        expect(not [line for line in banners(page) if "rtsp" in line], f"{banners(page)}")
    for names in (["nowhere.mp4"], ["a", "b", "c"]):
        expect(place.run(python, pipelines / "explore.py", *names).status in (1, 2), f"{names}")
