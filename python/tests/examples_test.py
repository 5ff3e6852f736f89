"""Every example runs, as a script and as a notebook."""

import json
import os
import subprocess
import sys
import xml.etree.ElementTree
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "python/examples").glob("*.py"))
STATES = "20000"  # instead of a million


@pytest.fixture(autouse=True)
def solver(request):
    """Skips examples of legged robots if limb was built without a QP solver."""
    import limb

    path = request.node.callspec.params.get("path") if hasattr(request.node, "callspec") else None
    if path is not None and path.stem in ("whole_body", "legged") and not limb.control.has_qp():
        pytest.skip("limb was built without a QP solver")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_script(path, tmp_path):
    """It runs and writes its picture."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "LIMB_EXAMPLE_STATES": STATES}
    done = subprocess.run([sys.executable, "-B", path], capture_output=True, text=True, env=environment, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout
    if path.stem == "pinocchio_translation" and "not installed" in done.stdout:
        return
    picture = xml.etree.ElementTree.parse(tmp_path / f"{path.stem}.svg").getroot()
    assert picture.tag.endswith("svg") and len(picture) > 10


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_notebook(path, monkeypatch, tmp_path):
    """Runs the cells in order; the last expression of each must have a representation."""
    import ast

    monkeypatch.setenv("LIMB_EXAMPLE_STATES", STATES)
    monkeypatch.chdir(tmp_path)
    notebook = json.loads(path.with_suffix(".ipynb").read_text())
    assert notebook["nbformat"] == 4
    names = {"__name__": "__main__"}
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        tree = ast.parse("".join(cell["source"]))
        shown = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, path.name, "exec"), names)
        if shown is not None:
            value = eval(compile(ast.Expression(shown.value), path.name, "eval"), names)
            for method in ("_repr_latex_", "_repr_html_"):
                if hasattr(value, method):
                    assert getattr(value, method)()


def test_notebooks_are_up_to_date():
    done = subprocess.run([sys.executable, "-B", ROOT / "tools/make_notebooks.py", "--check"], capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stderr
    assert len(EXAMPLES) >= 12


def test_every_controller_is_in_an_example():
    import limb

    text = "".join(path.read_text() for path in EXAMPLES)
    made = [name for name in limb.control.__all__ if hasattr(getattr(limb.control, name), "controller")]
    assert len(made) >= 10
    assert [name for name in made + ["WholeBody"] if f"control.{name}(" not in text] == []


def test_every_page_is_in_the_site():
    """mkdocs.yml lists all pages of docs/, and only those."""
    import re

    listed = re.findall(r"^ +- (?:[^:\n]+: )?([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    pages = [str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")]
    assert sorted(listed) == sorted(pages)


def test_every_example_is_in_the_docs_with_its_picture():
    page = (ROOT / "docs/examples.md").read_text()
    for path in EXAMPLES:
        assert f"python/examples/{path.name}" in page
        assert f"images/examples/{path.stem}.svg" in page and (ROOT / f"docs/images/examples/{path.stem}.svg").exists()
