"""The robot in 3D, as one page that needs no network (Robot.show)."""

import base64
import html
import json
import os
import sys
import tempfile
import webbrowser
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy
from numpy.typing import ArrayLike

from ._limb import Error

if TYPE_CHECKING:
    from .robot import Robot

__all__ = ["View", "in_notebook"]

_MAX_TRIANGLES = 400_000  # of all meshes of a page: about 20 MB


def in_notebook() -> bool:
    """Whether this runs in a notebook, where the last value of a cell is displayed."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return type(shell).__name__ == "ZMQInteractiveShell"


class View:
    """A page with the robot in 3D: drag to orbit, wheel to zoom, sliders to move the joints.

    A notebook displays it; `save` writes it and `open` opens it in the browser.

    Args:
        robot: The robot.
        q: Configuration, `(nq,)`; None: the neutral one.
        collision: Whether to show the shapes for contact instead of those for pictures.
    """

    def __init__(self, robot: "Robot", q: ArrayLike | None = None, *, collision: bool = False) -> None:
        if not isinstance(collision, bool):
            raise TypeError(f"show: collision is {collision!r}, expected a bool")
        self._name = robot.name
        q = robot.neutral() if q is None else numpy.asarray(q, dtype=float)
        robot.forward_kinematics(q)  # checks q
        if numpy.ndim(q) != 1:
            raise Error(f"show: q has shape {numpy.shape(q)}, expected ({robot.nq},)")
        #: Meshes that are not shown, with the reason.
        self.left_out: list[str] = []
        self._data = self._collect(robot, numpy.asarray(q), "collision" if collision else "visual")

    def html(self) -> str:
        """The page as text."""
        page = resources.files(__package__).joinpath("viewer.html").read_text(encoding="utf-8")
        data = json.dumps(self._data, separators=(",", ":")).replace("<", "\\u003c")
        return page.replace("__TITLE__", html.escape(self._name)).replace("__DATA__", data)

    def save(self, path: str | os.PathLike) -> None:
        """Writes the page to a file.

        Args:
            path: The file, `.html`.
        """
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html())

    def open(self) -> None:
        """Opens the page in the browser, from a temporary file."""
        with tempfile.NamedTemporaryFile("w", suffix=".html", prefix="limb-", delete=False, encoding="utf-8") as file:
            file.write(self.html())
        webbrowser.open("file://" + file.name)

    def _repr_html_(self) -> str:
        page = html.escape(self.html(), quote=True)
        return f'<iframe srcdoc="{page}" style="width:100%;height:480px;border:1px solid #ccc"></iframe>'

    def __repr__(self) -> str:
        return f"View({self._name!r}: {len(self._data['shapes'])} shapes, {len(self._data['meshes'])} meshes)"

    def _collect(self, robot: "Robot", q: numpy.ndarray, role: str) -> dict[str, Any]:
        tree = robot._kinematic_tree()
        frames = {frame["name"]: frame for frame in tree["frames"]}
        all_shapes = robot.geometry
        chosen = [i for i, x in enumerate(all_shapes) if x.role == role and x.shape != "plane"]
        if not chosen and role == "visual":  # many MJCF files have only shapes for contact
            chosen = [i for i, x in enumerate(all_shapes) if x.shape != "plane"]
        shapes: list[dict[str, Any]] = []
        meshes: list[dict[str, str]] = []
        files: dict[tuple, int] = {}
        triangles = 0
        for i in chosen:
            shape = all_shapes[i]
            frame = frames.get(shape.link, {"body": -1, "pose": numpy.eye(4).tolist()})
            one: dict[str, Any] = {"body": frame["body"], "shape": shape.shape, "size": shape.size.tolist(),
                                   "pose": _row(numpy.array(frame["pose"]) @ shape.pose)}
            if shape.shape == "mesh":
                key = (shape.file, shape.uri, tuple(shape.scale), tuple(shape.mesh_pose.ravel()))
                if key not in files:
                    try:
                        vertices, faces = robot._mesh(i)
                    except Error as error:
                        self.left_out.append(str(error))
                        continue
                    triangles += len(faces)
                    if triangles > _MAX_TRIANGLES:
                        self.left_out.append(f"{shape.uri}: more than {_MAX_TRIANGLES} triangles in all meshes")
                        continue
                    files[key] = len(meshes)
                    meshes.append({"vertices": _base64(vertices, "<f4"), "faces": _base64(faces, "<u4")})
                one["mesh"] = files[key]
            shapes.append(one)
        limits = robot.limits
        sliders = []
        for joint in robot.joints:
            if joint.q_index < 0 or joint.nq != 1:
                continue
            lower, upper = float(limits.lower[joint.q_index]), float(limits.upper[joint.q_index])
            reach = 1.0 if joint.type == "prismatic" else float(numpy.pi)
            sliders.append({"name": joint.name, "q": joint.q_index, "unit": "m" if joint.type == "prismatic" else "rad",
                            "lower": lower if numpy.isfinite(lower) else -reach,
                            "upper": upper if numpy.isfinite(upper) else reach})
        # Joints that follow others: the index in q of each independent velocity.
        position = {j.v_index: j.q_index for j in robot.joints if j.q_index >= 0 and j.nv == 1}
        for body in tree["bodies"]:
            body["pose"] = _row(numpy.array(body["pose"]))
            body["terms"] = [(position[y], ratio) for y, ratio in body["terms"]] if body["q"] < 0 else []
        return {"name": robot.name, "bodies": tree["bodies"], "shapes": shapes, "meshes": meshes, "sliders": sliders,
                "q": q.tolist(), "left_out": self.left_out}


def _row(matrix: numpy.ndarray) -> list[float]:
    return [round(float(x), 9) for x in matrix.ravel()]


def _base64(array: numpy.ndarray, dtype: str) -> str:
    return base64.b64encode(numpy.ascontiguousarray(array, dtype=dtype).tobytes()).decode("ascii")
