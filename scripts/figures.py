#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""figures.py [--markdown] [--svg OUT.svg] FIGURES.json: prints the table and draws the plot of pipelines/bench.sh.

figures.py --collect OUT.json [--machine TEXT] [--kernels FILE]... [--opencv FILE]...: collects the results in the
files of bench_kernels and bench_opencv, and writes them to OUT.json."""
import argparse
import json
import math
import re

# The rows of the table: their titles, and the names and sizes in the benchmarks.
ROWS = (
    ("equalise", "equalise", "1920x1080"),
    ("blur 5×5", "blur 5x5", "1920x1080"),
    ("blur 15×15", "blur 15x15", "1920x1080"),
    ("blur 31×31", "blur 31x31", "1920x1080"),
    ("blur, sigma 30", "blur sigma 30", "1920x1080"),
    ("integral image, uint32", "sum uint32", "1920x1080"),
    ("mean, radius 7", "mean radius 7", "1920x1080"),
    ("threshold, Bradley, radius 50", "bradley radius 50", "1920x1080"),
    ("denoise, search 21, patch 7", "denoise 21x21 7x7", "640x480"),
    ("denoise, search 21, patch 7", "denoise 21x21 7x7", "1920x1080"),
    ("stereo, 128 disparities, 8 paths", "stereo 128 disparities 8 paths", "640x480"),
    ("stereo, 128 disparities, 8 paths", "stereo 128 disparities 8 paths", "1920x1080"),
)
# The columns of the table: the key in a row, the title, and the colour in the plot.
COLUMNS = (
    ("cpu", "CPU", "#2f6fb0"),
    ("opencv", "OpenCV, CPU", "#d98a2b"),
    ("cpu_copy", "copy, CPU", "#a9bfd6"),
    ("gpu", "GPU", "#3c9a5f"),
    ("gpu_copy", "copy, GPU", "#b5d8c0"),
)


def collect(arguments):
    rows = {}

    def row(name, size):
        return rows.setdefault((name, size), {})

    def keep_minimum(figures, key, value):
        """Keeps the shortest time of several measurements, because other load on the machine can only make a time longer."""
        figures[key] = min(value, figures.get(key, value))

    copies = {}
    card = ""
    for path in arguments.kernels:
        with open(path, encoding="utf-8") as file:
            measured = json.load(file)
        card = measured["card"] or card
        for one in measured["cuda"]:
            if one["format"] == "GRAY8" and one["content"] == "natural":
                row(one["operation"], f"{one['width']}x{one['height']}").update(
                    gpu=one["microseconds"], gpu_copy=one["copy_microseconds"])
        for one in measured["cpu"]:
            name, layout, size, *content = one["name"].split("/")
            if layout == "GRAY8" and content in ([], ["natural"]):
                keep_minimum(*((copies, size) if name == "copy" else (row(name, size), "cpu")), one["microseconds"])
    opencv = ""
    for path in arguments.opencv:
        with open(path, encoding="utf-8") as file:
            measured = json.load(file)
        opencv = measured["opencv"]
        for one in measured["rows"]:
            name, layout, size = one["name"].split("/")
            if layout == "GRAY8":
                keep_minimum(row(name, size), "cpu", one["microseconds"])
                keep_minimum(row(name, size), "opencv", one["opencv_microseconds"])
    known = []
    for title, name, size in ROWS:
        figures = rows.get((name, size))
        if figures:
            if "cpu" in figures and size in copies:
                figures["cpu_copy"] = copies[size]
            known.append({"operation": title, "frame": size.replace("x", "×"),
                          **{key: float(f"{figures[key]:.4g}") for key, _, _ in COLUMNS if key in figures}})
    with open(arguments.collect, "w", encoding="utf-8") as file:
        json.dump({"machine": arguments.machine, "card": card, "opencv": opencv, "rows": known}, file, indent=1,
                  ensure_ascii=False)
        file.write("\n")


def number(microseconds):
    """Formats a time in ms, with at least three significant digits."""
    milliseconds = microseconds / 1000
    digits = max(0, 2 - math.floor(math.log10(milliseconds)))
    return f"{milliseconds:.{digits}f}"


def table(figures, markdown):
    used = [(key, title) for key, title, _ in COLUMNS if any(key in row for row in figures["rows"])]
    head = ["operation", "frame", *(title for _, title in used)]
    lines = [[row["operation"], row["frame"], *(number(row[key]) if key in row else "" for key, _ in used)]
             for row in figures["rows"]]
    if markdown:
        return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, ["---"] * len(head), *lines])
    widths = [max(len(cells[i]) for cells in [head, *lines]) for i in range(len(head))]
    return "\n".join("  ".join(cell.ljust(width) if i < 2 else cell.rjust(width)
                               for i, (cell, width) in enumerate(zip(cells, widths))).rstrip() for cells in [head, *lines])


def plot(figures):
    """Returns an SVG bar chart of all times on a logarithmic scale."""
    used = [column for column in COLUMNS if any(column[0] in row for row in figures["rows"])]
    values = [row[key] for row in figures["rows"] for key, _, _ in used if key in row]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    left, width, bar, gap = 290, 520, 11, 10

    def x(value):
        return left + width * (math.log10(value) - low) / max(1, high - low)

    parts, y = [], 52
    for row in figures["rows"]:
        bars = [(row[key], color) for key, _, color in used if key in row]
        parts.append(f'<text x="{left - 8}" y="{y + bar * len(bars) / 2 + 4:.0f}" text-anchor="end">'
                     f'{row["operation"]}, {row["frame"]}</text>')
        for value, color in bars:
            parts.append(f'<rect x="{left}" y="{y}" width="{max(1, x(value) - left):.1f}" height="{bar - 2}" fill="{color}"/>')
            parts.append(f'<text x="{x(value) + 4:.1f}" y="{y + bar - 3}" font-size="9">{number(value)}</text>')
            y += bar
        y += gap
    lines = []
    for power in range(low, high + 1):
        lines.append(f'<line x1="{x(10**power):.1f}" y1="46" x2="{x(10**power):.1f}" y2="{y}" stroke="#dddddd"/>')
        lines.append(f'<text x="{x(10**power):.1f}" y="{y + 14}" text-anchor="middle">{10**power / 1000:g} ms</text>')
    legend, at = [], left
    for _, title, color in used:
        legend.append(f'<rect x="{at}" y="26" width="10" height="10" fill="{color}"/><text x="{at + 14}" y="35">{title}</text>')
        at += 34 + 7 * len(title)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 50}" height="{y + 24}" font-family="sans-serif" '
            f'font-size="11">\n<rect width="100%" height="100%" fill="white"/>\n'
            f'<text x="8" y="16" font-size="13">{title_of(figures)}</text>\n' + "\n".join(legend + lines + parts) + "\n</svg>\n")


def title_of(figures):
    opencv = f", beside OpenCV {figures['opencv']}" if figures["opencv"] else ""
    devices = ", ".join(re.sub(r"[<>&]", "", name) for name in (figures["machine"], figures["card"]) if name)
    return f"ms per GRAY8 frame or pair: {devices}{opencv}"


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("figures", nargs="?", metavar="FIGURES.json", help="the file of figures to show, as written by pipelines/bench.sh")
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown, without a title")
    parser.add_argument("--svg", metavar="OUT.svg", help="also draw the plot into this file")
    parser.add_argument("--collect", metavar="OUT.json", help="write the collected results to this file of figures, and print nothing")
    parser.add_argument("--machine", default="", metavar="TEXT", help="with --collect: name of the machine in the title (default: none)")
    parser.add_argument("--kernels", action="append", default=[], metavar="FILE", help="with --collect: results of bench_kernels (can be repeated)")
    parser.add_argument("--opencv", action="append", default=[], metavar="FILE", help="with --collect: results of bench_opencv (can be repeated)")
    arguments = parser.parse_args()
    if arguments.collect:
        collect(arguments)
        return
    if not arguments.figures:
        parser.error("name a file of figures, as written by pipelines/bench.sh, or set --collect")
    try:
        with open(arguments.figures, encoding="utf-8") as file:
            figures = json.load(file)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "this is not JSON"
        raise SystemExit(f"{arguments.figures}: {reason}; name a file of figures, as written by pipelines/bench.sh") from None
    if not figures["rows"]:
        raise SystemExit(f"{arguments.figures} has no measured rows: measure again with pipelines/bench.sh")
    if not arguments.markdown:
        print(title_of(figures) + "\n")
    print(table(figures, arguments.markdown))
    if arguments.svg:
        with open(arguments.svg, "w", encoding="utf-8") as file:
            file.write(plot(figures))


if __name__ == "__main__":
    main()
