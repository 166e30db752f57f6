# SPDX-License-Identifier: LGPL-2.1-or-later
"""pipelines/explore.py: sliders and keys reach only valid values, and refused values have no effect."""
import re

from browser import Explored, banners, copied, painted, put, refused, text, value
from harness import expect, pipelines, python, test


def pair(place):
    return place.materials / "left.png", place.materials / "right.png"


def reached(page):
    """Returns the values that each slider reaches by dragging, and by arrow keys from its lowest, highest and default
    value."""
    return page.run("""(async () => {
        const { Scale } = await import('/scale.js');
        const hello = await new Promise(done => { const s = new WebSocket(`ws://${location.host}/socket${location.search}`);
            s.onmessage = ({ data }) => { const said = JSON.parse(data); if (said.is === 'hello') { s.close(); done(said); } }; });
        return hello.properties.filter(one => one.kind === 'number').map(one => {
            const scale = new Scale(one), values = new Set();
            for (let place = scale.first; place <= scale.last; place++) values.add(scale.at(place));
            for (const [end, way] of [[scale.ends[0], 1], [scale.ends[1], -1], [one.default, 1], [one.default, -1]])
                for (let i = 0, now = end; i < 300; i++, now = scale.next(now, way)) values.add(now);
            const moved = [...values].filter(one => scale.at(Math.round(scale.place(one))) === one).length;
            return { name: one.name, low: one.min, high: one.max, whole: one.whole, values: [...values], moved };
        });
    })()""")


def check_sliders(place, page, element):
    sliders = {one["name"]: one for one in reached(page)}
    code = "import json, sys; sys.path.insert(0, sys.argv[1]); from explore import limits; " \
           "print([limits.accepts(sys.argv[2], sys.argv[3], float(value)) for value in sys.argv[4:]])"
    for name, one in sliders.items():
        expect(float(one["low"]) in map(float, one["values"]) or name == "memory-budget", f"{name} does not reach {one['low']}")
        expect(len(one["values"]) > 1 and one["moved"] > 1, f"the slider of {name} does not move")
        answer = place.run(python, "-c", code, pipelines, element, name, *one["values"])
        expect(answer.status == 0 and "False" not in answer.out, f"{name}: {one['values']}: {answer.last()}")
        expect(all(float(one["low"]) <= float(number) <= float(one["high"]) for number in one["values"]), f"{name} leaves its range")
        expect(not one["whole"] or all(re.fullmatch(r"-?\d+", number) for number in one["values"]), f"{name}: {one['values']}")
    return sliders


@test("pipelines/explore.py: sliders and arrow keys reach valid numbers only")
def _(place):
    with Explored(place, *pair(place)) as explored:
        page = explored.page
        sliders = check_sliders(place, page, "cudasgmstereo")
        expect(sliders["num-disparities"]["values"] == [str(32 * i) for i in range(1, 33)], f"{sliders['num-disparities']['values']}")
        expect(set(sliders["paths"]["values"]) == {"4", "8"}, f"{sliders['paths']['values']}")
        # Times are in ms; special values are not converted.
        expect((value(page, "diagnostics-interval"), value(page, "max-skew")) == ("1000", "-1"), "the times")
        put(page, "max-skew", "12.5")
        page.wait("document.querySelector('[data-name=max-skew]').classList.contains('changed')", "the change")
        expect(value(page, "max-skew") == "12.5" and "max-skew=12500000" in copied(page), copied(page))
        offered = page.run("[...document.querySelectorAll('[data-name=frame-packing] option')].map(one => one.textContent)")
        expect(len(offered) == 4 and not [one for one in offered if "GST_" in one or "packed" in one], f"{offered}")
        expect("cuda" not in page.run("[...document.querySelectorAll('[data-name=backend] option')].map(one => one.value)")
               or place.run("nvidia-smi").status == 0, "backend=cuda is offered without a card")
    with Explored(place, "--element", "cudagaussblur", place.materials / "picture.png", "kernel-size=5") as explored:
        page = explored.page
        painted(page)
        check_sliders(place, page, "cudagaussblur")
        for part, keys, shown in (("[type=range]", ["ArrowRight"], "7"), ("[type=range]", 4 * ["ArrowLeft"], "0"), ("[type=range]", ["End"], "1023"),
                                  ("[type=text]", ["ArrowDown"], "1021"), ("[type=range]", ["Home", "ArrowUp", "ArrowUp"], "3")):
            page.run(f"document.querySelector('[data-name=kernel-size] {part}').focus()")
            for key in keys:
                before = value(page, "kernel-size")
                page.press(key)
                page.wait(f"document.getElementById('property-kernel-size').value !== '{before}'", f"{key} at {before}")
            expect(value(page, "kernel-size") == shown, f"{keys}: {value(page, 'kernel-size')} instead of {shown}")
            expect(page.run("document.querySelector('[data-name=kernel-size] [type=range]').ariaValueText") == shown, "what the slider says")
        page.run("(e => { e.value = 'cudadenoise'; e.dispatchEvent(new Event('change')); })(document.getElementById('element'))")
        page.wait("!!document.getElementById('property-patch-size')", "another element for this input")
        check_sliders(place, page, "cudadenoise")


