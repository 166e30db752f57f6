# SPDX-License-Identifier: LGPL-2.1-or-later
"""Guards of the tables of properties: the elements' pages and explore's limits agree with the plug-in."""
import re

from guard import Skip, guard

# The properties of GStreamer's own base classes.
INHERITED = {"name", "parent", "qos", "latency", "min-upstream-latency", "start-time", "start-time-selection", "emit-signals"}
DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹−", "0123456789-")


def number(text):
    """Parses a number as pages write it: 1.5, −1, 10⁶, 2³¹ − 1, 1/256, 0xff000000 or, for ns, 1 s."""
    if found := re.fullmatch(r"(\d+)([⁰¹²³⁴⁵⁶⁷⁸⁹]+)( − 1)?", text):
        return float(int(found[1]) ** int(found[2].translate(DIGITS)) - bool(found[3]))
    text = text.translate(DIGITS)
    if text.startswith("0x"):
        return float(int(text, 16))
    if text.endswith(" s"):
        return float(text[:-2]) * 1e9
    numerator, _, denominator = text.partition("/")
    return float(numerator) / float(denominator or 1)


def numbers(text):
    return [number(found) for found in re.findall(r"(?<![\w`])−?(?:\d+[⁰¹²³⁴⁵⁶⁷⁸⁹]+(?: − 1)?|\d+/\d+|\d+(?:\.\d+)?)(?!\w)", text)]


class Property:
    """A property as gst-inspect-1.0 shows it."""

    def __init__(self, shown):
        self.writable = "writable" in shown.splitlines()[0]
        self.live = "controllable" in shown.splitlines()[0]
        limits = re.search(r"Range: +(\S+) - +(\S+) ", shown)
        self.limits = [float(limit) for limit in limits.groups()] if limits else None
        self.boolean = "Boolean." in shown
        self.own_enum = re.search(r'Enum "GstCuda', shown) is not None
        self.names = re.findall(r"^ +\(-?\d+\): (\S+) ", shown, re.M)
        self.default = re.search(r'Default: +(?:-?\d+, )?"?(.*?)"?\s*$', shown, re.M)[1]

    def values_error(self, values):
        """Explains wrong values of a page. Ignores limits that the page omits, and a maximum that depends on another property."""
        if self.boolean:
            return "" if values == "boolean" else "it is boolean"
        if self.names and "`" in values:
            named = set(re.findall(r"`([^`]+)`", values))
            good = named == set(self.names) if self.own_enum else named <= set(self.names)
            return "" if good else f"its values are {', '.join(self.names)}"
        found = numbers(values) if self.limits else []
        if found and min(found) != self.limits[0]:
            return f"its minimum is {self.limits[0]:g}"
        closed = len(found) > 1 and "`" not in values
        return f"its maximum is {self.limits[1]:g}" if closed and max(found) != self.limits[1] else ""

    def default_error(self, text):
        text = text.strip("`").replace("empty", "")
        if not self.writable:
            return ""
        same = number(text) == float(self.default) if self.limits and re.match(r"[−\d]", text) else text == self.default
        return "" if same else f"its default is {self.default}"

    def live_error(self, text):
        right = ("yes",) if self.live else ("no",) if self.writable else ("no", "")
        return "" if text in right else f"live must be {right[0]}"


def properties(build, element):
    shown = build.play("gst-inspect-1.0", element).text
    found = re.findall(r"^  ([\w-]+) *: .*\n +(flags: .*\n(?: {4}.*\n)+)", shown, re.M)
    return {name: Property(text) for name, text in found if name not in INHERITED}


def rows(page):
    """Yields each row of a page's tables of properties: the names, and the other cells by column title."""
    for head, body in re.findall(r"^\| property \| (values .*) \|\n\|[-|]+\n((?:\|.*\n)+)", page, re.M):
        for row in body.splitlines():
            cells = [cell.strip() for cell in row.strip("|").split(" |")]
            yield re.findall(r"`([\w-]+)`", cells[0]), dict(zip(head.split(" | "), cells[1:]))


def row_errors(name, shown, cells):
    if cells["values"]:
        yield shown.values_error(cells["values"])
        yield shown.default_error(cells["default"])
    if "live" in cells:
        yield shown.live_error(cells["live"])


@guard("the tables of properties in docs/elements/ agree with the plug-in", reads=("docs/", "gst/"))
def property_tables(tree, build):
    elements = {element: properties(build, element) for element in tree.elements}
    common = list(rows(tree.text("docs/elements/common.md")))
    wrong = []
    for element, own in elements.items():
        named = set()
        for names, cells in rows(tree.text(f"docs/elements/{element}.md")):
            named.update(names)
            wrong += [f"{element} has no {name}" for name in names if name not in own]
            wrong += [f"{element}: {name}: {error}" for name in names if name in own
                      for error in row_errors(name, own[name], cells) if error]
        wrong += [f"{element}: no row for {name}" for name in own if name not in named]
        wrong += [f"common.md: {name}: {error}" for names, cells in common for name in names if name in own
                  for error in row_errors(name, own[name], cells) if error]
    return ", ".join(sorted(set(wrong))) if all(elements.values()) and elements else "an element shows no properties"


@guard("pipelines/explore/limits.py lists the values that the elements accept", reads=("pipelines/explore/", "pipelines/frames.py", "gst/"))
def explored_limits(tree, build):
    limits = {}
    exec(tree.text("pipelines/explore/limits.py"), limits)  # pylint: disable=exec-used
    result = build.play(tree.top / "tests/guards/probe_limits.py")
    if "No module named" in result.text:
        raise Skip(result.last())
    tried = [line.split() for line in result.out.splitlines()]
    if result.status or not tried:
        return f"probe_limits.py fails: {result.last()}"
    wrong = []
    for element, name, value, verdict in tried:
        words = limits["words"].get(element, {}).get(name, {value})
        is_offered = limits["accepts"](element, name, float(value)) if re.match(r"-?[\d.]", value) else value in words
        if is_offered != (verdict == "accepted"):
            wrong.append(f"{element} {name}={value} is {verdict}")
    known = {(element, name) for element, name, _, _ in tried}
    wrong += [f"{element} has no {name}" for table in (limits["numbers"], limits["words"]) for element, names in table.items()
              for name in names if (element, name) not in known]
    return ", ".join(wrong)
