#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints which values the elements accept and which they refuse, for example "cudagaussblur kernel-size 4 refused".
While one property is tried, most others have their defaults. Tries the ends of each range, the limits in
pipelines/explore/limits.py, some numbers near both, and the nicks of enumerations."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "pipelines"))
import frames  # noqa: E402  pylint: disable=wrong-import-position
from explore import limits  # noqa: E402  pylint: disable=wrong-import-position
from explore.properties import Properties, elements, takes_pairs  # noqa: E402  pylint: disable=wrong-import-position
from gi.repository import Gst  # noqa: E402  pylint: disable=wrong-import-position

hang = 600 * Gst.SECOND


def is_accepted(factory, settings):
    """Returns true if the element processes a frame, or a pair, without refusing its settings."""
    source = "videotestsrc num-buffers=1 pattern=snow ! video/x-raw,format=RGB,width=32,height=32 ! element."
    sinks = (["sink"] if not takes_pairs(factory) else ["sink_left"] if settings.get("frame-packing") in limits.packed else ["sink_left", "sink_right"])
    words = " ".join(f"{name}={value}" for name, value in settings.items())
    pipeline = Gst.parse_launch(f"{factory} name=element {words} ! fakesink " + " ".join(source + sink for sink in sinks))
    pipeline.set_state(Gst.State.PLAYING)
    kinds, verdict = Gst.MessageType.ERROR | Gst.MessageType.WARNING | Gst.MessageType.EOS, None
    while verdict is None:
        message = pipeline.get_bus().timed_pop_filtered(hang, kinds)
        if message is None or message.type == Gst.MessageType.ERROR:
            verdict = False
        elif message.type == Gst.MessageType.EOS:
            verdict = True
        elif limits.refusal in message.parse_warning()[0].message:
            verdict = False
    pipeline.set_state(Gst.State.NULL)
    return verdict


def values_of(properties, name):
    spec, control = properties.specs[name], properties.control(name, properties.specs[name])
    if control["kind"] == "list":
        return [value.value_nick for value in type(spec.default_value).__enum_values__.values()]
    if control["kind"] != "number":
        return []
    low, high, table = spec.minimum, spec.maximum, limits.numbers.get(properties.factory, {}).get(name, {})
    edges = [low, high, *(table[end] for end in ("from", "to") if end in table)]
    found = {*edges, *table.get("also", ())}
    if control["whole"]:
        found |= {edge + way for edge in edges for way in (-2, -1, 1, 2, 3, 7, 32, table.get("step", 1))}
    if not control["whole"] and table.get("from", low) - low >= 1:
        found |= {low + 0.1, low + 0.9}
    return sorted(value for value in found if low <= value <= high)


def main():
    frames.find_elements()
    for factory in elements():
        properties = Properties(factory)
        usual = {"focal-length": 100, "baseline": 100, "num-disparities": 32} if takes_pairs(factory) else {}
        for name in properties.specs:
            # backend is skipped, because its values also depend on the machine.
            for value in values_of(properties, name) if properties.is_writable(name) and name != "backend" else ():
                verdict = is_accepted(factory, {"backend": "cpu", **usual, name: value})
                print(factory, name, value, "accepted" if verdict else "refused", flush=True)


if __name__ == "__main__":
    main()
