"""Messages for arguments of a wrong type, for all functions of the extension; it calls explain() where nanobind
found no overload that accepts the arguments."""

import ast
import collections.abc
import functools
import inspect
import re
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeVar, cast, get_args, get_origin

from numpy.typing import ArrayLike

from . import types

_ARRAYS = ("ArrayLike", "Array")
_WORDS = {"int": "an int", "float": "a number", "str": "a str", "bool": "a bool", "dict": "a dict", "tuple": "a tuple",
          "list": "a list"}


_Function = TypeVar("_Function", bound=Callable[..., Any])


class Parameter(NamedTuple):
    name: str
    annotation: ast.expr | None
    required: bool
    positional: bool
    keyword: bool


class Signature(NamedTuple):
    parameters: list[Parameter]
    varargs: Parameter | None


@functools.cache
def signature_of(text: str) -> Signature:
    """The parameters in a line of Python: "def f(self, q: ArrayLike, *, out: Array | None = None) -> Array"."""
    text = re.sub(r"^def \(", "def f(", text[text.index("def "):])  # setters have no name
    text = re.sub(r"= \\\d+", "= ...", text)
    function = ast.parse(text + ": ...").body[0]
    assert isinstance(function, ast.FunctionDef)
    found = function.args
    optional = len(found.defaults)
    parameters = []
    ordered = [*found.posonlyargs, *found.args]
    for i, x in enumerate(ordered):
        parameters.append(Parameter(x.arg, x.annotation, i < len(ordered) - optional, True, x not in found.posonlyargs))
    for x, default in zip(found.kwonlyargs, found.kw_defaults):
        parameters.append(Parameter(x.arg, x.annotation, default is None, False, True))
    varargs = None if found.vararg is None else Parameter(found.vararg.arg, found.vararg.annotation, False, True, False)
    return Signature(parameters, varargs)


def name_of(annotation: ast.expr) -> str:
    """The last part of a name: "Sequence" of collections.abc.Sequence[str]."""
    if isinstance(annotation, ast.Subscript):
        annotation = annotation.value
    return annotation.attr if isinstance(annotation, ast.Attribute) else getattr(annotation, "id", "")


def items_of(annotation: ast.expr) -> list[ast.expr]:
    """The types in brackets: [str, ArrayLike] of Mapping[str, ArrayLike]."""
    if not isinstance(annotation, ast.Subscript):
        return []
    inner = annotation.slice
    return list(inner.elts) if isinstance(inner, ast.Tuple) else [inner]


def is_text(name: str) -> bool:
    """Whether this is a Literal of limb.types, such as Base."""
    return get_origin(getattr(types, name, None)) is Literal


def accepts(annotation: ast.expr | None, value) -> bool:
    """Whether a value has the type; where that is unknown, whether it is not None."""
    if annotation is None:
        return True
    if isinstance(annotation, ast.BinOp):
        return accepts(annotation.left, value) or accepts(annotation.right, value)
    if isinstance(annotation, ast.Constant):
        return value is None if annotation.value is None else True
    name, items = name_of(annotation), items_of(annotation)
    if name in ("Any", "object", ""):
        return True
    if value is None or name in _ARRAYS:
        return value is not None
    if name == "int":
        return isinstance(value, int) or (hasattr(value, "__index__") and not hasattr(value, "__len__"))
    if name == "float":
        return isinstance(value, (int, float)) or (hasattr(value, "__float__") and not getattr(value, "shape", ()))
    if name == "bool":
        return type(value).__name__ in ("bool", "bool_")
    if name == "str" or is_text(name):
        return isinstance(value, str)
    if name in ("list", "tuple", "dict"):
        return isinstance(value, {"list": list, "tuple": tuple, "dict": dict}[name])
    abstract = getattr(collections.abc, name, None)
    if isinstance(abstract, type):
        if not isinstance(value, abstract) or isinstance(value, str):
            return name == "Sequence" and not isinstance(value, str) and hasattr(value, "__len__")
        if name == "Sequence" and items:
            return all(accepts(items[0], x) for x in cast(Any, value))
        if name == "Mapping" and len(items) == 2:
            return all(accepts(items[0], k) and accepts(items[1], x) for k, x in cast(Any, value).items())
        return True
    if name[:1].isupper() and any(base.__module__ == "limb._limb" for base in type(value).__mro__):
        return any(base.__name__ == name for base in type(value).__mro__)
    return True


def text_of(annotation: ast.expr | None, parameter: str, owner) -> str:
    """What an argument should be, in words."""
    if annotation is None:
        return "a value"
    if isinstance(annotation, ast.BinOp):
        parts = [text_of(x, parameter, owner) for x in (annotation.left, annotation.right)]
        return " or ".join(parts)
    if isinstance(annotation, ast.Constant):
        return repr(annotation.value)
    name, items = name_of(annotation), items_of(annotation)
    if name in _ARRAYS:
        sizes = {"q": "nq", "v": "nv", "a": "nv", "tau": "nv"}
        n = getattr(owner, sizes.get(parameter, ""), None)
        return "an array" if n is None else f"an array of shape ({n},) or (..., {n})"
    if is_text(name):
        return "one of " + ", ".join(map(repr, get_args(getattr(types, name))))
    if items:
        return f"a {name} of " + " to ".join(ast.unparse(x).rpartition(".")[2] for x in items)
    return _WORDS.get(name, f"a {name}")


