# SPDX-License-Identifier: LGPL-2.1-or-later
"""The properties of an element: describes them for the page, and converts their values from and to the texts of
gst-launch-1.0."""
import functools
import math
import re

from explore import limits
from explore.inputs import Unusable
from gi.repository import GObject, Gst

mutable_playing = 1 << 12  # GST_PARAM_MUTABLE_PLAYING, which has no name in Python
first_basics = 8
groups = {"Device": ("backend", "cuda-device-id", "active-backend", "frames-in-flight", "memory-budget"),
          "Messages": ("post-messages", "message-interval", "diagnostics-interval", "detections")}


def elements():
    """Returns the names of the plug-in's elements."""
    return sorted(feature.get_name() for feature in Gst.Registry.get().get_feature_list_by_plugin("cudavision"))


def make(factory):
    return Gst.ElementFactory.make(factory, None)


def takes_pairs(factory):
    return any(pad.name_template == "sink_left" for pad in Gst.ElementFactory.find(factory).get_static_pad_templates())


@functools.cache
def has_card():
    """Returns True if the elements find a usable GPU on this machine."""
    element = make(elements()[0])
    element.set_state(Gst.State.READY)
    backend = element.get_property("active-backend").value_nick
    element.set_state(Gst.State.NULL)
    return backend == "cuda"


def text_of(spec, value):
    if isinstance(value, GObject.GEnum):
        return value.value_nick
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}" if float(f"{value:g}") == value else repr(value)
    return f"0x{value:08x}" if spec.name.endswith("-color") else "" if value is None else str(value)


def is_real(spec):
    return spec.value_type in (GObject.TYPE_DOUBLE, GObject.TYPE_FLOAT)


def is_time(spec):
    """Returns True if the property is a time in ns, according to its blurb. The page shows all times in ms."""
    return re.search(r"\bin ns\b", spec.blurb) is not None


class Properties:
    def __init__(self, factory):
        self.factory = factory
        element = make(factory)
        # Leaves out the properties of GStreamer's base classes.
        own = [spec for spec in element.list_properties() if spec.owner_type.name.startswith("GstCuda")]
        own.sort(key=lambda spec: spec.name != "preset")
        self.specs = {spec.name: spec for spec in own}
        self.defaults = {name: self.text(element, name) for name in self.specs}

    def text(self, element, name):
        return text_of(self.specs[name], element.get_property(name))

    def texts(self, element):
        return {name: self.text(element, name) for name in self.specs}

    def is_live(self, name):
        return bool(self.specs[name].flags & mutable_playing)

    def is_writable(self, name):
        return bool(self.specs[name].flags & GObject.ParamFlags.WRITABLE)

    def check(self, name):
        if name not in self.specs or not self.is_writable(name):
            raise Unusable(f"{self.factory} has no property {name} that can be set: gst-inspect-1.0 {self.factory} lists its properties")

    def value(self, name, text):
        """Converts a text to a value. Raises Unusable if it is invalid or out of range."""
        self.check(name)
        spec, kind = self.specs[name], self.specs[name].value_type
        if kind == GObject.TYPE_STRING:
            if "\0" in text:
                raise Unusable(f"{name} must not contain zero bytes")
            return text
        if kind == GObject.TYPE_BOOLEAN:
            known = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
        elif kind.is_a(GObject.TYPE_ENUM):
            known = {value.value_nick: value for value in type(spec.default_value).__enum_values__.values()}
        else:
            return self.number(spec, text)
        if text.lower() not in known:
            raise Unusable(f"{name} takes {', '.join(known)}, not \"{text}\"")
        return known[text.lower()]

    def number(self, spec, text):
        try:
            number = float(text) if is_real(spec) else int(text, 0)
        except ValueError:
            number = math.nan
        if not spec.minimum <= number <= spec.maximum:
            unit = " ns" if is_time(spec) else ""
            raise Unusable(f"{spec.name} takes {'a' if is_real(spec) else 'a whole'} number from {spec.minimum:g} to {spec.maximum:g}{unit}, not \"{text}\"")
        return number

    def group(self, name):
        for group, names in groups.items():
            if name in names:
                return group
        if name.startswith("region") or name == "use-roi-meta":
            return "Regions"
        others = [other for other in self.specs if self.is_writable(other) and not any(other in names for names in groups.values())]
        return "Basics" if name in others[:first_basics] else "More" if name in others else "Read only"

    def describe(self):
        """Describes each property for the page, in the order of declaration, but `preset` first."""
        return [{"name": name, "title": spec.nick, "blurb": re.sub(r"\bin ns\b", "in ms", spec.blurb), "default": self.defaults[name], "group": self.group(name),
                 "live": self.is_live(name), **self.control(name, spec)} for name, spec in self.specs.items()]

    def control(self, name, spec):
        """Describes the control that the page shows for a property."""
        if not self.is_writable(name):
            return {"kind": "read-only"}
        if spec.value_type == GObject.TYPE_BOOLEAN:
            return {"kind": "switch"}
        if spec.value_type.is_a(GObject.TYPE_ENUM):
            return {"kind": "list", "choices": self.choices(name, spec)}
        if spec.value_type == GObject.TYPE_STRING or name.endswith("-color"):
            return {"kind": "text"}
        return {"kind": "number", "min": str(spec.minimum), "max": str(spec.maximum), "whole": not is_real(spec), "time": is_time(spec),
                **limits.numbers.get(self.factory, {}).get(name, {})}

    def choices(self, name, spec):
        """Returns the values of an enumeration that work on this machine, each with its description."""
        if words := limits.words.get(self.factory, {}).get(name):
            return list(words.items())
        return [(value.value_nick, value.value_name) for value in type(spec.default_value).__enum_values__.values()
                if (name, value.value_nick) != ("backend", "cuda") or has_card()]

    def changed(self, settings):
        """Returns the settings that differ from the defaults. Applies the settings to a new element in order, because a preset
        changes other properties."""
        element, different = make(self.factory), {}
        for name, text in settings.items():
            value = self.value(name, text)
            if element.get_property(name) != value:
                element.set_property(name, value)
                different[name] = self.text(element, name)
        return different
