#!/usr/bin/env python3
"""Writes python/examples/*.ipynb from the scripts in the same folder, whose cells start with `# %%`.

  make_notebooks.py [--check]    --check changes nothing and exits 1 if a notebook differs from its script
"""

import json
import re
import sys
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parent.parent / "python/examples"
CELL = re.compile(r"^# %%(.*)$", re.MULTILINE)


def cells(text: str):
    """(kind, lines) of each cell; markdown without the leading "# "."""
    parts = CELL.split(text)[1:]
    for kind, body in zip(parts[::2], parts[1::2]):
        body = body.strip("\n")
        if "[markdown]" in kind:
            yield "markdown", "\n".join(re.sub(r"^# ?", "", line) for line in body.splitlines())
        else:
            yield "code", body


def notebook(text: str) -> str:
    def cell(number, kind, source):
        made = {"cell_type": kind, "id": f"cell-{number}", "metadata": {}, "source": source.splitlines(keepends=True)}
        return {**made, "execution_count": None, "outputs": []} if kind == "code" else made

    made = {"cells": [cell(i, *part) for i, part in enumerate(cells(text))],
            "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
                         "language_info": {"name": "python"}},
            "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(made, indent=1, ensure_ascii=False) + "\n"


def main() -> int:
    check, stale = "--check" in sys.argv[1:], []
    for script in sorted(EXAMPLES.glob("*.py")):
        path, text = script.with_suffix(".ipynb"), notebook(script.read_text())
        if path.exists() and path.read_text() == text:
            continue
        stale.append(path.name)
        if not check:
            path.write_text(text)
    if check and stale:
        print(f"out of date: {', '.join(stale)} (run tools/make_notebooks.py)", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
