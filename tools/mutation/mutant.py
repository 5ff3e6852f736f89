"""A mutant: one small change of a source file, and how it is built into that file behind a switch."""

import dataclasses
import re

RULES = {
    "arithmetic": {"+": "-", "-": "+", "*": "/", "/": "*", "%": "*",
                   "+=": "-=", "-=": "+=", "*=": "/=", "/=": "*="},
    "comparison": {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="},
    "logic": {"&&": "||", "||": "&&"},
}
DESCRIPTIONS = {
    "arithmetic": "+ and -, * and / exchanged, also as +=; a minus sign removed",
    "comparison": "< and <=, > and >=, == and != exchanged",
    "logic": "&& and || exchanged, ! removed, true and false exchanged",
    "constant": "a number n replaced by n + 1",
    "condition": "the condition of an if or ?: negated",
    "removal": "a statement that is a call or an assignment removed",
    "nan": "a returned number, or all entries of a returned matrix, replaced by NaN",
}
OPERATORS = {symbol: (rule, other) for rule, table in RULES.items() for symbol, other in table.items()}
STRING_OR_COMMENT = re.compile(rb'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.S)


@dataclasses.dataclass
class Mutant:
    file: str
    line: int
    column: int
    rule: str
    original: str
    mutated: str
    begin: int       # bytes of the file that are replaced
    end: int
    statement: bool  # the replaced bytes are a statement, not an expression
    constant: bool   # inside a constexpr function
    replacement: bytes = b""

    @property
    def change(self) -> str:
        return f"{self.original} -> {self.mutated}"


def one_line(text: bytes) -> bytes:
    without = STRING_OR_COMMENT.sub(lambda m: m[0] if m[0].startswith(b'"') else b"", text)
    return without.replace(b"\n", b" ")


def apply(text: bytes, mutants: list[tuple[int, Mutant]]) -> bytes:
    """The text with all mutants built in, each behind its number. Lines keep their numbers."""
    for number, mutant in sorted(mutants, key=lambda entry: -entry[1].begin):
        original = text[mutant.begin:mutant.end]
        switch = b"::limb_mutant::%s(%d)" % (b"on_constexpr" if mutant.constant else b"on", number)
        here, there = one_line(original), one_line(mutant.replacement)
        if mutant.statement:
            built = b"{ if (%s) { %s } else { %s } }" % (switch, there, here)
        elif mutant.rule == "condition":
            built = b"(%s != static_cast<bool>(%s))" % (switch, here)
        else:
            built = b"(%s ? (%s) : (%s))" % (switch, there, here)
        text = text[:mutant.begin] + built + b"\n" * original.count(b"\n") + text[mutant.end:]
    return text
