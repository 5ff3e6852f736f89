"""limb.plot: charts as valid SVG with all curves, labels and units."""

import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import limb


def parts(chart, tag):
    return ElementTree.fromstring(chart.svg).findall(f".//{{http://www.w3.org/2000/svg}}{tag}")


def test_lines(tmp_path):
    t = np.linspace(0, 2, 50)
    chart = limb.plot.lines(t, {"a < b": np.sin(t), "c": np.cos(t)}, title="T", y_label="angle, rad")
    texts = [x.text for x in parts(chart, "text")]
    assert {"T", "a < b", "c", "time, s", "angle, rad"} <= set(texts)
    curves = parts(chart, "polyline")
    assert len(curves) == 2
    points = np.array([[float(x) for x in p.split(",")] for p in curves[0].get("points").split()])
    # Inside of the frame with a margin, and the shape of the sine: y is linear in its values (one decimal).
    assert (points > 0).all() and points[:, 0].max() <= 640 and points[:, 1].max() < 360
    slope = np.polyfit(np.sin(t), points[:, 1], 1)
    assert slope[0] < 0 and np.abs(np.polyval(slope, np.sin(t)) - points[:, 1]).max() < 0.1
    chart.save(tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text() == chart.svg == chart._repr_svg_()


def test_gaps_long_curves_and_constants():
    y = np.ones(10)
    y[4] = np.nan
    assert len(parts(limb.plot.lines(np.arange(10), {"y": y}), "polyline")) == 2
    long = np.zeros(100_000)
    long[77_777] = 1  # an extreme is not lost
    curve = parts(limb.plot.lines(np.arange(100_000), {"y": long}), "polyline")[0].get("points")
    heights = {p.split(",")[1] for p in curve.split()}
    assert len(heights) == 2 and len(curve.split()) <= 2001


def test_eight_names_do_not_leave_the_chart():
    chart = limb.plot.lines([0, 1], {f"a long name {i}": [0, i] for i in range(8)})
    at = [float(x.get("x")) + 7 * len(x.text) for x in parts(chart, "text") if x.get("x") and (x.text or "").startswith("a long")]
    assert len(at) == 8 and all(x <= 640 for x in at)


def test_bars():
    chart = limb.plot.bars({"a": 1.0, "b": -2.0}, y_label="force, N")
    heights = [float(x.get("height")) for x in parts(chart, "rect")[1:]]
    assert heights[1] == pytest.approx(2 * heights[0], rel=1e-2)


@pytest.mark.parametrize("call,message", [
    (lambda: limb.plot.lines([0, 1], {}), "curves is 0 curves, expected 1 to 8"),
    (lambda: limb.plot.lines([0, 1], {str(i): [0, 1] for i in range(9)}), "curves is 9 curves"),
    (lambda: limb.plot.lines([0, 1], {"a": [0, 1, 2]}), r"curve 'a' has shape \(3,\), expected \(2,\)"),
    (lambda: limb.plot.bars({}), "values is empty"),
])
def test_errors(call, message):
    with pytest.raises(limb.Error, match=message):
        call()


def test_repr():
    assert re.match(r"Chart\(\d+ characters of SVG\)", repr(limb.plot.bars({"a": 1})))
