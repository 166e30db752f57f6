# SPDX-License-Identifier: LGPL-2.1-or-later
"""Restrictions on property values that GObject's ranges do not express: numbers, and values of GStreamer's own enumerations.
They hold while all other properties have their defaults. tests/guards compares these tables with the elements."""

# If a warning of a playing element contains this sentence, the element has refused a value.
refusal = "Keeping the previous settings."

# Valid numbers are "from" + n * "step" up to "to", and the numbers in "also". If there is no "step", all numbers from "from"
# to "to" are valid.
odd = {"from": 1, "step": 2}
numbers = {
    "cudadenoise": {"strength": {"from": 0, "also": [-1]}, "chroma-strength": {"from": 0, "also": [-1]},
                    "search-size": odd, "patch-size": odd, "frames": odd},
    "cudagaussblur": {"kernel-size": {**odd, "also": [0]}, "kernel-size-y": {**odd, "also": [0]}},
    "cudasgmstereo": {"num-disparities": {"from": 32, "step": 32}, "paths": {"from": 4, "step": 4}, "memory-budget": {"from": 1e-3},
                      "alpha": {"from": 0, "also": [-1]}, "noise": {"from": 0, "also": [-1]}, "max-skew": {"from": 0, "also": [-1]},
                      "p1": {"to": 222}, "p2": {"from": 2, "to": 223, "also": [0]}},
}

# Values of frame-packing with their descriptions. packed: for one input whose frames hold both pictures. pair: for two inputs.
packed = {"side-by-side": "both pictures side by side", "top-bottom": "the left picture above the right one"}
pair = {"none": "as the caps say", "mono": "one picture in each frame, whatever the caps say",
        "left": "the same as mono", "right": "the same as mono"}
words = {"cudasgmstereo": {"frame-packing": {**pair, **packed}}}


def accepts(factory, name, number):
    """Returns True if the table allows this number. The number must be in the range of the property."""
    limits = numbers.get(factory, {}).get(name, {})
    low, step = limits.get("from", number), limits.get("step")
    return number in limits.get("also", ()) or (low <= number <= limits.get("to", number) and (not step or (number - low) % step == 0))
