"""Names of what methods take as text."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Union

if TYPE_CHECKING:
    from ._limb import ContactSet

Base = Literal["described", "fixed", "free"]
Axes = Literal["local", "local_world_aligned", "world"]
AccelerationKind = Literal["spatial", "classical"]
BaseCustom = Literal["body", "mixed", "hybrid", "world"]
ContactKind = Literal["point", "surface"]
ContactAxes = Literal["world", "contact"]
Contacts = Union["ContactSet", str, Sequence[str]]
