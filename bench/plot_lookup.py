# SPDX-License-Identifier: Apache-2.0
"""Draws what gpu/lookup.py measured: the cost of asking again for a kernel, against the size of its code.

    python bench/plot_lookup.py LOOKUP.csv OUT.png [--title TITLE]
"""

import argparse
import csv
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from gpu.lookup_ways import TITLES

COLOURS = {"se_cy": "tab:green", "map": "tab:red", "cupy": "tab:blue", "cuda_core": "tab:orange"}
STYLES = ("-", "--", ":")
MARKERS = ("o", "s", "^")
BYTE_TICKS = {1e3: "1 KB", 1e4: "10 KB", 1e5: "100 KB", 1e6: "1 MB", 1e7: "10 MB", 6.4e7: "64 MB"}
TIME_TICKS = {1e1: "10 ns", 1e2: "100 ns", 1e3: "1 µs", 1e4: "10 µs", 1e5: "100 µs", 1e6: "1 ms", 1e7: "10 ms",
              1e8: "100 ms", 1e9: "1 s"}


def read(path):
    """Sizes, medians and both ends of the intervals, by way, in the order of the legend."""
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    points = {}
    for way in TITLES:
        mine = sorted((int(row["code_bytes"]), *(float(row[f"{which}_ns"]) for which in ("median", "low", "high")))
                      for row in rows if row["way"] == way)
        if mine:
            points[way] = tuple(zip(*mine))
    return points


def draw(points, title, path):
    """One line for each way, with its intervals."""
    figure, axes = plt.subplots(figsize=(10, 6), layout="constrained")
    drawn = dict.fromkeys(COLOURS, 0)
    for way, (sizes, medians, low, high) in points.items():
        who = next(who for who in COLOURS if way.startswith(who))
        axes.plot(sizes, medians, STYLES[drawn[who]], color=COLOURS[who], marker=MARKERS[drawn[who]], markersize=5,
                  linewidth=2.5 if who == "se_cy" else 1.5, label=TITLES[way])
        axes.fill_between(sizes, low, high, color=COLOURS[who], alpha=0.15, linewidth=0)
        drawn[who] += 1
    axes.set(xscale="log", yscale="log", xlabel="size of the code", title=title,
             ylabel="asking again for a kernel one already has")
    axes.set_xticks(list(BYTE_TICKS), list(BYTE_TICKS.values()))
    axes.set_yticks(list(TIME_TICKS), list(TIME_TICKS.values()))
    axes.set_ylim(min(min(low) for _, _, low, _ in points.values()) / 2,
                  max(max(high) for *_, high in points.values()) * 2)
    axes.minorticks_off()
    axes.grid(alpha=0.3)
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
    figure.savefig(path, dpi=150)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("picture", type=Path)
    parser.add_argument("--title", default="")
    options = parser.parse_args()
    draw(read(options.results), options.title, options.picture)


if __name__ == "__main__":
    main()
