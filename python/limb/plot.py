"""Small charts as SVG, for examples and notebooks: no further package is needed.

    chart = limb.plot.lines(motion["t"], {"hip": q[:, 0], "knee": q[:, 1]}, y_label="angle, rad")
    chart.save("angles.svg")        # a notebook shows the chart itself
"""

import html
import math
import os
from collections.abc import Mapping, Sequence

import numpy
from numpy.typing import ArrayLike

from ._limb import Error

__all__ = ["Chart", "bars", "lines"]

# Colours that differ for readers with any colour vision, and dashes for print.
_STYLES = [("#1f5fa8", ""), ("#d1601f", ""), ("#2e8b57", "7 3"), ("#8a4fa3", "7 3"), ("#b8860b", "2 3"),
           ("#3a9fb5", "2 3"), ("#a83246", "9 3 2 3"), ("#555555", "9 3 2 3")]
_WIDTH, _HEIGHT, _LEFT, _RIGHT, _BOTTOM = 640, 360, 68, 16, 46


class Chart:
    """A chart as SVG text.

    Args:
        svg: The text.
    """

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the chart to a file.

        Args:
            path: The file, `.svg`.
        """
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"Chart({len(self.svg)} characters of SVG)"


def lines(x: ArrayLike, curves: Mapping[str, ArrayLike], *, title: str = "", x_label: str = "time, s",
          y_label: str = "") -> Chart:
    """Curves over a common axis.

    Args:
        x: Abscissae, `(n,)`.
        curves: Ordinates by name, `(n,)` each; at most eight, all in the same unit.
        title: Above the chart.
        x_label: Quantity and unit of x.
        y_label: Quantity and unit of the curves.
    """
    at = numpy.asarray(x, dtype=float)
    values = {name: numpy.asarray(y, dtype=float) for name, y in curves.items()}
    if not 1 <= len(values) <= len(_STYLES):
        raise Error(f"lines: curves is {len(values)} curves, expected 1 to {len(_STYLES)}")
    for name, y in values.items():
        if y.shape != at.shape or at.ndim != 1:
            raise Error(f"lines: curve '{name}' has shape {y.shape}, expected {at.shape}")
    finite = numpy.concatenate([y[numpy.isfinite(y)] for y in values.values()])
    frame = _Frame(_range(at[numpy.isfinite(at)]), _range(finite, 0.06), title, x_label, y_label, names=list(values))
    for (name, y), (color, dash) in zip(values.items(), _STYLES):
        for part in _finite_parts(at, y):
            points = " ".join(f"{frame.x(a):.1f},{frame.y(b):.1f}" for a, b in part)
            style = f' stroke-dasharray="{dash}"' if dash else ""
            frame.add(f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="1.8"{style}/>')
    return Chart(frame.text())


def bars(values: Mapping[str, float], *, title: str = "", y_label: str = "") -> Chart:
    """A bar per name.

    Args:
        values: Heights by name.
        title: Above the chart.
        y_label: Quantity and unit.
    """
    if not values:
        raise Error("bars: values is empty, expected at least one")
    heights = numpy.array([float(v) for v in values.values()])
    low, high = min(0.0, heights.min()), max(0.0, heights.max())
    frame = _Frame((0, len(values)), _range(numpy.array([low, high]), 0.06), title, "", y_label, ticks=False)
    for i, (name, value) in enumerate(values.items()):
        top, bottom = sorted((frame.y(float(value)), frame.y(0)))
        left, right = frame.x(i + 0.2), frame.x(i + 0.8)
        frame.add(f'<rect x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" height="{max(bottom - top, 0.5):.1f}" '
                  f'fill="{_STYLES[0][0]}"/>')
        frame.add(f'<text x="{(left + right) / 2:.1f}" y="{_HEIGHT - _BOTTOM + 16}" text-anchor="middle">'
                  f'{html.escape(name)}</text>')
    return Chart(frame.text())


def _range(values: numpy.ndarray, margin: float = 0.0) -> tuple[float, float]:
    if values.size == 0:
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    if high == low:
        return low - 0.5 * (abs(low) or 1), high + 0.5 * (abs(high) or 1)
    return low - margin * (high - low), high + margin * (high - low)


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers, about six."""
    raw = (high - low) / 6
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(f * power for f in (1, 2, 5, 10) if f * power >= raw)
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]


