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
    done = subprocess.run([LIMB, "derive", *map(str, arguments)], capture_output=True, text=True, timeout=1200)
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
            self.assertEqual(page.count("<svg"), 1, robot)

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
    def compile(self, *arguments):
        """Compiles the page; no line may be wider than the text by more than 5 pt."""
        engine = shutil.which("pdflatex")
        if engine is None:
            self.skipTest("no pdflatex")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "page.tex"
            derive(*arguments, "--format", "latex", "-o", str(path))
            done = subprocess.run([engine, "-interaction=nonstopmode", "-halt-on-error", path.name],
                                  cwd=folder, capture_output=True, text=True, timeout=1200)
            self.assertEqual(done.returncode, 0, f"{arguments}: {done.stdout[-2000:]}")
            wide = [float(w) for w in re.findall(r"Overfull \\hbox \(([\d.]+)pt", done.stdout)]
            self.assertEqual([width for width in wide if not width < 5], [], arguments)

    def test_a_tex_engine_compiles_every_page(self):
        for robot in (*SMALL, "arm6"):
            for options in ([], ["--steps"], ["--symbolic-parameters"], ["--recursive"]):
                if robot == "arm6" and options == ["--symbolic-parameters"]:
                    options = [*options, "--only", "G"]
                self.compile(f"builtin:{robot}", *options)
        self.compile("builtin:quadruped", "--base", "fixed")
        self.compile("builtin:rr", "--route", "all", "--steps", "--letters", "DCg", "--long-functions", "--expanded")
        self.compile("builtin:planar-biped")
        self.compile("builtin:humanoid", "--recursive", "--only", "tau")

    def test_names_with_special_characters(self):
        recipe = (ROOT / "models" / "belt-leg.toml").read_text()
        for name in re.findall(r'^name = "(\w+)"', recipe, re.M):
            recipe = recipe.replace(f'"{name}"', f'"{name}_1 & 50% $^~#"')
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "special.toml"
            path.write_text(recipe)
            self.compile(path, "--steps")
            self.compile(path, "--recursive")
            self.assertIn("&amp; 50%", derive(path, "--steps", "--format", "html"))

    def test_slides_and_fragments(self):
        slides = derive("builtin:rr", "--route", "all", "--steps", "--format", "beamer")
        self.assertEqual(slides.count(r"\begin{frame}"), slides.count(r"\end{frame}"))
        self.assertGreater(slides.count(r"\begin{frame}"), 30)
        fragment = derive("builtin:rr", "--format", "latex-fragment")
        self.assertNotIn("documentclass", fragment)
        self.assertIn(r"\section{Result}", fragment)
        engine = shutil.which("pdflatex")
        if engine is None or subprocess.run(["kpsewhich", "pgfmath.sty"], capture_output=True).returncode != 0:
            self.skipTest("no pdflatex or no beamer")
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "slides.tex").write_text(slides)
            done = subprocess.run([engine, "-interaction=nonstopmode", "-halt-on-error", "slides.tex"],
                                  cwd=folder, capture_output=True, text=True, timeout=1200)
            self.assertEqual(done.returncode, 0, done.stdout[-2000:])

    def test_needs_only_amsmath(self):
        for options in (["--steps"], ["--recursive"]):
            page = derive("builtin:rr", "--format", "latex", *options)
            self.assertEqual(re.findall(r"\\usepackage.*", page), [r"\usepackage{amsmath}"])
            self.assertTrue(page.startswith(r"\documentclass"))
            self.assertTrue(page.rstrip().endswith(r"\end{document}"))


class DrawTest(unittest.TestCase):
    def draw(self, *arguments):
        return subprocess.run([LIMB, "draw", *arguments], capture_output=True, text=True, timeout=1200)

    def test_figures_are_well_formed(self):
        for robot in (*SMALL, "arm6", "planar-monopod", "planar-biped", "planar-quadruped"):
            done = self.draw(f"builtin:{robot}")
            self.assertEqual(done.returncode, 0, done.stderr)
            svg = ElementTree.fromstring(done.stdout)
            width, height = (float(x) for x in svg.get("viewBox").split()[2:])
            tag = "{http://www.w3.org/2000/svg}"
            self.assertGreater(len(svg.findall(f"{tag}text")), 1, robot)
            for line in svg.findall(f"{tag}line"):
                for key, limit in (("x1", width), ("x2", width), ("y1", height), ("y2", height)):
                    self.assertTrue(-1 <= float(line.get(key)) <= limit + 1, f"{robot}: {line.attrib}")

    def test_a_pose_and_letters(self):
        text = self.draw("builtin:rr", "--q", "0.3,1.2").stdout
        plain = "".join(ElementTree.fromstring(text).itertext()).replace("\u200b", "")
        for letter in ("θ1", "θ2", "m1", "m2", "l1", "lc1", "lc2", "g"):
            self.assertIn(letter, plain)
        self.assertNotEqual(text, self.draw("builtin:rr").stdout)
        wrong = self.draw("builtin:rr", "--q", "1,2,3")
        self.assertEqual((wrong.returncode, wrong.stdout), (1, ""))
        self.assertIn("q has 3 numbers, expected 2", wrong.stderr)


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
