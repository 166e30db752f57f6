# SPDX-License-Identifier: LGPL-2.1-or-later
"""pipelines/explore.py on a desktop and on a phone: layout, screen readers, keys and fingers."""
from browser import Explored, choose, middle, painted, put, text
from harness import examples, expect, test

# Window sizes of a desktop and a phone, and whether the device is a phone.
sizes = ((1280, 800, False), (390, 844, True))
# Nodes with these roles need no name.
unnamed = {"generic", "none", "StaticText", "InlineTextBox", "paragraph", "LabelText", "list", "listitem", "ListMarker", "LineBreak", "banner", "main", "figure",
           "RootWebArea", "Details", "DisclosureTriangle", "menu", "MenuListPopup", "small", "Legend", "Iframe", "emphasis", "form"}


def named_nodes(page):
    """Returns the role and the name of each node that a screen reader visits."""
    nodes = page.call("Accessibility.getFullAXTree")["nodes"]
    return [(node["role"]["value"], node.get("name", {}).get("value", "").strip()) for node in nodes if not node["ignored"]]


def check_names(page):
    nodes = named_nodes(page)
    lacking = [role for role, name in nodes if not name and role not in unnamed]
    expect(not lacking, f"nodes without a name: {lacking}")
    return nodes


def check_layout(page, width, height, is_phone):
    page.run("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    expect(page.run("innerWidth") == width, f"the window is {page.run('innerWidth')} pixels wide")
    expect(page.run("document.scrollingElement.scrollWidth") <= width, f"the page is {page.run('document.scrollingElement.scrollWidth')} pixels wide")
    beyond = page.run(f"""[...document.querySelectorAll('input, select, button, canvas, .labels span')].filter(one => one.checkVisibility()).map(
        one => [one.id || one.textContent, one.getBoundingClientRect()]).filter(([, r]) => r.width && (r.left < 0 || r.right > {width} + 0.5)).map(([id]) => id)""")
    expect(not beyond, f"beyond the window: {beyond}")
    covered = page.run("""(() => { const labels = [...document.querySelectorAll('.labels span')].map(one => one.getBoundingClientRect());
        return labels.flatMap((a, i) => labels.slice(i + 1).filter(b => a.left < b.right && b.left < a.right && a.top < b.bottom - 1 && b.top < a.bottom - 1)).length; })()""")
    expect(not covered, f"{covered} labels cover others")
    picture, aside = (page.run(f"(r => [r.left, r.top, r.right, r.bottom])(document.querySelector('{name}').getBoundingClientRect())") for name in ("#picture", "aside"))
    expect(picture[2] - picture[0] > 0.6 * width and picture[3] - picture[1] > 0.3 * height, f"the picture is at {picture}")
    if is_phone:
        expect(aside[1] >= picture[3] and aside[2] - aside[0] > 0.9 * width, f"there is no single column: {picture}, {aside}")
        small = page.run("""[...document.querySelectorAll('button, select')].filter(one => one.checkVisibility()).filter(
            one => one.getBoundingClientRect().height < 35).map(one => one.id || one.ariaLabel)""")
        expect(not small, f"too small for fingers: {small}")
        # The picture stays in view while properties are changed.
        page.run("window.scrollTo(0, document.querySelector('[data-name=backend]').getBoundingClientRect().top - 600)")
        top = page.wait("(r => r.top > -1 && r.top < 5 && [r.top])(document.getElementById('picture').getBoundingClientRect())", "the picture in view")
        expect(top[0] < 5, f"the picture is at {top}")
        page.run("window.scrollTo(0, 0)")
    else:
        expect(aside[0] >= picture[2] and page.run("document.scrollingElement.scrollHeight") <= height, f"the columns are {picture}, {aside}")


@test("pipelines/explore.py has a name for each node of the accessibility tree, and a layout for desktops and phones")
def _(place):
    film = "--element", "cudahistequalize", examples / "vtest.avi", "regions=0.1,0.1,0.2,0.2"
    pair = place.materials / "left.png", place.materials / "right.png", "num-disparities=32"
    for arguments in (film, pair):
        with Explored(place, *arguments) as explored:
            page = explored.page
            page.call("Accessibility.enable")
            painted(page)
            page.wait("document.querySelectorAll('#series-labels span').length > 3", "the curves")
            for width, height, is_phone in sizes:
                page.resize(width, height, is_phone)
                check_layout(page, width, height, is_phone)
                names = check_names(page)
            for wanted in (("button", "reset backend"), ("button", "pause"), ("searchbox", "search properties"), ("combobox", "element"), ("combobox", "backend"),
                           ("slider", "divider between the pictures"), ("button", "reset all"),
                           *([("slider", "position in the video"), ("slider", "strength, slider"), ("textbox", "smoothing-time ms"), ("button", "reset strength")]
                             if arguments == film else [("radio", "ruler"), ("textbox", "max-skew ms")])):
                expect(wanted in names, f"there is no {wanted} among {sorted(set(names))}")
            expect(("button", "reset") not in names, "a reset does not say of what")
            # Checks the page with a refusal and with each dialog.
            page.run("document.getElementById('search').value = 'zzz'")
            put(page, "frames-in-flight", "99")
            page.wait("!!document.querySelector('.refused')", "the refusal")
            check_names(page)
            page.run("document.getElementById('copy').click()")
            page.wait("document.getElementById('lines').open", "the lines")
            expect(("dialog", "The current pipeline, to copy") in check_names(page), "the dialog has no name")
            page.run("document.getElementById('lines').close(); document.getElementById('choose').click()")
            page.wait("document.getElementById('files').open", "the files")
            check_names(page)
            page.run("document.getElementById('files').close()")


@test("pipelines/explore.py: divider, regions, ruler and points work by keys and by touch")
def _(place):
    with Explored(place, "--element", "cudagaussblur", "sigma=9", examples / "fruits.jpg") as explored:
        page = explored.page
        painted(page)
        share = "Number(document.getElementById('picture').ariaValueNow)"
        page.run("document.getElementById('picture').focus()")
        page.press("ArrowLeft", "ArrowLeft", "ArrowDown")
        expect(page.run(share) == 47, f"the divider is at {page.run(share)}")
        page.press("ArrowRight", shift=True)
        expect(page.run(share) == 57, f"the divider is at {page.run(share)}")
        page.press("End")
        expect(page.run(share) == 100, "the divider does not go to the end")
        choose(page, "region")
        page.run("document.getElementById('picture').focus()")
        page.press("ArrowLeft", "ArrowUp", shift=True)
        page.press("Enter")
        page.press("ArrowRight", "ArrowDown", shift=True)
        page.press("Enter")
        page.wait("document.getElementById('property-regions').value === '0.4000,0.4000,0.1000,0.1000'", "the region by keys")
        page.resize(390, 844, True)
        painted(page)
        page.touch([middle(page, 0.2, 0.3)], [middle(page, 0.3, 0.4)], [middle(page, 0.4, 0.5)])
        page.wait("document.getElementById('property-regions').value.split(';').length === 2", "the region by touch")
        page.run("document.getElementById('picture').focus()")
        page.press("Delete")
        page.wait("document.getElementById('property-regions').value === '0.4000,0.4000,0.1000,0.1000'", "the region without the last")
        choose(page, "divider")
        page.touch([middle(page, 0.9, 0.5)], [middle(page, 0.7, 0.5)], [middle(page, 0.5, 0.5)])
        expect(abs(page.run(share) - 50) < 2, f"the divider is at {page.run(share)} after a touch")
        expect(page.run("scrollY") == 0, "the page is scrolled by what touches the picture")
    pair = place.materials / "left.png", place.materials / "right.png", "num-disparities=32", "focal-length=100", "baseline=60"
    with Explored(place, *pair) as explored:
        page = explored.page
        painted(page)
        choose(page, "ruler")
        page.run("document.getElementById('picture').focus()")
        page.press("Enter")
        page.press("ArrowRight", "ArrowRight", shift=True)
        page.press("Enter")
        page.wait("/: [0-9.]+ m apart$/.test(document.getElementById('pointer').textContent)", "the ruler by keys")
        page.run("document.getElementById('show-cloud').click()")
        page.wait("document.getElementById('cloud').dataset.points > 100", "the points")
        view = "document.getElementById('cloud').dataset.view"
        page.run("document.getElementById('cloud').focus()")
        for keys, shift, shown in ((["ArrowRight", "ArrowDown"], False, "0.050 0.050 0.000 0.000 1.000"), (["ArrowLeft"], True, "0.050 0.050 -0.050 0.000 1.000"),
                                   (["+"], False, "0.050 0.050 -0.050 0.000 1.105"), (["0"], False, "0.000 0.000 0.000 0.000 1.000")):
            page.press(*keys, shift=shift)
            expect(page.run(view) == shown, f"{keys}: {page.run(view)}")
        page.resize(390, 844, True)
        page.touch([middle(page, 0.5, 0.5, "cloud")], [middle(page, 0.6, 0.5, "cloud")])
        turned = page.run(view).split()
        expect(float(turned[0]) > 0.1 and turned[4] == "1.000", f"one finger: {turned}")
        near, far = ([middle(page, 0.5 - way, 0.5, "cloud"), middle(page, 0.5 + way, 0.5, "cloud")] for way in (0.1, 0.3))
        page.touch(near, far)
        expect(2.5 < float(page.run(view).split()[4]) < 3.5, f"two fingers: {page.run(view)}")
        page.run("document.getElementById('view').click()")
        expect(page.run(view) == "0.000 0.000 0.000 0.000 1.000", f"the reset: {page.run(view)}")
        expect(not page.run("document.getElementById('view').hidden") and text(page, "view") == "reset view", "its button")