def found(value) -> str:
    if value is None:
        return "None"
    if isinstance(value, (bool, int, float)):
        return repr(value)
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def call_name(function) -> str:
    """As in the messages of limb: "rnea" for methods of Robot, else "World.add_wrench"; "World" for the constructor."""
    name = getattr(function, "__qualname__", "") or getattr(function, "__name__", "")
    return name.removeprefix("Robot.").removesuffix(".__init__") or "limb"


def problem(signature: Signature, args: list, kwargs: dict, is_method: bool) -> tuple[int, str]:
    """How well the arguments fit (how many are right before the first that is wrong; 0 if their number or names are
    wrong), and what is wrong."""
    parameters, positional = signature.parameters, [p for p in signature.parameters if p.positional]
    owner = args[0] if is_method and args else None
    values = {}
    for i, value in enumerate(args):
        if i < len(positional):
            values[positional[i].name] = value
        elif signature.varargs is None:
            own = int(is_method)
            takes = len(positional) - own
            return 0, f"takes {takes} argument{'' if takes == 1 else 's'} by position, got {len(args) - own}"
        elif not accepts(signature.varargs.annotation, value):
            expected = text_of(signature.varargs.annotation, signature.varargs.name, owner)
            return i + 1, f"argument {i + 1 - int(is_method)} is {found(value)}, expected {expected}"
    known = [p.name for p in parameters if p.keyword]
    for name, value in kwargs.items():
        if name not in known:
            shown = ", ".join(known[int(is_method):] if known[:1] == ["self"] else known)
            return 0, f"unknown argument '{name}', expected {shown or 'none by name'}"
        if name in values:
            return 0, f"{name} is given twice, by position and by name"
        values[name] = value
    for i, p in enumerate(parameters):
        if is_method and i == 0:
            continue
        if p.name not in values:
            if p.required:
                return i + 1, f"{p.name} is missing, expected {text_of(p.annotation, p.name, owner)}"
        elif p.annotation is not None and not accepts(p.annotation, values[p.name]):
            return i + 1, f"{p.name} is {found(values[p.name])}, expected {text_of(p.annotation, p.name, owner)}"
    # The types are right: a number does not fit into the type of C++, or an item has a wrong type.
    for i, p in enumerate(parameters):
        value = values.get(p.name)
        if isinstance(value, int) and not isinstance(value, bool) and not 0 <= value < 2**31:
            bound = ">= 0" if value < 0 else "a smaller one"
            return i + 1, f"{p.name} is {value}, expected an int that is {bound}"
    shown = ", ".join(f"{name}: {found(x)}" for name, x in values.items() if name != "self")
    return len(parameters) + 1, f"cannot use these arguments: {shown or 'none'}"


def explain(function, args: list, kwargs: dict) -> str:
    """The message for a call that no overload accepts: about the overload that fits best."""
    best = (-1, "")
    for text, *_ in function.__nb_signature__:
        signature = signature_of(text)
        names = [p.name for p in signature.parameters]
        best = max(best, problem(signature, args, kwargs, names[:1] == ["self"]), key=lambda x: x[0])
    return f"{call_name(function)}: {best[1]}"


def named_arguments(function: _Function) -> _Function:
    """For functions written in Python: if a call fails and an argument is None that may not be, the error names it."""
    signature = inspect.signature(function)
    optional = {p.name for p in signature.parameters.values() if p.default is None or "None" in str(p.annotation)}
    name = function.__name__ if "<locals>" in function.__qualname__ else call_name(function)

    @functools.wraps(function)
    def call(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except (TypeError, AttributeError):
            try:
                given = signature.bind(*args, **kwargs).arguments
            except TypeError:
                given = {}  # Python names missing and unknown arguments itself
            for argument, value in given.items():
                if value is None and argument not in optional:
                    annotation = signature.parameters[argument].annotation
                    known = annotation is not inspect.Parameter.empty
                    expected = _text_of_type(annotation) if known else "a Robot" if argument == "robot" else "an array"
                    raise TypeError(f"{name}: {argument} is None, expected {expected}") from None
            raise
    return cast(_Function, call)


def _text_of_type(annotation) -> str:
    if annotation is ArrayLike:
        return "an array"
    if get_origin(annotation) is Literal:
        return "one of " + ", ".join(map(repr, get_args(annotation)))
    text = annotation.__name__ if isinstance(annotation, type) and not get_args(annotation) else str(annotation)
    text = re.sub(r"[\w.]+\.(\w+)", r"\1", text)
    return _WORDS.get(text, f"{'an' if text[0] in 'aeiouAEIOU' else 'a'} {text}")
