"""Finds the places of a C++ file that the mutation rules apply to, with libclang."""

import re
from pathlib import Path

import clang.cindex as clang
from clang.cindex import CursorKind, TypeKind

from mutation.mutant import OPERATORS, Mutant

VERSION = 2  # raised when other mutants are found: what was found before is kept per version

FUNCTIONS = {CursorKind.FUNCTION_DECL, CursorKind.CXX_METHOD, CursorKind.CONSTRUCTOR,
             CursorKind.DESTRUCTOR, CursorKind.CONVERSION_FUNCTION, CursorKind.FUNCTION_TEMPLATE}
BODIES = {CursorKind.COMPOUND_STMT, CursorKind.IF_STMT, CursorKind.FOR_STMT, CursorKind.WHILE_STMT,
          CursorKind.DO_STMT, CursorKind.CXX_FOR_RANGE_STMT}
BINARY = {CursorKind.BINARY_OPERATOR, CursorKind.COMPOUND_ASSIGNMENT_OPERATOR, CursorKind.CALL_EXPR}
NUMBERS = {getattr(TypeKind, name) for name in
           ("INT", "UINT", "LONG", "ULONG", "LONGLONG", "ULONGLONG", "FLOAT", "DOUBLE", "LONGDOUBLE",
            "SHORT", "USHORT", "UCHAR", "SCHAR", "CHAR_S", "CHAR_U")}
COMPILE_TIME = {CursorKind.STATIC_ASSERT, CursorKind.ENUM_CONSTANT_DECL, CursorKind.CASE_STMT}