def _finite_parts(x: numpy.ndarray, y: numpy.ndarray) -> list[list[tuple[float, float]]]:
    """Polylines between points that are not finite; at most 2000 points, the extremes of each interval."""
    if x.size > 2000:
        size = math.ceil(x.size / 1000)
        starts = range(0, x.size, size)
        chosen = sorted({int(i) for s in starts for i in
                         (s + numpy.nan_to_num(y[s:s + size]).argmin(), s + numpy.nan_to_num(y[s:s + size]).argmax())}
                        | {x.size - 1})
        x, y = x[chosen], y[chosen]
    parts: list[list[tuple[float, float]]] = [[]]
    for a, b in zip(x.tolist(), y.tolist()):
        if math.isfinite(a) and math.isfinite(b):
            parts[-1].append((a, b))
        elif parts[-1]:
            parts.append([])
    return [part for part in parts if part]


class _Frame:
    """Axes, ticks and labels."""

    def __init__(self, x: tuple[float, float], y: tuple[float, float], title: str, x_label: str, y_label: str, *,
                 ticks: bool = True, names: Sequence[str] = ()) -> None:
        self._x, self._y = x, y
        legend = self._legend(names)
        self._top = 32 + 17 * (max(row for row, _ in legend) + 1 if legend else 0)
        self._parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" '
                       f'font-family="system-ui, sans-serif" font-size="12" fill="#222">',
                       f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#fff"/>']
        bottom, right = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT
        for value in _ticks(*y):
            at = self.y(value)
            self.add(f'<path d="M{_LEFT} {at:.1f}H{right}" stroke="#e3e6ea"/><text x="{_LEFT - 6}" y="{at + 4:.1f}" '
                     f'text-anchor="end">{value:.6g}</text>')
        for value in _ticks(*x) if ticks else []:
            at = self.x(value)
            self.add(f'<path d="M{at:.1f} {self._top}V{bottom}" stroke="#eef0f2"/><text x="{at:.1f}" y="{bottom + 16}" '
                     f'text-anchor="middle">{value:.6g}</text>')
        self.add(f'<path d="M{_LEFT} {self._top}V{bottom}H{right}" fill="none" stroke="#555"/>')
        middle = (self._top + bottom) / 2
        self.add(f'<text x="{(_LEFT + right) / 2}" y="{_HEIGHT - 8}" text-anchor="middle">{html.escape(x_label)}</text>'
                 f'<text transform="translate(16 {middle}) rotate(-90)" text-anchor="middle">{html.escape(y_label)}</text>'
                 f'<text x="{_LEFT}" y="18" font-weight="600">{html.escape(title)}</text>')
        for (row, at), name, (color, dash) in zip(legend, names, _STYLES):
            style = f' stroke-dasharray="{dash}"' if dash else ""
            y_at = 36 + 17 * row
            self.add(f'<path d="M{at} {y_at - 4}h20" stroke="{color}" stroke-width="2"{style}/><text x="{at + 24}" '
                     f'y="{y_at}">{html.escape(name)}</text>')

    def x(self, value: float) -> float:
        return _LEFT + (value - self._x[0]) / (self._x[1] - self._x[0]) * (_WIDTH - _LEFT - _RIGHT)

    def y(self, value: float) -> float:
        return _HEIGHT - _BOTTOM - (value - self._y[0]) / (self._y[1] - self._y[0]) * (_HEIGHT - self._top - _BOTTOM)

    def add(self, text: str) -> None:
        self._parts.append(text)

    @staticmethod
    def _legend(names: Sequence[str]) -> list[tuple[int, int]]:
        """Row and position of each name, under the title; empty for one curve."""
        places, row, at = [], 0, _LEFT
        for name in names if len(names) > 1 else ():
            width = 7 * len(name) + 38
            if at + width > _WIDTH - _RIGHT and at > _LEFT:
                row, at = row + 1, _LEFT
            places.append((row, at))
            at += width
        return places

    def text(self) -> str:
        return "\n".join([*self._parts, "</svg>"]) + "\n"
