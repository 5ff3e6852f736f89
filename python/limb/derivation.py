"""Equations of motion in closed form."""

import re

import numpy
from numpy.typing import ArrayLike

from . import _limb

__all__ = ["Derivation", "Form"]

_NAME = re.compile(r"[A-Za-z_]\w*")
_FUNCTIONS = ("sin", "cos", "sqrt", "pi")


class Form:
    """A number, vector, matrix or tensor of expressions. In a notebook it shows as a formula."""

    def __init__(self, owner: "Derivation", name: str, entries, shape: tuple[int, ...], symbol: str):
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
        """The formula in LaTeX, without the name."""
        if self.shape == ():
            return str(self.latex_entries[()])
        if len(self.shape) == 1:
            return r"\begin{bmatrix} " + r" \\ ".join(self.latex_entries) + r" \end{bmatrix}"
        if len(self.shape) == 2:
            rows = r" \\ ".join(" & ".join(row) for row in self.latex_entries)
            return r"\begin{bmatrix} " + rows + r" \end{bmatrix}"
        lines = [rf"\Gamma_{{{''.join(str(i + 1) for i in index)}}} &= {text}"
                 for index, text in numpy.ndenumerate(self.latex_entries) if text != "0"]
        return r"\begin{aligned} " + r" \\ ".join(lines) + r" \end{aligned}"

    def _repr_latex_(self) -> str:
        left = "" if len(self.shape) == 3 else f"{self._symbol} = "
        return f"$\\displaystyle {left}{self.latex()}$"

    def sympy(self):
        """As an expression, a Matrix or an Array of SymPy; symbols by name, q1, qd1, qdd1."""
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

    def lambdify(self):
        """A function `f(q, qd=None, qdd=None, **parameters)` of NumPy arrays, one state or a batch. Parameters
        that are not given have their values in the file."""
        source = [text.replace("^", "**") for text in self.text.ravel()]
        code = [compile(text, f"<{self.name}>", "eval") for text in source]
        used = set(_NAME.findall(" ".join(source))) - set(_FUNCTIONS)
        defaults = {name: value for name, value in self._owner.parameters.items() if name in used}
        n, shape, name = self._owner.coordinate_count, self.shape, self.name
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
                        raise _limb.Error(f"{name}: {label} is missing, expected {n} numbers a state")
                    continue
                x = numpy.asarray(x, dtype=float)
                if x.ndim == 0 or x.shape[-1] != n:
                    raise _limb.Error(f"{name}: {label} has shape {x.shape}, expected ({n},) or (..., {n})")
                batch = numpy.broadcast_shapes(batch, x.shape[:-1])
                values.update({symbol: x[..., i] for i, symbol in enumerate(symbols[kind])})
            missing = sorted(symbol for symbol in used if values.get(symbol, 0) is None)
            if missing:
                raise _limb.Error(f"{name}: parameter '{missing[0]}' has no value in the file: give one")
            entries = [numpy.broadcast_to(eval(one, values), batch) for one in code]
            return numpy.stack(entries, axis=-1).reshape(batch + shape) if shape else entries[0][()]

        function.__name__ = name
        return function


class Derivation:
    """The equations of motion `tau = M qdd + V + G` of a robot, as closed forms with one form each.

    Quantities that were asked for are attributes: M, C, V, G, K, P, tau, christoffel, centrifugal, coriolis.
    In a notebook the whole shows as formulas.
    """

    def __init__(self, forms, robot: str, frames: list[str]):
        self._forms, self.robot, self._frames = forms, robot, frames
        symbols = forms.symbols()
        #: Values of the parameters in the file, by name.
        self.parameters = {name: value for name, kind, value in symbols if kind == "parameter"}
        #: What was taken otherwise than written, or left out.
        self.notes = list(forms.notes())
        #: The joint of each coordinate q1, q2, ...
        self.joints = forms.coordinates()

    @property
    def coordinate_count(self) -> int:
        return len(self.joints)

    @property
    def terms(self) -> int:
        """Terms of all that was asked for."""
        return self._forms.terms()

    def _form(self, name: str, symbol: str) -> Form:
        entries, n = self._forms.entries(name), self.coordinate_count
        shapes = {"V": (n,), "G": (n,), "tau": (n,), "K": (), "P": (), "christoffel": (n, n, n)}
        return Form(self, name, entries, shapes.get(name, (entries.rows, entries.cols)), symbol)

    @property
    def M(self) -> Form:
        """Mass matrix."""
        return self._form("M", "M")

    @property
    def C(self) -> Form:
        """Coriolis matrix with `C qd = V`."""
        return self._form("C", "C")

    @property
    def centrifugal(self) -> Form:
        """Coefficients of the squares qd_i^2 in V."""
        return self._form("centrifugal", "C")

    @property
    def coriolis(self) -> Form:
        """Coefficients of the products qd_1 qd_2, qd_1 qd_3, ... in V."""
        return self._form("coriolis", "B")

    @property
    def christoffel(self) -> Form:
        """Christoffel symbols of the first kind."""
        return self._form("christoffel", r"\Gamma")

    @property
    def V(self) -> Form:
        """What velocities add to the torques."""
        return self._form("V", "V")

    @property
    def G(self) -> Form:
        """Torques of gravity."""
        return self._form("G", "G")

    @property
    def K(self) -> Form:
        """Kinetic energy."""
        return self._form("K", "K")

    @property
    def P(self) -> Form:
        """Potential energy."""
        return self._form("P", "P")

    @property
    def tau(self) -> Form:
        """The torques."""
        return self._form("tau", r"\tau")

    def frame(self, frame: str, quantity: str = "J") -> Form:
        """p, R, J or Jdot of a frame that was asked for."""
        entries = self._forms.frame_entries(frame, quantity)
        shape = (3,) if quantity == "p" else (entries.rows, entries.cols)
        return Form(self, quantity, entries, shape, r"\dot{J}" if quantity == "Jdot" else quantity)

    def page(self, format: str = "text", *, steps: bool = False) -> str:
        """As "text", "latex", "markdown" or "html"; with steps: the whole derivation."""
        return self._forms.page(format, steps)

    def function(self, language: str = "python") -> str:
        """The source of one function of C or Python that computes M, V, G and tau."""
        return self._forms.function(language)

    def _repr_latex_(self) -> str:
        lines = [f"M &= {self.M.latex()}", f"V &= {self.V.latex()}", f"G &= {self.G.latex()}"]
        return r"$\displaystyle \begin{aligned} " + r" \\ ".join(lines) + r" \end{aligned}$"

    def __str__(self) -> str:
        return self.page("text")

    def __repr__(self) -> str:
        return f"Derivation({self.robot!r}: {self.coordinate_count} coordinates, {self.terms} terms)"
