# SPDX-License-Identifier: LGPL-2.1-or-later
"""Calibrates in the page, as calibrate.py does in a window: takes pairs of pictures, shows an overview, and prints a verdict."""
import asyncio
import os
import sys

import calibrate
import cv2
from calibration.boards import Chessboard
from calibration.inputs import StillPairs, pairs_of_stream, stream_pairs
from calibration.precision import Precision
from calibration.preview import overview
from calibration.solve import Outcome, min_pairs
from calibration.verdict import verdict
from explore.inputs import Unusable
from explore.pictures import message_of


class Calibration:
    """Calibrates in a separate thread. The event loop of the session sends the pictures and texts to the browsers."""

    def __init__(self, session, arguments):
        self.session, self.arguments = session, arguments

    async def begin(self):
        """Calibrates, then starts the element with the new calibration."""
        self.session.is_busy = True
        try:
            verdict = await asyncio.to_thread(self.run)
        except Unusable as reason:
            return self.session.banner("error", str(reason))
        finally:
            self.session.is_busy = False
        self.session.exploration.settings["calibration"] = os.path.abspath(self.arguments.calibrate)
        await self.session.control(self.session.exploration.start)
        return self.session.banner("note", f"{self.arguments.calibrate}: {verdict}")

    def show(self, pair, taken, hint):
        if self.session.is_ending:
            raise Unusable("The calibration has been interrupted.")
        picture = overview(pair, taken, self.arguments.pairs, hint)
        scale = min(1, 1600 / picture.shape[1])
        jpeg = cv2.imencode(".jpg", cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA))[1].tobytes()
        text = f"pair {min(len(taken) + 1, self.arguments.pairs)} of {self.arguments.pairs}: {hint}"
        self.session.loop.call_soon_threadsafe(self.send, text, message_of({"is": "overview"}, jpeg))

    def send(self, text, picture):
        self.session.broadcast({"is": "calibration", "text": text})
        for browser in self.session.browsers:
            # Skips browsers whose connection is so slow that earlier messages are still queued.
            if browser.outgoing.qsize() < 4:
                browser.post(picture)

    def run(self):
        """Writes the calibration and returns the verdict. Raises Unusable if the calibration fails or is bad."""
        try:
            board = Chessboard(*self.arguments.board, self.arguments.square)
            pairs = pairs_of_stream(StillPairs(board, stream_pairs([one.name for one in self.session.exploration.inputs]), self.show), self.arguments.pairs)
            if len(pairs) < min_pairs:
                raise Unusable(f"The board was found and still in {len(pairs)} pairs, but at least {min_pairs} are needed. Does --board match the number of inner corners?")
            height, width = pairs[0].pictures[0].shape
            outcome = Outcome(pairs, board, (width, height), False, False, -1)
        except SystemExit as end:
            raise Unusable(str(end)) from None
        except cv2.error as error:
            raise Unusable(f"OpenCV cannot calibrate with these pictures ({error.err}). Take new pictures, with the board tilted in different directions.") from None
        precision = Precision(outcome.result, False)
        outcome.result.write(self.arguments.calibrate)
        print(f"Writing {self.arguments.calibrate}", file=sys.stderr)
        calibrate.report(outcome, precision)
        is_usable, text = verdict(outcome.result, precision)
        if not is_usable:
            raise Unusable(text)
        return text
