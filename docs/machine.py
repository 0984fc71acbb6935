#!/usr/bin/env python3
"""Draws docs/machine.svg, the picture of README.md: machine.py [OUTPUT [light|dark]]

The numbers are those of the two runs that docs/guide/tutorial.md shows. With light or dark the colours are fixed, to look at one.
"""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
LIGHT = {"text": "#1f2328", "faint": "#59636e", "line": "#818b98", "box": "#f6f8fa", "use": "#0969da", "bound": "#d1242f", "rest": "#d1d9e0"}
DARK = {"text": "#f0f6fc", "faint": "#9198a1", "line": "#656c76", "box": "#151b23", "use": "#4493f8", "bound": "#f85149", "rest": "#3d444d"}
LEVELS = {"compute": "compute", "L1": "L1", "NoC": "network", "L2": "L2", "DRAM": "DRAM"}


def runs():
    """[(cycles of a kernel, what bounds it, {level: percent})] of the tutorial's two runs."""
    text = (HERE / "guide/tutorial.md").read_text(encoding="utf-8")
    found = []
    for bound, levels in re.findall(r"^blur +bounded by ([\w ]+).*\n +(compute .*)$", text, re.MULTILINE):
        uses = {name: int(percent) for name, percent in re.findall(r"(\w+) (?:[\d.]+ of [\d.]+ GB/s \()?(\d+) %", levels)}
        found.append((bound, uses))
    return found


def text(x, y, content, kind="text", anchor="start", size=14, weight="normal"):
    return f'<text class="{kind}" x="{x}" y="{y}" text-anchor="{anchor}" font-size="{size}" font-weight="{weight}">{content}</text>'


def box(x, y, width, height, kind="box"):
    return f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{height}" rx="4"/>'


def arrow(x, y, length, down=True):
    if down:
        return f'<path class="arrow" d="M{x} {y}v{length - 5}m-4 -5l4 6l4 -6"/>'
    return f'<path class="arrow" d="M{x} {y}h{length - 5}m-6 -4l6 4l-6 4"/>'


def machine():
    parts = []
    for number, (title, detail) in enumerate((("HIP program", "unmodified ROCm runtime"), ("code object", "lacuna launch"),
                                              ("firmware", "RISC-V hart, AQL driver"))):
        y = 46 + 84 * number
        parts += [box(10, y, 190, 58), text(105, y + 25, title, anchor="middle", weight="bold"), text(105, y + 45, detail, "faint", "middle", 12),
                  arrow(200, y + 29, 36, down=False)]
    parts += [box(236, 16, 92, 294), text(282, 154, "command", anchor="middle", weight="bold"), text(282, 174, "processor", anchor="middle", weight="bold"),
              text(282, 198, "AQL queues", "faint", "middle", 12), arrow(328, 39, 28, down=False)]
    rows = (("64 compute units", "4 SIMD, LDS, scalar unit each"), ("L1 caches and TLBs", "vector, scalar, instruction"), ("network", "crossbar, mesh or butterfly"),
            ("16 L2 banks", "256 KiB each"), ("16 DRAM channels", "HBM"))
    for number, (title, detail) in enumerate(rows):
        y = 16 + 62 * number
        parts += [box(358, y, 216, 46), text(466, y + 20, title, anchor="middle", weight="bold"), text(466, y + 37, detail, "faint", "middle", 12)]
        if number:
            parts.append(arrow(466, y - 16, 15))
    return parts


def report():
    parts = []
    for column, (title, (bound, uses)) in enumerate(zip(("as configured", "l2.size = 512KiB"), runs())):
        x = 606 + 186 * column
        for number, level in enumerate(LEVELS):
            y = 16 + 62 * number
            limit = level == {"DRAM bandwidth": "DRAM", "L1 bandwidth": "L1"}[bound]
            kind = "bound" if limit else "use"
            parts += [f'<rect class="rest" x="{x}" y="{y + 15}" width="112" height="16" rx="2"/>',
                      f'<rect class="{kind}" x="{x}" y="{y + 15}" width="{112 * uses[level] / 100:g}" height="16" rx="2"/>',
                      text(x + 120, y + 28, f"{uses[level]} %", "text" if not limit else "boundtext", weight="bold" if limit else "normal")]
        parts += [text(x, 338, title, weight="bold"), text(x, 358, f"bounded by {bound}", "boundtext", size=12)]
    return parts + [text(606, 12, "examples/blur.hip: use of each resource, of its peak", "faint", size=12)]


def style(colours):
    return (f'text{{font-family:system-ui,sans-serif}}.text{{fill:{colours["text"]}}}.faint{{fill:{colours["faint"]}}}'
            f'.boundtext{{fill:{colours["bound"]}}}.box{{fill:{colours["box"]};stroke:{colours["line"]}}}'
            f'.use{{fill:{colours["use"]}}}.bound{{fill:{colours["bound"]}}}.rest{{fill:{colours["rest"]}}}'
            f'.arrow{{fill:none;stroke:{colours["line"]};stroke-width:1.5}}')


def picture(colours=None):
    styles = style(colours) if colours else f"{style(LIGHT)}@media (prefers-color-scheme:dark){{{style(DARK)}}}"
    caption = "Programs reach the command processor of a GPU; a run shows how much of each resource it uses, and which one bounds it"
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 970 368" role="img" aria-label="{caption}">', f"<style>{styles}</style>",
             *machine(), *report(), "</svg>"]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    OUTPUT = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "machine.svg"
    OUTPUT.write_text(picture({"light": LIGHT, "dark": DARK}[sys.argv[2]] if len(sys.argv) > 2 else None), encoding="utf-8")