@test("pipelines/explore.py: a refused value is red and has no effect, and copy has the values in use")
def _(place):
    with Explored(place, "--element", "cudagaussblur", place.materials / "picture.png", "kernel-size=5", "regions=0.1,0.1,0.5,0.5") as explored:
        page = explored.page
        painted(page)
        for wrong in ("4", "6", "nonsense", "5000"):
            put(page, "kernel-size", wrong)
            # A playing element replies with its next frame.
            page.wait(f"document.querySelector('.refused [aria-invalid=true]')?.value === '{wrong}' && "
                      f"document.getElementById('why-kernel-size').textContent.includes('{wrong}')", f"the refusal of {wrong}")
            expect(re.search(r"kernel-size.* Current value: 5\.$", refused(page, "kernel-size")), refused(page, "kernel-size"))
            red, green, blue = map(int, re.findall(r"\d+", page.run("getComputedStyle(document.getElementById('property-kernel-size')).color"))[:3])
            expect(red > 1.5 * max(green, blue), f"the colour is {red}, {green}, {blue}")
            expect("kernel-size=5 " in copied(page) + " ", copied(page))
        # Other settings are not reverted, and the refused value stays until it is replaced.
        put(page, "sigma", "3")
        page.wait("document.querySelector('[data-name=sigma]').classList.contains('changed')", "another property")
        expect(refused(page, "kernel-size") and not refused(page, "sigma"), "what is refused")
        put(page, "regions", "1,2,3")
        page.wait("document.querySelector('[data-name=regions]').classList.contains('refused')", "the refusal of a text")
        expect("sigma=3" in copied(page) and "0.1,0.1,0.5,0.5" in copied(page), copied(page))
        put(page, "kernel-size", "7")
        page.wait("!document.querySelector('[data-name=kernel-size]').classList.contains('refused')", "the valid value")
        expect("kernel-size=7" in copied(page), copied(page))
        page.run("document.getElementById('reset').click()")
        page.wait("!document.querySelector('.changed, .refused')", "the reset of all")
        expect(value(page, "sigma") == "1.2" and "cudagaussblur !" in copied(page), copied(page))
    # If a restart fails, the values are reverted, even values from the command line.
    with Explored(place, *pair(place), "num-disparities=64", "paths=5") as explored:
        page = explored.page
        painted(page)
        expect("Current value: 4." in refused(page, "paths") and value(page, "num-disparities") == "64" and "warning: paths is 5" in explored.program.text(), explored.program.text())
        put(page, "num-disparities", "33")
        page.wait("document.querySelector('[data-name=num-disparities]').classList.contains('refused')", "the refusal")
        page.wait("document.getElementById('figures').textContent.match(/[1-9][0-9.]* frames/)", "frames")
        expect("num-disparities=64" in copied(page) and "paths" not in copied(page) and not banners(page), copied(page))
        put(page, "calibration", "nowhere.yml")
        page.wait("document.querySelector('[data-name=calibration]').classList.contains('refused')", "the refusal of a file")
        page.wait("document.getElementById('figures').textContent.match(/[1-9][0-9.]* frames/)", "frames after it")
        expect("calibration" not in copied(page), copied(page))
        # Unless focal length and baseline are known, the page marks distances as "not true to scale".
        expect(page.run("!document.getElementById('scale').hidden") and "not true to scale" in text(page, "scale"), "the mark")
        for name, number in (("focal-length", "100"), ("baseline", "60")):
            put(page, name, number)
        page.wait("document.getElementById('scale').hidden", "the scale")
