"""Runs a command that cannot make memory executable: python3 cli/forbid_execution.py COMMAND...

mprotect(PROT_EXEC) fails in it, as on systems with non-executable data. Exit 77: no seccomp filters
available. The loader maps its libraries as executable from the start, so it still works.
"""

import ctypes
import os
import struct
import sys

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, MODE_FILTER = 38, 22, 2
NUMBER_OF_MPROTECT = 10  # x86-64
PROT_EXEC = 4
REFUSE_WITH_EPERM, ALLOW = 0x00050001, 0x7FFF0000
LOAD, EQUAL, HAS_BITS, RETURN = 0x20, 0x15, 0x45, 0x06

# Offsets into struct seccomp_data: 0 the number of the call, 32 its third argument.
STEPS = [
    (LOAD, 0, 0, 0),
    (EQUAL, 0, 3, NUMBER_OF_MPROTECT),
    (LOAD, 0, 0, 32),
    (HAS_BITS, 0, 1, PROT_EXEC),
    (RETURN, 0, 0, REFUSE_WITH_EPERM),
    (RETURN, 0, 0, ALLOW),
]


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("steps", ctypes.c_char_p)]


def main():
    if os.uname().machine != "x86_64":
        return 77
    code = b"".join(struct.pack("HBBI", *step) for step in STEPS)
    program = Program(len(STEPS), code)
    prctl = ctypes.CDLL(None).prctl
    if prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        return 77
    if prctl(PR_SET_SECCOMP, MODE_FILTER, ctypes.byref(program)) != 0:
        return 77
    os.execvp(sys.argv[1], sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
