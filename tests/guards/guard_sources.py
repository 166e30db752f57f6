# SPDX-License-Identifier: LGPL-2.1-or-later
"""Guards of the sources: includes, forbidden calls, versions and the blocks that document elements."""
import datetime
import graphlib
import posixpath
import re

from guard import guard

OPERATION = ("cuda/core/", "cuda/sync/", "cuda/pixels/", "cuda/regions/")
ELEMENT = ("gst/base/", "gst/flight/", "gst/memory/", "gst/core/", "cuda/")
# The folders whose headers a folder may include, besides its own headers. Folders without an entry may
# include OPERATION in cuda/, and ELEMENT in gst/.
ALLOWED = {"cuda/core": (), "cuda/sync": ("cuda/core/",), "cuda/pixels": ("cuda/core/",),
           "cuda/regions": ("cuda/core/", "cuda/pixels/"),
           "cuda/guided": (*OPERATION, "cuda/windows/"), "cuda/localstatistics": (*OPERATION, "cuda/windows/"),
           "cuda/clahe": (*OPERATION, "cuda/histequalize/", "cuda/histogramaverage/", "cuda/scenecut/"),
           "cuda/histequalize": (*OPERATION, "cuda/histogramaverage/", "cuda/scenecut/"),
           "cuda/nlmeans": (*OPERATION, "cuda/noise/"), "cuda/sgm": (*OPERATION, "cuda/noise/", "cuda/remap/", "cuda/scenecut/", "cuda/speckles/"),
           "gst/core": ("cuda/",), "gst/flight": ("gst/memory/", "gst/core/", "cuda/"), "gst/memory": ("gst/core/", "cuda/"), "gst/plugin.cpp": ("gst/",)}

# The folders of gst/sgmstereo whose headers each folder there may include. All of them may also include the headers
# directly in gst/sgmstereo, which must not include headers of its folders.
STEREO = "gst/sgmstereo/"
STEREO_ALLOWED = {"pairing": (), "rectification": (), "rig/geometry": (), "outputs": ("pairing", "rectification"),
                  "detections": ("pairing", "rectification"),
                  "rig": ("rectification", "rig/geometry"), "pads": ("pairing",),
                  "pipeline": ("pads", "pairing", "outputs", "detections", "rectification", "rig")}


def stereo_stranger(name, other):
    """Returns true if a file of gst/sgmstereo includes a header there that it may not include."""
    if not (name.startswith(STEREO) and other.startswith(STEREO)):
        return False
    folder, included = (path.removeprefix(STEREO).rpartition("/")[0] for path in (name, other))
    if not folder:
        return bool(included) and name.endswith(".h")
    return included not in ("", folder, *STEREO_ALLOWED.get(folder, ()))


def includes(tree):
    """Yields each source with each header that it includes in quotes."""
    for name, text in tree.sources.items():
        for other in re.findall(r'^\s*#\s*include\s*"([^"]+)"', text, re.M):
            yield name, other


@guard("includes point in the allowed direction", alone=True)
def directions(tree):
    strangers, edges = [], 0
    for name, other in includes(tree):
        room = "/".join(name.split("/")[:2])
        allowed = (room + "/", *ALLOWED.get(room, OPERATION if room.startswith("cuda") else ELEMENT))
        if not other.startswith(allowed) or stereo_stranger(name, other):
            strangers.append(f"{name} includes {other}")
        edges += 1
    return ", ".join(strangers) if edges else "no includes were found"


@guard("includes between the folders of an operation, and of gst/base, point one way", alone=True)
def inner_directions(tree):
    """Finds headers directly in cuda/OPERATION or gst/base that include headers of subfolders, and cycles of subfolders."""
    faults, graph = [], graphlib.TopologicalSorter()
    for name, other in includes(tree):
        folder, included = posixpath.dirname(name), posixpath.dirname(other)
        operation = "/".join(name.split("/")[:2])
        if included == folder or not included.startswith(operation + "/") or not name.startswith(("cuda/", "gst/base/")):
            continue
        if folder != operation:
            graph.add(folder, included)
        elif name.endswith((".h", ".cuh")):
            faults.append(f"{name} includes {other}")
    try:
        graph.prepare()
    except graphlib.CycleError as error:
        faults.append(" → ".join(reversed(error.args[1])))
    return ", ".join(faults)


def having(tree, room, pattern):
    """Lists the sources of a room whose text matches the pattern."""
    sources = {name: text for name, text in tree.sources.items() if name.startswith(room)}
    found = [name for name, text in sources.items() if re.search(pattern, text, re.M)]
    return ", ".join(found) if sources else f"{room} has no sources"


