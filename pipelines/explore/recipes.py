# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes the texts that the page copies: a command line, a Python program and a C++ program. For photographs, the
programs write the result to a file; for videos and cameras, they show the result."""
import shlex

import frames

python = '''#!/usr/bin/python3
import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst

Gst.init(None)
pipeline = Gst.parse_launch({description!r})
pipeline.set_state(Gst.State.PLAYING)
message = pipeline.get_bus().timed_pop_filtered(Gst.CLOCK_TIME_NONE, Gst.MessageType.EOS | Gst.MessageType.ERROR)
pipeline.set_state(Gst.State.NULL)
if message.type == Gst.MessageType.ERROR:
    sys.exit(message.parse_error()[0].message)
'''

cpp = '''// g++ explored.cpp $(pkg-config --cflags --libs gstreamer-1.0) -o explored
#include <gst/gst.h>

int main(int argc, char** argv) {{
  gst_init(&argc, &argv);
  GError* error = nullptr;
  GstElement* pipeline = gst_parse_launch(R"pipeline({description})pipeline", &error);
  if (!pipeline) g_error("%s", error->message);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  GstMessage* message = gst_bus_timed_pop_filtered(gst_element_get_bus(pipeline), GST_CLOCK_TIME_NONE, GstMessageType(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
  gst_element_set_state(pipeline, GST_STATE_NULL);
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS) return 0;
  gst_message_parse_error(message, &error, nullptr);
  g_printerr("%s\\n", error->message);
  return 1;
}}
'''


def description_of(exploration):
    """Returns a pipeline with the inputs of the exploration and the properties that differ from their defaults."""
    settings = " ".join(f"{name}={frames.quoted(text)}" if not text.replace("-", "").replace(".", "").isalnum() else f"{name}={text}"
                        for name, text in exploration.properties.changed(exploration.settings).items())
    caps = exploration.output_caps()
    element = f"{exploration.properties.factory}{' name=element' if exploration.is_stereo else ''} {settings}".rstrip() + (f" ! {caps}" if caps else "")
    left, *right = exploration.inputs
    end = "pngenc snapshot=true ! filesink location=explored.png" if left.is_photograph else "autovideosink"
    if not exploration.is_stereo:
        return f"{left.once()} ! {element} ! videoconvert ! {end}"
    sources = f"{left.once()} ! element.sink_left" + "".join(f"  {one.once()} ! element.sink_right" for one in right)
    return f"{element} ! videoconvert ! {end}  {sources}"


def recipes(exploration):
    description = description_of(exploration)
    words = [word if word == "!" else shlex.quote(word) for word in shlex.split(description)]
    return {"shell": f"gst-launch-1.0 {' '.join(words)}", "python": python.format(description=description), "cpp": cpp.format(description=description)}
