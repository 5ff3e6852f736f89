"""Equations of motion in closed form."""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy
from numpy.typing import ArrayLike

from . import _limb

__all__ = ["Answer", "Derivation", "FloatingBaseForm", "Formula", "OperationalSpaceForm"]

_NAME = re.compile(r"[A-Za-z_]\w*")
_FUNCTIONS = ("sin", "cos", "sqrt", "pi")


def _parts(text: str) -> list[str]:
    """The summands of a text in parts of limited length: Python cannot compile sums of thousands of terms."""
    most, depth, parts, start, at = 4000, 0, [], 0, 0
    if len(text) <= most:
        return [text]
    for at, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0 and at - start > most and text[at:at + 3] in (" + ", " - "):
            parts.append(text[start:at])
            start = at + 1  # the sign belongs to the next part
    return parts + [text[start:]]


def _compile(name: str, text: str) -> tuple[list, list]:
    """Code of the summands of numerator and denominator."""
    below = "1"
    if text.startswith("(") and text.endswith(")") and ")/(" in text:
        text, _, below = text[1:-1].partition(")/(")
    return tuple([compile(part, f"<{name}>", "eval") for part in _parts(side)] for side in (text, below))  # type: ignore


class Formula:
    """A symbolic number, vector, matrix or tensor. A notebook shows it as a formula.

    Args:
        owner: The derivation that it is a part of.
        name: Name of the quantity.
        entries: Text and LaTeX of its entries.
        shape: `()`, `(n,)`, `(n, m)` or `(n, m, k)`.
        symbol: Its symbol in LaTeX.
    """

    def __init__(self, owner: "Derivation", name: str, entries: "_limb.Entries | _Block", shape: tuple[int, ...],
                 symbol: str) -> None:
        self._owner, self.name, self.shape, self._symbol = owner, name, shape, symbol
        self.text = numpy.array(entries.text, dtype=object).reshape(shape)
        self.latex_entries = numpy.array(entries.latex, dtype=object).reshape(shape)

    def __getitem__(self, index):
        return self.text[index]

    def __str__(self) -> str:
        return str(self.text[()]) if self.shape == () else str(self.text.tolist())

    def __repr__(self) -> str:
        return f"{self.name} = {self}"

    def latex(self) -> str:
        """The formula in LaTeX, without its name."""
        if self.shape == ():
            return str(self.latex_entries[()])
        if len(self.shape) == 1:
            return r"\begin{bmatrix} " + r" \\ ".join(self.latex_entries) + r" \end{bmatrix}"
        if len(self.shape) == 2:
            rows = r" \\ ".join(" & ".join(row) for row in self.latex_entries)
            return r"\begin{bmatrix} " + rows + r" \end{bmatrix}"
        comma = "," if max(self.shape) > 9 else ""  # 1,11 or 11,1
        lines = [rf"\Gamma_{{{comma.join(str(i + 1) for i in index)}}} &= {text}"
                 for index, text in numpy.ndenumerate(self.latex_entries) if text != "0"]
        return r"\begin{aligned} " + r" \\ ".join(lines) + r" \end{aligned}"

    def _repr_latex_(self) -> str:
        left = "" if len(self.shape) == 3 else f"{self._symbol} = "
        return f"$\\displaystyle {left}{self.latex()}$"

    def sympy(self) -> Any:
        """The formula as a SymPy expression, Matrix or Array, with symbols q1, qd1, qdd1 and the parameters."""
        import sympy

        known: dict = {}

        def parse(text):
            for name in _NAME.findall(text):
                if name not in _FUNCTIONS:
                    known.setdefault(name, sympy.Symbol(name))
            return sympy.sympify(text.replace("^", "**"), locals=known)

        if self.shape == ():
            return parse(self.text[()])
        if len(self.shape) == 1:
            return sympy.Matrix([parse(text) for text in self.text])
        if len(self.shape) == 2:
            return sympy.Matrix(*self.shape, [parse(text) for text in self.text.ravel()])
        return sympy.Array([parse(text) for text in self.text.ravel()], self.shape)

    def lambdify(self) -> Callable[..., numpy.ndarray]:
        """A function `f(q, qd=None, qdd=None, **parameters)` of NumPy arrays, one state or a batch. Parameters
        default to their values in the file."""
        source = [text.replace("^", "**") for text in self.text.ravel()]
        code = [_compile(self.name, text) for text in source]
        used = set(_NAME.findall(" ".join(source))) - set(_FUNCTIONS)
        defaults = {name: value for name, value in self._owner.parameters.items() if name in used}
        n, shape, name = self._owner.coordinate_count, self.shape, self.name
        quotient = any(")/(" in text for text in source)
        functions = {"sin": numpy.sin, "cos": numpy.cos, "sqrt": numpy.sqrt, "pi": numpy.pi, "__builtins__": {}}
        letters = {"q": "q", "v": "qd", "a": "qdd"}
        symbols = {kind: [f"{letter}{i + 1}" for i in range(n)] for kind, letter in letters.items()}

        def function(q: ArrayLike, qd: ArrayLike | None = None, qdd: ArrayLike | None = None, **parameters):
            unknown = set(parameters) - set(self._owner.parameters)
            if unknown:
                raise _limb.Error(f"{name}: unknown parameter '{sorted(unknown)[0]}', expected some of: "
                                  f"{', '.join(self._owner.parameters)}")
            values = dict(functions, **defaults)
            values.update(parameters)
            batch: tuple[int, ...] = ()
            for kind, label, x in (("q", "q", q), ("v", "qd", qd), ("a", "qdd", qdd)):
                if x is None:
                    if used & set(symbols[kind]):
                        raise _limb.Error(f"{name}: {label} is missing, expected {n} numbers per state")
                    continue
                x = numpy.asarray(x, dtype=float)
                if x.ndim == 0 or x.shape[-1] != n:
                    raise _limb.Error(f"{name}: {label} has shape {x.shape}, expected ({n},) or (..., {n})")
                batch = numpy.broadcast_shapes(batch, x.shape[:-1])
                values.update({symbol: x[..., i] for i, symbol in enumerate(symbols[kind])})
            missing = sorted(symbol for symbol in used if values.get(symbol, 0) is None)
            if missing:
                raise _limb.Error(f"{name}: parameter '{missing[0]}' has no value in the file: pass one")
            def value(parts):
                return sum((eval(part, values) for part in parts[1:]), eval(parts[0], values))

            entries = [numpy.broadcast_to(value(above) / value(below) if quotient else value(above), batch)
                       for above, below in code]
            return numpy.stack(entries, axis=-1).reshape(batch + shape) if shape else entries[0][()]

        function.__name__ = name
        return function


