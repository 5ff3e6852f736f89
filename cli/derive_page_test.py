"""The pages of `limb derive` in HTML, KaTeX and TeX: python3 cli/derive_page_test.py build/limb

KaTeX is the node package of tools/requirements-node.txt in .node, which ./run test installs if npm is available;
without it, and without a TeX engine, those tests are skipped with a message.
"""

import html
import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

LIMB = "limb"
ROOT = Path(__file__).resolve().parent.parent
KATEX = ROOT / ".node" / "node_modules" / "katex"
SMALL = ("2r", "rp", "craig-rp", "pr", "pp", "rr", "belt-leg", "cartpole", "pendulum")

RENDER = """
const katex = require(process.argv[1]);
const formulas = JSON.parse(require('fs').readFileSync(0, 'utf8'));
const failures = [];
for (const tex of formulas) {
  try { katex.renderToString(tex, {throwOnError: true, strict: 'error', displayMode: true}); }
  catch (error) { failures.push(tex + ' :: ' + error.message); }
}
console.log(JSON.stringify(failures));
"""


def derive(*arguments):
    done = subprocess.run([LIMB, "derive", *arguments], capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stderr
    return done.stdout


def formulas_of(page):
    return [html.unescape(tex) for tex in re.findall(r'data-tex="([^"]*)"', page)]


class HtmlTest(unittest.TestCase):
    def test_pages_are_self_contained(self):
        for robot in SMALL:
            page = derive(f"builtin:{robot}", "--steps", "--format", "html")
            self.assertTrue(page.startswith("<!DOCTYPE html>"))
            self.assertNotIn("http", page)
            self.assertNotIn("<script", page)
            # Every formula is well-formed MathML.
            maths = re.findall(r"<math.*?</math>", page, re.S)
            self.assertGreater(len(maths), 30, robot)
            for math in maths:
                ElementTree.fromstring(math)
            self.assertGreater(len(formulas_of(page)), 20, robot)

    def test_katex_renders_every_formula(self):
        if shutil.which("node") is None or not KATEX.is_dir():
            self.skipTest("no node or no KaTeX in .node (./run test installs it if npm is available)")
        for robot in (*SMALL, "arm6"):
            formulas = formulas_of(derive(f"builtin:{robot}", "--steps", "--format", "html"))
            done = subprocess.run(["node", "-e", RENDER, str(KATEX)], input=json.dumps(formulas),
                                  capture_output=True, text=True, timeout=1200)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(json.loads(done.stdout), [], robot)


class LatexTest(unittest.TestCase):
    def test_a_tex_engine_compiles_the_document(self):
        engine = shutil.which("pdflatex")
        if engine is None:
            self.skipTest("no pdflatex")
        for robot in ("2r", "belt-leg"):
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "page.tex"
                derive(f"builtin:{robot}", "--steps", "--format", "latex", "-o", str(path))
                done = subprocess.run([engine, "-interaction=nonstopmode", "-halt-on-error", path.name],
                                      cwd=folder, capture_output=True, text=True, timeout=1200)
                self.assertEqual(done.returncode, 0, done.stdout[-2000:])
                # No line is wider than the page by more than 5 pt.
                wide = [float(w) for w in re.findall(r"Overfull \\hbox \(([\d.]+)pt", done.stdout)]
                self.assertEqual([width for width in wide if not width < 5], [], robot)


class FormatsTest(unittest.TestCase):
    def test_markdown_has_the_same_formulas(self):
        page = derive("builtin:rr", "--steps", "--format", "markdown")
        self.assertTrue(page.startswith("# Equations of motion of rr\n"))
        displayed = re.findall(r"^\$\$\n(.*?)\n\$\$$", page, re.M | re.S)
        html_page = derive("builtin:rr", "--steps", "--format", "html")
        equations = re.findall(r'class="equation" data-tex="([^"]*)"', html_page)
        self.assertEqual(displayed, [html.unescape(e) for e in equations])

    def test_latex_balances_its_environments(self):
        page = derive("builtin:rr", "--steps", "--format", "latex")
        for name in ("document", "align*", "bmatrix"):
            begins, ends = page.count(f"\\begin{{{name}}}"), page.count(f"\\end{{{name}}}")
            self.assertEqual(begins, ends)
            self.assertGreater(begins, 0)

    def test_text_is_ascii(self):
        for robot in SMALL:
            self.assertTrue(derive(f"builtin:{robot}", "--steps").isascii(), robot)

    def test_steps_need_a_page_format(self):
        done = subprocess.run([LIMB, "derive", "builtin:2r", "--steps", "--format", "json"],
                              capture_output=True, text=True, timeout=1200)
        self.assertEqual(done.returncode, 1)
        self.assertIn("--steps needs the format text, latex, markdown or html", done.stderr)


if __name__ == "__main__":
    LIMB = sys.argv.pop(1) if len(sys.argv) > 1 else LIMB
    unittest.main(verbosity=2)
