#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Denoises a video and runs a PyTorch model on its frames: video -> cudadenoise -> model -> encoder. On a machine with a GPU,
frames stay in GPU memory from cudadenoise to the output of the model.

The model takes RGB values from 0 to 1 in a tensor of the shape 1x3xHxW, and returns a tensor of the shape 1x1xH'xW' (gray) or
1x3xH'xW' (RGB). Without --model, a built-in model marks edges."""
import argparse
import sys

import argtypes
import cudatensors
import frames
from frames import Gst

try:
    import torch
except ImportError:
    sys.exit("This example needs PyTorch: sudo apt-get install python3-torch, or pip install torch for CUDA")


class Edges(torch.nn.Module):
    """A model that returns the magnitude of the luma gradient, by Sobel kernels."""

    def __init__(self):
        super().__init__()
        luma = torch.tensor([0.299, 0.587, 0.114]).reshape(1, 3, 1, 1)
        sobel = torch.tensor([[1., 0., -1.], [2., 0., -2.], [1., 0., -1.]])
        self.register_buffer("kernels", torch.stack([sobel, sobel.T]).unsqueeze(1) * luma)

    def forward(self, pictures):
        padded = torch.nn.functional.pad(pictures, (1, 1, 1, 1), mode="replicate")
        return torch.nn.functional.conv2d(padded, self.kernels).square().sum(1, keepdim=True).sqrt()


def picture_of(result):
    """Converts the output of a model to an RGB frame: an 8-bit array of the shape H'xW'x3."""
    pixels = (result[0].clamp(0, 1) * 255).round().to(torch.uint8)
    return pixels.expand(3, -1, -1).permute(1, 2, 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("input", help="a video, a camera or a URI")
    parser.add_argument("output", help="the Matroska file to write")
    parser.add_argument("--model", help="a TorchScript file, as torch.jit.save() writes it")
    parser.add_argument("--strength", type=argtypes.number_in(kind=float), default=-1, help="strength of the denoising; -1 derives it from the measured noise (default)")
    arguments = parser.parse_args()
    frames.check_output(arguments.output, frames.readable(arguments.input))
    cuda = torch.cuda.is_available() and cudatensors.array_maker()[0] != "numpy"
    device, memory, convert = ("cuda", "(memory:CUDAMemory)", "cudaconvert") if cuda else ("cpu", "", "videoconvert")
    model = torch.jit.load(frames.readable(arguments.model), map_location=device) if arguments.model else Edges().to(device)
    film = frames.Player(f"{frames.source_of(arguments.input)} ! video/x-raw,format=NV12 ! cudadenoise strength={arguments.strength} "
                         f"! video/x-raw{memory} ! {convert} ! video/x-raw{memory},format=RGB ! appsink name=sink max-buffers=4 sync=false")
    encoder = frames.Player(f"appsrc name=src format=time block=true max-buffers=4 ! {'cudadownload ! ' if cuda else ''}videoconvert ! x264enc "
                            f"! h264parse ! matroskamux ! filesink location={frames.quoted(arguments.output)}")
    if cuda:
        for player in (film, encoder):
            cudatensors.share_primary_context(player.pipeline)
    source = None
    with encoder:
        with film, torch.inference_mode():
            for seconds, pixels in film.frames(cudatensors.to_torch):
                frame = pixels if cuda else torch.from_numpy(pixels.copy())
                picture = picture_of(model(frame.permute(2, 0, 1).unsqueeze(0).float() / 255))
                if not source:
                    rate = film["sink"].get_static_pad("sink").get_current_caps().get_structure(0).get_fraction("framerate")
                    height, width, _ = picture.shape
                    source = cudatensors.ArraySource(encoder["src"], f"video/x-raw{memory},format=RGB,width={width},height={height},"
                                                     f"framerate={rate.value_numerator}/{rate.value_denominator}")
                if not source.push(picture, round(seconds * Gst.SECOND)):
                    break
        encoder["src"].emit("end-of-stream")
        encoder.to_the_end()


if __name__ == "__main__":
    main()