class Answer(NamedTuple):
    """An answer to an exercise, compared with the derived value. It is true if they are equal."""

    name: str  #: of the quantity: "M11"
    equal: bool
    derived: str
    given: str
    difference: str  #: derived - given
    hints: list[str]  #: what is probably wrong, most likely first
    text: str  #: all of it, in lines

    def __bool__(self) -> bool:
        return self.equal

    def __str__(self) -> str:
        return self.text


class OperationalSpaceForm(NamedTuple):
    """`F = Lambda d2x/dt2 + mu + rho` of a frame in closed form; every entry is a quotient."""

    rows: list[str]  #: rows of the Jacobian: some of vx vy vz wx wy wz, at most as many as coordinates
    Lambda: Formula
    mu: Formula
    rho: Formula


class FloatingBaseForm(NamedTuple):
    """The equations of a floating base (b) and its joints (j) in closed form:

        S^T tau + sum J_i^T f_i = [D_b, D_bj; D_bj^T, D_j] [qdd_b; qdd_j] + [h_b; h_j] + [g_b; g_j]
    """

    D_b: Formula
    D_bj: Formula
    D_j: Formula
    h_b: Formula  #: Coriolis and centrifugal forces
    h_j: Formula
    g_b: Formula  #: gravity
    g_j: Formula
    S: numpy.ndarray  #: selects the joints: `(joints, coordinates)`; the rows of the base have no motors


class _Block(NamedTuple):
    """Entries of a part of a formula, as the C++ class has them."""

    text: Any
    latex: Any


