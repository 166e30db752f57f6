#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Plots the luminance histogram of a video live, from the messages of cudahistequalize. If OUT is given or there is no display,
writes the last plot to a file instead."""
import argparse
import sys
import time

import frames
import numpy

try:
    import matplotlib
except ImportError as error:
    sys.exit(f"{error}. Install it: sudo apt-get install python3-matplotlib")


class Plot:
    def __init__(self, pyplot):
        self.pyplot = pyplot
        self.figure, self.axes = pyplot.subplots()
        self.curve = None
        self.axes.set_xlabel("luminance")
        self.axes.set_ylabel("share of the pixels")

    def draw(self, statistics):
        """Plots the histogram in a message of cudahistequalize."""
        # The field holds 64-bit counts in native byte order.
        bins = numpy.frombuffer(statistics.get_value("bins").get_data(), numpy.uint64)
        shares = bins / bins.sum()
        if self.curve is None:
            self.curve, = self.axes.plot(shares)
        self.curve.set_data(numpy.arange(bins.size), shares)
        self.axes.relim()
        self.axes.autoscale_view()
        self.axes.set_title("{:.1f} s: {} pixels, mean {:.1f}, entropy {:.2f} bits".format(
            statistics.get_value("running-time") / 1e9, bins.sum(), statistics.get_value("mean"),
            statistics.get_value("entropy")))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("input", nargs="?", default=frames.examples + "vtest.avi", help="a video, a picture, a camera or a URI (default: %(default)s)")
    parser.add_argument("out", nargs="?", metavar="OUT.png", help="file for the last plot: .png, .svg or .pdf (default without a display: histogram.png)")
    arguments = parser.parse_args()
    out = arguments.out or "histogram.png"
    if not out.endswith((".png", ".svg", ".pdf")):
        parser.error(f'"{out}" has an unsupported extension: use .png, .svg or .pdf')
    if arguments.out or not frames.display_set():
        matplotlib.use("Agg")
    from matplotlib import pyplot

    # Without a GUI toolkit, Matplotlib uses agg, which has no windows.
    live = pyplot.get_backend().lower() != "agg"
    frames.readable(arguments.input)
    if not live:
        frames.check_output(out, arguments.input)
    plot = Plot(pyplot)
    # strength=0: frames pass unchanged and are only measured. Ten messages per second suffice for a plot.
    sink = "videoconvert ! autovideosink" if live else "fakesink"
    with frames.Player(f"{frames.source_of(arguments.input)} ! cudahistequalize strength=0 "
                       f"post-messages=true message-interval=100000000 ! {sink}") as player:
        latest, drawn = None, 0
        for message in player.messages(0.02):
            if live and not pyplot.fignum_exists(plot.figure.number):
                break  # the window was closed
            if message and message.get_name() == "cudahistequalize":
                latest = message
            # Drawing may take longer than the interval between messages, so only the latest message is drawn.
            if live and latest and time.monotonic() > drawn + 0.1:
                plot.draw(latest)
                pyplot.pause(0.01)
                drawn = time.monotonic()
    if not live and latest:
        plot.draw(latest)
        plot.figure.savefig(out)
        print(f"{out}: {plot.axes.get_title()}")


if __name__ == "__main__":
    main()