@guard("cuda/ and the geometry of camera rigs include no GLib or GStreamer header", alone=True)
def no_glib(tree):
    return having(tree, ("cuda/", "gst/sgmstereo/rig/geometry/"),
                  r'#include *[<"](gst/(?!sgmstereo/rig/geometry/)|glib|gio/|gobject/)')


@guard("in gst/sgmstereo, only pipeline/ pushes buffers and posts messages", alone=True)
def stereo_pushes(tree):
    return ", ".join(name for name, text in tree.sources.items() if name.startswith(STEREO) and not name.startswith(STEREO + "pipeline/")
                     and re.search(r"\b(post_warning|post_information|gst_element_post_message|gst_pad_push|gst_aggregator_finish_buffer)\(", text))


@guard("gst/ includes no CUDA header of its own", alone=True)
def no_toolkit(tree):
    return having(tree, "gst/", r'#include *[<"](cuda|cuda_runtime|cuda_runtime_api|device_launch_parameters)\.h')


@guard("nothing resets, selects or stalls the whole device", alone=True)
def no_device_calls(tree):
    return having(tree, ("cuda/", "gst/"), r"\bcuda(DeviceSynchronize|SetDevice|DeviceReset)\b *\(")


# Functions, macros and members whose value may be NULL instead of a string.
NULLABLE = (r"\b(?:gst_structure_get_string|gst_structure_to_string|gst_video_(?:format|colorimetry|chroma\w*|interlace_mode)_to_string|"
            r"gst_caps_to_string|gst_caps_features_to_string|gst_value_serialize|gst_format_get_name|gst_tag_list_to_string|"
            r"g_value_(?:get|dup)_string|g_quark_to_string|g_type_name|g_strdup_value_contents|gst_pad_get_stream_id|"
            r"gst_(?:object|element|pad)_get_(?:name|path_string)|gst_plugin_get_\w+|dlerror|\w*getenv|"
            r"G_OBJECT_TYPE_NAME|GST_(?:PAD|OBJECT|ELEMENT)_NAME|GST_PAD_TEMPLATE_NAME_TEMPLATE)(?= *\()|\b\w*err\w*->message\b")


@guard("texts of GStreamer and GLib that may be NULL pass text_of() or take_gstring()", alone=True)
def nullable_texts(tree):
    direct = []
    for name, text in tree.sources.items():
        code = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)
        direct += [f"{name} reads {found[0]}" for found in re.finditer(NULLABLE, code)
                   if not re.search(r"\b(?:text_of|take_gstring)\(\s*$", code[:found.start()])]
    return ", ".join(direct)


@guard("only gst/core/caps.cpp asks peers for their caps", alone=True)
def caps_queries(tree):
    return ", ".join(name for name, text in tree.sources.items()
                     if name != "gst/core/caps.cpp" and re.search(r"\bgst_pad_peer_query_caps\b", text))


def number(version):
    return [int(part) for part in version.split(".")]


@guard("every element has a SECTION block with a launch line and a version", alone=True)
def sections(tree):
    wrong = []
    for element, name in tree.elements.items():
        block = re.search(rf"/\*\*\n \* SECTION:element-{element}\n.*?\*/", tree.sources[name], re.S)
        since = block and re.search(r"\n \* Since: ([\d.]+)\n", block[0])
        if not block or f" * @title: {element}\n" not in block[0]:
            wrong.append(f"{name} has no SECTION block for {element}")
        elif not re.search(r"\n \* ## Example launch lines?\n \* \|\[\n \* gst-launch-1\.0 [^]]*" + element, block[0]):
            wrong.append(f"{element}'s SECTION block has no launch line of {element}")
        elif not since or number(since[1]) > number(tree.version):
            wrong.append(f"{element}'s SECTION block has no Since: of a version up to this one")
    return ", ".join(wrong) if tree.elements else "no elements were found"


@guard("NEWS and the Debian package have the version of meson.build, and its date", alone=True)
def versions(tree):
    changelog = tree.text("pipelines/packaging/debian/changelog")
    news, entry = (text.split("\n", 1)[0] for text in (tree.text("NEWS"), changelog))
    dated = re.search(r"^ -- .*>  \w+, (\d+ \w+ \d+) ", changelog, re.M)
    date = datetime.datetime.strptime(dated[1], "%d %b %Y").date() if dated else None
    wrong = []
    if news not in (f"gst-cudavision {tree.version} ({state})" for state in ("not released yet", date)):
        wrong.append(f'NEWS begins with "{news}"')
    if not entry.startswith(f"gst-cudavision ({tree.version}-"):
        wrong.append(f'debian/changelog begins with "{entry}"')
    return " and ".join(wrong) + f", but the version is {tree.version} in meson.build, of {date} in debian/changelog" if wrong else ""
