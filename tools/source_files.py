"""The files of this repository, without generated ones."""

import subprocess
from pathlib import Path

CPP = (".cpp", ".hpp", ".cu", ".cuh")


def source_files(root: Path) -> list[Path]:
    """All files that git tracks or would track, relative to root; without git, all files below it."""
    listing = subprocess.run(
        ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True)
    if listing.returncode == 0:
        names = {Path(name) for name in listing.stdout.decode().split("\0") if name}
        return sorted(name for name in names if (root / name).is_file())
    return sorted(path.relative_to(root) for path in root.rglob("*")
                  if path.is_file() and not is_generated(path.relative_to(root)))


def is_generated(path: Path) -> bool:
    return any(part in (".git", ".venv", "node_modules", "__pycache__") or part.startswith("build")
               for part in path.parts[:-1])
