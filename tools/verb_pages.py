#!/usr/bin/env python3
"""Writes docs/cli, a page per verb of the command line, from the option tables of the program:
python3 tools/verb_pages.py build/limb [FOLDER]
"""

import argparse
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def pages(program):
    """name of the file -> text"""
    def man(*arguments):
        return subprocess.run([program, "man", "--markdown", *arguments], capture_output=True, text=True,
                              check=True).stdout
    index = man()
    texts = {"index.md": index}
    for verb in re.findall(r"\]\((\w+)\.md\)", index):
        texts[f"{verb}.md"] = man(verb)
    return texts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path, help="limb")
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT / "docs/cli")
    arguments = parser.parse_args()
    texts = pages(arguments.program.resolve())
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for old in arguments.folder.glob("*.md"):
        if old.name not in texts:
            old.unlink()
    for name, text in texts.items():
        (arguments.folder / name).write_text(text)


if __name__ == "__main__":
    main()
