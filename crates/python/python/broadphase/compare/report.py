"""Tables and the picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .cases import CASES


def markdown(rows: list[dict[str, Any]]) -> str:
    """The rows of one case and n as a table, fastest first, those without a time last."""
    first = rows[0]
    ours = first["ms"]
    lines = [
        f"{CASES[first['case']].title}; n = {first['n']:,}, {first['pairs']:,} pairs",
        "",
        "| | ms | times as long |",
        "| --- | --: | --: |",
    ]
    for row in sorted(rows, key=lambda row: row.get("ms", float("inf"))):
        if "skipped" in row:
            lines.append(f"| {row['name']} | {row['skipped']} | |")
        else:
            once = " (one run)" if row["single"] else ""
            lines.append(f"| {row['name']} | {row['ms']:.3g}{once} | {row['ms'] / ours:.1f} |")
    return "\n".join(lines)


def picture(rows: list[dict[str, Any]], path: Path) -> bool:
    """Times over n, one chart for each case; false if matplotlib is not installed."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError:
        return False
    cases = list(dict.fromkeys(row["case"] for row in rows))
    columns = min(3, len(cases))
    height = -(-len(cases) // columns)
    figure, axes = plt.subplots(height, columns, figsize=(5.2 * columns, 4.2 * height), squeeze=False)
    for axis, case in zip(axes.flat, cases):
        names = dict.fromkeys(row["name"] for row in rows if row["case"] == case and "ms" in row)
        for name in names:
            points = [(row["n"], row["ms"]) for row in rows if row["case"] == case and row["name"] == name and "ms" in row]
            is_ours = name.startswith("broadphase")
            axis.plot(*zip(*points), marker="o", label=name, linewidth=3 if is_ours else 1.5, color="black" if name == "broadphase" else None)
        axis.set(xscale="log", yscale="log", title=CASES[case].title, xlabel="objects", ylabel="milliseconds")
        axis.title.set_fontsize(9)
        axis.grid(alpha=0.3)
        axis.legend(fontsize=7)
    for axis in axes.flat[len(cases) :]:
        axis.axis("off")
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)
    return True
