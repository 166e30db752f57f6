# SPDX-License-Identifier: LGPL-2.1-or-later
"""pipelines/explore.py in a browser: pictures, properties, the divider and regions."""
import time

from browser import Explored, banners, wait_for_restarts, choose, middle, painted, pixels, position, put, settle, text, value
from harness import examples, expect, test, watchdog


def spread(levels):
    mean = sum(levels) / len(levels)
    return sum((level - mean) ** 2 for level in levels) / len(levels)


@test("pipelines/explore.py shows each element and sets each kind of property")
def _(place):
    with Explored(place, "--element", "cudagaussblur", "sigma=0") as explored:
        page = explored.page
        painted(page)
        expect(value(page, "sigma") == "0" and value(page, "backend") == "cpu", "the values of the command line")
        sharp = spread(pixels(page, 0.6, 0.4, 60, 60))
        put(page, "sigma", "20")  # a live property
        page.wait("document.querySelector('[data-name=sigma]').classList.contains('changed')", "the change")
        end = time.monotonic() + watchdog
        while spread(pixels(page, 0.6, 0.4, 60, 60)) > 0.7 * sharp:
            expect(time.monotonic() < end, "the blur is not seen")
            time.sleep(0.1)
        page.run("(s => { s.value = 0.8; s.dispatchEvent(new Event('input')); })(document.querySelector('[data-name=sigma] [type=range]'))")
        page.wait("!['0', '20'].includes(document.querySelector('[data-name=sigma] [type=text]').value)", "the slider")
        put(page, "sigma", "20")
        # The left half shows the input. The divider follows the pointer.
        settle(page)
        left = pixels(page, 0.4, 0.4, 60, 60)
        expect(pixels(page, 0.4, 0.4, 60, 60) == left, "the input changes")
        page.mouse(middle(page, 0.5, 0.5), middle(page, 0.3, 0.5))
        moved = pixels(page, 0.4, 0.4, 60, 60)
        expect(sum(abs(a - b) for a, b in zip(left, moved)) > 4 * len(left), "the divider does not move")
        for name, entered, shown in (("blur-alpha", "false", "false"), ("border", "wrap", "wrap"), ("border-color", "0xff112233", "0xff112233"),
                                     ("regions", "0.2500,0.2500,0.5000,0.5000", "0.2500,0.2500,0.5000,0.5000")):
            put(page, name, entered)
            page.wait(f"document.querySelector('[data-name={name}]').classList.contains('changed')", f"the change of {name}")
            expect(value(page, name) == shown, f"{name} is {value(page, name)}")
        page.run("document.querySelector('[data-name=border] button').click()")
        page.wait("!document.querySelector('[data-name=border]').classList.contains('changed')", "the reset")
        # A value out of range is refused.
        put(page, "sigma", "1000")
        page.wait("document.getElementById('why-sigma').textContent.includes('sigma takes a number from -127 to 127')", "the refusal")
        put(page, "sigma", "20")
        choose(page, "region")
        page.mouse(middle(page, 0.35, 0.2), middle(page, 0.4, 0.3), middle(page, 0.45, 0.4))
        page.wait("document.querySelector('[data-name=regions] input').value.split(';').length === 2", "the region")
        # A second page shows the same values, and its changes reach the first page.
        other = explored.open()
        painted(other)
        expect(value(other, "border-color") == "0xff112233", "the other page shows other values")
        put(other, "sigma", "3")
        page.wait("document.querySelector('[data-name=sigma] [type=text]').value === '3'", "the change by the other page")
        other.close()
        for element in ("cudahistequalize", "cudaintegral"):
            page.run(f"(e => {{ e.value = '{element}'; e.dispatchEvent(new Event('change')); }})(document.getElementById('element'))")
            page.wait(f"!!document.querySelector('[data-name={'strength' if element == 'cudahistequalize' else 'radius'}]')", element)
            page.wait("document.getElementById('figures').textContent.match(/[1-9][0-9.]* frames/)", f"frames of {element}")
            painted(page)
        expect(not banners(page), f"{banners(page)}")


@test("pipelines/explore.py keeps the position in the video at a restart")
def _(place):
    with Explored(place, "--element", "cudahistequalize", examples / "vtest.avi") as explored:
        page = explored.page
        page.wait(f"{position} > 3", "some seconds of the film")
        put(page, "tiles-x", "4")  # restarts the element
        page.wait("document.querySelector('[data-name=tiles-x]').classList.contains('changed')", "the change")
        # The video continues for a second, and the page never shows an earlier position.
        page.run(f"""window.least = window.most = {position}; new MutationObserver(() => {{
            const now = {position}; if (now) {{ window.least = Math.min(window.least || now, now); window.most = Math.max(window.most, now); }}
            }}).observe(document.getElementById('time'), {{childList: true, characterData: true, subtree: true}})""")
        page.wait("window.most > window.least + 1", "a second of the film")
        expect(page.run("window.least") >= 3 and value(page, "tiles-x") == "4", f"it has restarted: {text(page, 'figures')}")


@test("pipelines/explore.py repeats videos, and rotates them as players do")
def _(place):
    with Explored(place, "--element", "cudahistequalize", place.materials / "turned.mp4") as explored:
        page = explored.page
        painted(page)
        # The rotated video is shown upright: its picture is taller than wide.
        expect(not any(pixels(page, 0.1, 0.5, 20, 20)) and any(pixels(page, 0.5, 0.5, 20, 20)), "the film is not upright")
        wait_for_restarts(page, 2)
        expect(not banners(page), f"{banners(page)}")
