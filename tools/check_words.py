#!/usr/bin/env python3
"""Checks the wording of code, documentation and messages. The list below has words and patterns that
readers from the field do not know or misread, each with its replacement (glossary: docs/notation.md).
Prints one line per finding, FILE:LINE first, and exits 1 if there is any.

  check_words.py [ROOT] [FOLDER_OR_FILE...]     all files, or only those below these paths
  check_words.py --list                         the patterns with their replacements
"""

import re
import sys
from pathlib import Path

from source_files import source_files

TEXT = (".cpp", ".hpp", ".h", ".in", ".py", ".pyi", ".md", ".ipynb", ".cmake", ".txt", ".toml", ".yml",
        ".json", ".cff", ".bib", ".dict", ".tsv")
NAMES = ("run", "CMakeLists.txt")
# These quote retired words.
EXCLUDED = ("tools/check_words.py", "tools/check_words_test.py", "LICENSE", "docs/references.bib")

UNIT = (r"(?:ns|us|ms|s|J|W|MB|GB|bytes|seconds|minutes|states|steps|calls|products|times|joints|numbers|files|rows|"
        r"columns|lines|entries|objects?|lanes|instructions|megabytes|gigabytes|cycles|once|twice|one|two|three|four)")
THING = (r"(?:call|state|step|second|minute|joint|row|column|leg|thread|file|body|frame|pair|line|foot|sine|run|product|"
         r"link|contact|velocity|robot|batch|function|word|core|lane|folder|block|day|night|pack|register|cycle|sample)")

# (pattern, what to write instead). Matched without regard to case unless the pattern says otherwise.
WORDS = [
    (r"\brooms?\b", "module (code), workspace or buffer (memory)"),
    (r"\bdoors?\b", "API, entry point, interface"),
    (r"(?<!\")\bcustoms?\b", "convention, representation; user-defined"),
    (r"\bkin\b", "related functions"),
    (r"\bwalks? (?:over|along|down|up|of|through) (?:the |a |its )?(?:tree|joints|bodies|model)\b", "traversal, pass"),
    (r"\b(?:outward|inward)s? (?:step|pass|sweep|loop|recursion|walk)", "forward pass, backward pass"),
    (r"\bpast the caches?\b", "non-temporal (streaming) stores"),
    (r"\bthe begins?\b(?!\()", "the start, the beginning"),
    (r"\bwish(?:es|ed)?\b", "target"),
    (r"\b\w*_wheels\b|\bwheels?' own\b|\bthe wheels\b(?! (?:of|are|turn|roll))|"
     r"\bwhere the wheel\b|(?<!python )\bthe wheel (?:pin|sympy|mujoco|scipy)\b",
     "name the library: Pinocchio, MuJoCo"),
    (r"\bg[ia]ves? way\b|\bgive_way\b", "is eliminated, yields (name the operation)"),
    (r"\b(?:is|are|was|were|be) (?-i:none)\b(?! of)", "is invalid, is not one, does not exist"),
    (r"(?<!there )(?<!with )\b(?:is|are) no (?!longer\b|more\b|less\b|better\b|worse\b|faster\b|slower\b|such\b|need\b|"
     r"different\b|matter\b|greater\b|smaller\b|larger\b)[a-z]", "is not a ..."),
    (rf"\b{UNIT} an? {THING}s?\b", "per"),
    (r"(?://+<?|#|^\s*\*) ?(?-i:Of) (?!course)", "a comment that does not open with 'Of'"),
    (r"\bmends?\b|\bmended\b|\bmending\b", "fix, repair, correct"),
    (r"\banew\b", "again"),
    (r"\bmade sound\b|\bkept sound\b", "re-symmetrised and kept positive definite"),
    (r"\bleash\b", "clamped"),
    (r"\bround in circles\b", "cycles"),
    (r"\b(?:hears?|heard) of\b", "is unaffected by, does not depend on"),
    (r"\benergy books?\b|\bbooks? of (?:energy|the energy)\b|\bbooks? closes?\b", "energy balance"),
    (r"\bwhat one asks\b|\bas one writes\b|\bthat one has\b|\bwhat one would\b", "a plain verb with a subject"),
    (r"\bbunch(?:es)?\b", "group of degrees of freedom"),
    (r"\bseams?\b", "partial cache line; gap"),
    (r"\bweaves?\b|\bweaver\b|\bwoven\b", "interleave"),
    (r"\bseen_from_root\b|\bstand_all\b|\bmove_support\b|\bstraight_step\b|\bname_pairs\b|\bFreeVelocity\b|"
     r"\bCanonicalStep\b|\blimb_room\b|\bThreeFours\b|\blimited_step\b", "the new name (docs/notation.md)"),
    (r"\bphysics' own\b|\bin the laboratory\b", "a plain statement"),
    (r"\bas a user meets (?:it|them)\b", "the name of what is tested"),
    (r"\bwho(?:ever)? waits\b|\bfor who\b", "the person or the program"),
    (r"\bwhere there (?:is|are) (?-i:none)\b", "if there is none, if it does not exist"),
    (r"\bclosed on (?:the|an|its) (?:base|estimate)\b", "on its own state estimate"),
    (r"\bns an? \w+|\bus an? (?:step|call)\b", "ns per ..."),
    (r"wheels_test\b", "_vs_pinocchio_test, _vs_mujoco_test"),
    (r"\b(?:at|to|of|for|by) who(?:ever)? holds\b", "by its owner"),
    (r"\bpack of (?:them|numbers)\b", "pack"),
    (r"\brest acceleration\b", "zero acceleration"),
    (r"\bmove the whole\b|\bthe whole of it\b", "all of it"),
    (r"\bas the crow\b|\bmerry\b|\bthereof\b|\bwherein\b|\bthereby\b|\bhenceforth\b", "plain words"),
]
COMPILED = [(re.compile(pattern, re.IGNORECASE), instead) for pattern, instead in WORDS]


def is_text(path: Path) -> bool:
    return (path.suffix in TEXT or path.name in NAMES) and str(path) not in EXCLUDED


def check_text(text: str) -> list[tuple[int, str, str]]:
    """(line number, what was found, what to write instead) for each finding."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        for pattern, instead in COMPILED:
            if match := pattern.search(line):
                found.append((number, match[0].strip(), instead))
    return found


def check(root: Path, below: list[str] = ()) -> list[str]:
    errors = []
    for path in source_files(root):
        if not is_text(path) or (below and not any(str(path).startswith(name) for name in below)):
            continue
        text = (root / path).read_text(encoding="utf-8", errors="replace")
        errors += [f"{path}:{number}: '{found}': write {instead}"
                   for number, found, instead in check_text(text)]
    return errors


def main() -> int:
    arguments = sys.argv[1:]
    if arguments == ["--list"]:
        for pattern, instead in WORDS:
            print(f"{pattern}\n    -> {instead}")
        return 0
    root = Path(__file__).resolve().parent.parent
    if arguments and Path(arguments[0]).is_dir() and (Path(arguments[0]) / ".git").exists():
        root = Path(arguments.pop(0))
    errors = check(root, [name.rstrip("/") for name in arguments])
    print("\n".join(errors) if errors else "check_words: no retired word")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
