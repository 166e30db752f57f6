#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Serves a web page that shows the output of an element for a picture, a video, a camera or a stereo pair, and that can change
the properties of the element. Without an input, it uses pictures and a video of Debian's package opencv-doc."""
import argparse
import asyncio
import functools
import re
import shlex
import signal
import socket
import sys

import argtypes
import frames

try:
    import aiohttp  # noqa: F401  (imported here only to report that it is missing)
except ImportError as error:
    sys.exit(f"{error}. Run this, and start this program with the system's Python:\n  sudo apt-get install python3-aiohttp libjs-three\n"
             f"  /usr/bin/python3 {shlex.join(sys.argv)}")

from explore.inputs import Input, Unusable, examples
from explore.pipeline import Exploration
from explore.properties import elements, takes_pairs
from explore.server import Server
from explore.session import Session


def parse():
    parser = argparse.ArgumentParser(description=__doc__, usage="%(prog)s [INPUT [INPUT]] [--element ELEMENT] [PROPERTY=VALUE ...] [option ...]")
    parser.add_argument("words", nargs="*", metavar="INPUT or PROPERTY=VALUE",
                        help="a file, a camera such as /dev/video0, or a URI; two inputs are the left and the right input of a pair. PROPERTY=VALUE sets a property of the element")
    parser.add_argument("--element", help="the element to show (default: cudasgmstereo for pairs and without an input, else cudahistequalize)")
    parser.add_argument("--packed", action="store_true", help="each frame of the input holds both pictures, side by side")
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on; 0.0.0.0 also admits other machines (default: %(default)s)")
    parser.add_argument("--port", type=argtypes.number_in(0, 65535), default=0, help="the port to listen on (default: a free port)")
    parser.add_argument("--calibrate", metavar="OUT.yml", help="calibrate the two cameras first, then continue with the result")
    parser.add_argument("--square", type=argtypes.length, metavar="MM", help="with --calibrate: length of a square of the board, in mm")
    parser.add_argument("--board", type=argtypes.board_size, default=(9, 6), metavar="COLUMNSxROWS", help="with --calibrate: inner corners of the chessboard (default: 9x6)")
    parser.add_argument("--pairs", type=argtypes.number_in(), default=15, help="with --calibrate: how many pairs to take (default: %(default)s)")
    arguments = parser.parse_intermixed_args()
    settings = [word for word in arguments.words if re.match(r"[a-z][a-z0-9-]*=", word)]
    arguments.settings = dict(word.split("=", 1) for word in settings)
    arguments.inputs = [word for word in arguments.words if word not in settings]
    count = len(arguments.inputs)
    for is_wrong, text in (
            (count > 2, f'"{"".join(arguments.inputs[2:3])}" is one input too many'),
            (arguments.packed and count != 1, f"--packed needs one input, whose frames hold both pictures, but there are {count or 'none'}"),
            (arguments.calibrate and count != 2 - arguments.packed, f"--calibrate needs two inputs, or one with --packed, not {count}"),
            (arguments.calibrate and arguments.square is None, "--calibrate needs --square: measure a square of the board, and set its length in mm")):
        if is_wrong:
            parser.error(text)
    if arguments.calibrate:
        from calibrate import endings, min_pairs
        if not arguments.calibrate.endswith(endings):
            parser.error(f'"{arguments.calibrate}" has an unsupported extension: use .yml, .yaml, .xml or .json')
        frames.check_output(arguments.calibrate, *arguments.inputs)
        if arguments.pairs < min_pairs:
            parser.error(f"--pairs needs a number of at least {min_pairs}, not {arguments.pairs}")
    arguments.element = arguments.element or ("cudahistequalize" if count == 1 and not arguments.packed else "cudasgmstereo")
    return parser, arguments


def inputs_of(arguments, factory):
    """Returns the inputs, and the property settings, with which the page starts an element."""
    if not arguments.inputs:
        names, settings = examples.get(factory, (["vtest.avi"], {}))
        return [Input(frames.examples + name) for name in names], {**settings, **(arguments.settings if factory == arguments.element else {})}
    settings = arguments.settings if factory == arguments.element else {}
    return [Input(name) for name in arguments.inputs], {**({"frame-packing": "side-by-side"} if arguments.packed else {}), **settings}


async def serve(arguments, exploration):
    offered = [name for name in elements() if not arguments.inputs or takes_pairs(name) == exploration.is_stereo]
    session = Session(exploration, functools.partial(inputs_of, arguments), offered)
    server = Server(session, arguments.host, arguments.port)
    try:
        await server.start()
    except OSError as error:
        sys.exit(f"{arguments.host}, port {arguments.port}: {error.strerror}. Choose another --host or --port, or leave them out.")
    say_link(server)
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        session.loop.add_signal_handler(number, stopped.set)
    begin = functools.partial(session.control, exploration.start)
    if arguments.calibrate:
        from explore.calibrating import Calibration
        begin = Calibration(session, arguments).begin
    tasks = [asyncio.ensure_future(one()) for one in (begin, session.report)]
    await stopped.wait()
    session.is_ending = True
    tasks[1].cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await server.close()
    await session.close()


def say_link(server):
    own = server.host.startswith("127.") or server.host in ("localhost", "::1")
    name = server.host if own else socket.gethostname()
    print(f"Open http://{f'[{name}]' if ':' in name else name}:{server.port}/?token={server.token}", flush=True)
    if own:
        print(f"From another machine: ssh -L {server.port}:127.0.0.1:{server.port} {socket.gethostname()}, and open the same link there. "
              "Ctrl-C ends.", flush=True)


def main():
    parser, arguments = parse()
    frames.find_elements()
    if arguments.element not in elements():
        parser.error(f"--element={arguments.element} is not an element of this plug-in: choose one of {', '.join(elements())}")
    try:
        inputs, settings = inputs_of(arguments, arguments.element)
    except Unusable as reason:
        sys.exit(str(reason))
    try:
        exploration = Exploration(arguments.element, inputs, settings)
    except Unusable as reason:
        parser.error(str(reason))
    asyncio.run(serve(arguments, exploration))


if __name__ == "__main__":
    main()
