#!/usr/bin/env python3
"""Writes the C++ reference with Doxygen: python3 tools/cpp_reference.py FOLDER

The public headers are copied first, with markup in comments escaped that Doxygen would take for HTML or for its own
commands. Every warning of Doxygen is an error.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMMENT = re.compile(r"^(.*?)(///<?)(.*)$")
COMMANDS = {"param", "return", "returns", "throws", "tparam"}
# Details of templates, arrays of workspaces, parts of the compiler, and what only tests use.
DETAILS = re.compile(r"/testing/|_impl\.hpp$|_data\.hpp$|_kernels\.hpp$|/x64/|/lower/|/stream/")


def escape(text):
    """Text outside of code spans."""
    text = re.sub(r"<(?=[A-Za-z/!])", r"\\<", text)
    text = re.sub(r"(?<!\\)\\(?=[A-Za-z])", r"\\\\", text)  # unless the header escapes it
    return re.sub(r"@(\w+)", lambda m: m[0] if m[1] in COMMANDS else "\\@" + m[1], text)


def escaped_header(text):
    lines = []
    for line in text.splitlines():
        match = COMMENT.match(line)
        if match and not re.search(r'"[^"]*///', line):
            parts = match[3].split("`")
            parts[::2] = [escape(part) for part in parts[::2]]
            line = match[1] + match[2] + "`".join(parts)
        lines.append(line)
    return "\n".join(lines) + "\n"


def public_headers(root=ROOT):
    return [path for path in sorted(root.glob("limb/**/*.hpp")) if not DETAILS.search(str(path))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="of the pages")
    folder = parser.parse_args().folder.resolve()
    if shutil.which("doxygen") is None:
        sys.exit("cpp_reference: doxygen is not installed (Debian: doxygen)")
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        for header in public_headers():
            copy = work / header.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(escaped_header(header.read_text()))
        for page in ("Doxyfile", "cpp_reference.md", "cpp_reference.css"):
            shutil.copy(ROOT / "docs" / page, work / page)
        done = subprocess.run(["doxygen", "Doxyfile"], cwd=work, capture_output=True, text=True, check=False)
        warnings = (done.stderr + done.stdout).replace(f"{work}/", "").strip()
        if done.returncode != 0 or warnings:
            sys.exit(f"cpp_reference: doxygen found mistakes:\n{warnings}")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(work / "html", folder)
    print(f"cpp_reference: {len(public_headers())} headers in {folder}")


if __name__ == "__main__":
    main()