class Derivation:
    """The equations of motion `tau = M qdd + V + G` of a robot in closed form, in a canonical form.

    The derived quantities are attributes: M, C, V, G, K, P, tau, christoffel, centrifugal, coriolis.
    A notebook shows them as formulas.

    `Robot.derive` makes it.

    Args:
        closed: The closed forms.
        robot: Name of the robot.
        frames: Frames of J, Jdot and Lambda.
    """

    def __init__(self, closed: _limb.ClosedForms, robot: str, frames: list[str]) -> None:
        self._closed, self.robot, self._frames = closed, robot, frames
        symbols = closed.symbols()
        #: Values of the parameters in the file, by name.
        self.parameters = {name: value for name, kind, value in symbols if kind == "parameter"}
        #: What was changed or left out relative to the file.
        self.notes = list(closed.notes())
        #: The joint of each coordinate q1, q2, ...
        self.joints = closed.coordinates()

    @property
    def coordinate_count(self) -> int:
        """Number of coordinates."""
        return len(self.joints)

    @property
    def terms(self) -> int:
        """Total number of terms of the derived quantities."""
        return self._closed.terms()

    def _formula(self, name: str, symbol: str) -> Formula:
        entries, n = self._closed.entries(name), self.coordinate_count
        shapes = {"V": (n,), "G": (n,), "tau": (n,), "K": (), "P": (), "christoffel": (n, n, n)}
        return Formula(self, name, entries, shapes.get(name, (entries.rows, entries.cols)), symbol)

    @property
    def M(self) -> Formula:
        """Mass matrix."""
        return self._formula("M", "M")

    @property
    def C(self) -> Formula:
        """Coriolis matrix with `C qd = V`."""
        return self._formula("C", "C")

    @property
    def centrifugal(self) -> Formula:
        """Coefficients of the squares qd_i^2 in V."""
        return self._formula("centrifugal", "C")

    @property
    def coriolis(self) -> Formula:
        """Coefficients of the products qd_1 qd_2, qd_1 qd_3, ... in V."""
        return self._formula("coriolis", "B")

    @property
    def christoffel(self) -> Formula:
        """Christoffel symbols of the first kind."""
        return self._formula("christoffel", r"\Gamma")

    @property
    def V(self) -> Formula:
        """Coriolis and centrifugal torques."""
        return self._formula("V", "V")

    @property
    def G(self) -> Formula:
        """Gravity torques."""
        return self._formula("G", "G")

    @property
    def K(self) -> Formula:
        """Kinetic energy."""
        return self._formula("K", "K")

    @property
    def P(self) -> Formula:
        """Potential energy."""
        return self._formula("P", "P")

    @property
    def tau(self) -> Formula:
        """The torques."""
        return self._formula("tau", r"\tau")

    def frame(self, frame: str, quantity: str = "J") -> Formula:
        """A quantity of one of the frames.

        Args:
            frame: Name of the frame.
            quantity: "p", "R", "J", "Jdot", "Lambda", "mu" or "rho".
        """
        if quantity in ("Lambda", "mu", "rho"):
            return getattr(self.operational_space(frame), quantity)
        entries = self._closed.frame_entries(frame, quantity)
        shape = (3,) if quantity == "p" else (entries.rows, entries.cols)
        return Formula(self, quantity, entries, shape, r"\dot{J}" if quantity == "Jdot" else quantity)

    def operational_space(self, frame: str) -> OperationalSpaceForm:
        """The dynamics of one of the frames in operational space, `F = Lambda d2x/dt2 + mu + rho`.

        Args:
            frame: Name of the frame.

        Raises:
            ComputationError: If the rows of its Jacobian depend on each other at every configuration.
        """
        rows = self._closed.operational_rows(frame)
        made = []
        for name, symbol in (("Lambda", r"\Lambda"), ("mu", r"\mu"), ("rho", r"\rho")):
            entries = self._closed.operational_entries(frame, name)
            shape = (len(rows), len(rows)) if name == "Lambda" else (len(rows),)
            made.append(Formula(self, name, entries, shape, symbol))
        return OperationalSpaceForm(rows, *made)

    def floating_base(self) -> FloatingBaseForm:
        """The equations partitioned into those of a floating base, which has no motors, and those of the joints.

        Raises:
            Error: If the first coordinates have motors, or a later one has none.
        """
        b, n = self._closed.floating_base_size(), self.coordinate_count
        if b == 0:
            raise _limb.Error("floating_base: the robot has no floating base: its first coordinates have motors, or "
                              "later ones have none")

        def part(whole: Formula, name: str, symbol: str, *at: slice) -> Formula:
            block = _Block(whole.text[at].ravel().tolist(), whole.latex_entries[at].ravel().tolist())
            return Formula(self, name, block, whole.text[at].shape, symbol)

        base, joints = slice(0, b), slice(b, n)
        M, V, G = self.M, self.V, self.G
        S = numpy.zeros((n - b, n))
        S[:, b:] = numpy.eye(n - b)
        return FloatingBaseForm(part(M, "D_b", "D_b", base, base), part(M, "D_bj", "D_{bj}", base, joints),
                                part(M, "D_j", "D_j", joints, joints), part(V, "h_b", "h_b", base),
                                part(V, "h_j", "h_j", joints), part(G, "g_b", "g_b", base),
                                part(G, "g_j", "g_j", joints), S)

    def page(self, format: str = "text", *, steps: bool = False, letters: str = "MVG", long_functions: bool = False,
             expanded: bool = False, comma_indices: bool = False) -> str:
        """The derivation as a document.

        Args:
            format: "text", "latex", "latex-fragment", "beamer", "markdown" or "html".
            steps: The whole derivation, by the routes of the derivation.
            letters: Of the equation: "MVG", "Mcg" (M, c, g) or "DCg" (D, C, g).
            long_functions: cos(theta_1) instead of c_1.
            expanded: Sums of products without parentheses.
            comma_indices: m_{1,2} instead of m_{12}.
        """
        return self._closed.page(format, steps, letters, long_functions, expanded, comma_indices)

    def check(self, answer: str) -> "Answer":
        """Compares an answer exactly with the derivation.

        Args:
            answer: An equation such as "M11 = m1 lc1^2 + ...", in plain text or LaTeX.
        """
        return Answer(*self._closed.check(answer))

    def function(self, language: str = "python") -> str:
        """Source of a function that computes M, V, G and tau.

        Args:
            language: "c" or "python".
        """
        return self._closed.function(language)

    def _repr_latex_(self) -> str:
        lines = [f"M &= {self.M.latex()}", f"V &= {self.V.latex()}", f"G &= {self.G.latex()}"]
        return r"$\displaystyle \begin{aligned} " + r" \\ ".join(lines) + r" \end{aligned}$"

    def __str__(self) -> str:
        return self.page("text")

    def __repr__(self) -> str:
        return f"Derivation({self.robot!r}: {self.coordinate_count} coordinates, {self.terms} terms)"