class Finder:
    def __init__(self, root: Path, file: Path, arguments: list[str]):
        self.text = (root / file).read_bytes()
        self.file = str(file)
        self.found: list[Mutant] = []
        self.in_scalar = False  # inside the declaration of a variable of the scalar type of a template
        unit = clang.Index.create().parse(str(root / file), args=arguments)
        for cursor in unit.cursor.get_children():
            if cursor.location.file and cursor.location.file.name == unit.spelling:
                self.visit(cursor, None, None, False)

    def bytes_of(self, cursor) -> bytes:
        return self.text[cursor.extent.start.offset:cursor.extent.end.offset]

    def add(self, cursor, rule, begin, end, mutated, statement, constant):
        """The bytes begin..end replaced by `mutated`, within `statement` if there is one."""
        original = self.text[begin:end]
        first, last = statement or (cursor.extent.start.offset, cursor.extent.end.offset)
        replacement = self.text[first:begin] + mutated + self.text[end:last]
        line = self.text.count(b"\n", 0, begin) + 1
        column = begin - (self.text.rfind(b"\n", 0, begin) + 1) + 1
        shown = " ".join(original.decode().split()) or "nothing"
        self.found.append(Mutant(self.file, line, column, rule, shown,
                                 " ".join(mutated.decode().split()) or "nothing",
                                 first, last, statement is not None, constant, replacement))

    def statement_range(self, cursor):
        """The bytes of an expression statement with its semicolon, or None."""
        first, last = cursor.extent.start.offset, cursor.extent.end.offset
        rest = re.match(rb"\s*;", self.text[last:last + 80])
        before = self.text[:first].rstrip()
        if first >= last or not rest or not before.endswith((b";", b"{", b"}", b")", b"else", b":")):
            return None
        return first, last + rest.end()

    def visit(self, cursor, function, statement, constant):
        kind = cursor.kind
        if kind in COMPILE_TIME or kind.is_attribute():
            return
        if kind in FUNCTIONS:
            body = next((c for c in cursor.get_children() if c.kind == CursorKind.COMPOUND_STMT), None)
            if body is None:
                return
            head = self.text[cursor.extent.start.offset:body.extent.start.offset]
            if b"consteval" in head:
                return
            self.visit(body, cursor, None, b"constexpr" in head)
            return
        if kind == CursorKind.DECL_STMT:
            text = self.bytes_of(cursor)
            if re.match(rb"(static|constexpr|using|thread_local)\b", text):
                return
            self.in_scalar = re.match(rb"(const )?(T|S|Scalar)\b[^<]", text) is not None
        if function is not None:
            self.mutate(cursor, statement, constant)
        children = list(cursor.get_children())
        if kind == CursorKind.IF_STMT and re.match(rb"if\s+constexpr", self.bytes_of(cursor)):
            children = children[1:]
        for child in children:
            inner = statement
            if kind in BODIES:
                inner = None
                # The head of a loop also has expressions that end with a semicolon.
                in_body = kind in (CursorKind.COMPOUND_STMT, CursorKind.IF_STMT) or child == children[-1]
                if in_body and (child.kind.is_expression() or child.kind == CursorKind.RETURN_STMT):
                    inner = self.statement_range(child)
                    if inner is not None and function is not None:
                        self.remove(child, inner, constant)
            elif child.kind == CursorKind.COMPOUND_STMT or child.kind == CursorKind.DECL_STMT:
                inner = None
            self.visit(child, function, inner, constant)

    def compiles(self, cursor, operands, symbol, statement) -> bool:
        """Whether the other operator most likely has a result of the same type."""
        if "string" in cursor.type.spelling or b'"' in self.bytes_of(cursor):
            return False
        if all(operand.type.get_canonical().kind in NUMBERS for operand in operands):
            return True
        # Matrices have no quotient, and sums and differences of them are of different types.
        return symbol in (b"+", b"-", b"+=", b"-=") and (statement is not None or self.in_scalar)

    def remove(self, cursor, statement, constant):
        text = self.bytes_of(cursor)
        assignment = cursor.kind == CursorKind.BINARY_OPERATOR and re.search(rb"[^=<>!]=[^=]", text)
        if cursor.kind == CursorKind.CALL_EXPR or assignment:
            self.add(cursor, "removal", cursor.extent.start.offset, cursor.extent.end.offset, b"",
                     statement, constant)

    def plant_nan(self, cursor, statement, constant):
        """NaN instead of the number that a return statement gives, or in every entry of the returned matrix."""
        value = next(cursor.get_children(), None)
        if value is None:
            return
        begin, end = value.extent.start.offset, value.extent.end.offset
        type_name = value.type.get_canonical().spelling
        if value.type.get_canonical().kind == TypeKind.DOUBLE:
            self.add(value, "nan", begin, end, b'__builtin_nan("")', statement, constant)
        elif statement is not None and re.match(r"(const )?Eigen::Matrix<double,", type_name):
            first, last = statement
            self.add(cursor, "nan", first, last,
                     b"auto limb_nan = " + self.text[begin:end] + b"; limb_nan.setConstant(__builtin_nan(\"\"));"
                     b" return limb_nan;", statement, constant)

    def mutate(self, cursor, statement, constant):
        kind = cursor.kind
        begin, end = cursor.extent.start.offset, cursor.extent.end.offset
        text = self.text[begin:end]
        if kind in BINARY:
            self.binary(cursor, statement, constant)
        elif kind == CursorKind.RETURN_STMT:
            self.plant_nan(cursor, statement, constant)
        elif kind == CursorKind.UNARY_OPERATOR and text[:1] in (b"-", b"!"):
            rule = "arithmetic" if text[:1] == b"-" else "logic"
            # The statement stays well formed without the sign: -x -> x, !x -> x.
            self.add(cursor, rule, begin, begin + 1, b" ", statement, constant)
        elif kind in (CursorKind.INTEGER_LITERAL, CursorKind.FLOATING_LITERAL):
            # head<3>() and block<3, 4>() are evaluated by the compiler; a < 3 has spaces.
            argument = self.text[begin - 1:begin] == b"<" or self.text[end:end + 1] == b">"
            if re.fullmatch(rb"[0-9.][0-9.eE+\-']*[fF]?", text) and not argument:
                self.add(cursor, "constant", begin, end, b"(" + text + b" + 1)", statement, constant)
        elif kind == CursorKind.CXX_BOOL_LITERAL_EXPR and text in (b"true", b"false"):
            self.add(cursor, "logic", begin, end, b"false" if text == b"true" else b"true",
                     statement, constant)
        elif kind in (CursorKind.IF_STMT, CursorKind.CONDITIONAL_OPERATOR):
            if kind == CursorKind.IF_STMT and not re.match(rb"if\s*\(", text):
                return
            condition = next(cursor.get_children(), None)
            if condition is None or not condition.kind.is_expression():
                return
            first, last = condition.extent.start.offset, condition.extent.end.offset
            if kind == CursorKind.IF_STMT and not (self.text[:first].rstrip().endswith(b"(") and
                                                   self.text[last:].lstrip().startswith(b")")):
                return
            self.add(condition, "condition", first, last, b"!(" + self.text[first:last] + b")",
                     None if kind == CursorKind.IF_STMT else statement, constant)

    def binary(self, cursor, statement, constant):
        children = sorted(cursor.get_children(), key=lambda child: child.extent.start.offset)
        if cursor.kind == CursorKind.CALL_EXPR:
            if len(children) != 3:
                return
            children = [children[0], children[2]]
        if len(children) != 2:
            return
        first, last = children[0].extent.end.offset, children[1].extent.start.offset
        symbol = self.text[first:last]
        if symbol.strip().decode(errors="replace") not in OPERATORS:
            return
        rule, other = OPERATORS[symbol.strip().decode()]
        if symbol.strip() in (b"+=", b"-=", b"*=", b"/=") and statement is None:
            return
        if rule == "arithmetic" and not self.compiles(cursor, children, symbol.strip(), statement):
            return
        first += len(symbol) - len(symbol.lstrip())
        last -= len(symbol) - len(symbol.rstrip())
        self.add(cursor, rule, first, last, other.encode(), statement, constant)
