#!/usr/bin/env python3
"""Formulas of derivations as HTML."""

import unittest

from docs_hooks import typeset, typeset_page


class Typeset(unittest.TestCase):
    def test_indices_powers_and_letters(self):
        self.assertEqual(typeset("Gamma_ijk = dM_ij/dq_k"),
                         "<i>Γ</i><sub>ijk</sub> = <i>dM</i><sub>ij</sub>/<i>dq</i><sub>k</sub>")
        self.assertEqual(typeset("M^-1 J^T"), "<i>M</i><sup>−1</sup> <i>J</i><sup>T</sup>")

    def test_signs(self):
        self.assertEqual(typeset("a x b <= c"), "<i>a</i> × <i>b</i> ≤ <i>c</i>")
        self.assertEqual(typeset("x = 1"), "<i>x</i> = 1")  # a variable, not a product
        self.assertEqual(typeset("a < b & c"), "<i>a</i> &lt; <i>b</i> &amp; <i>c</i>")

    def test_only_blocks_of_formulas_change(self):
        page = "Text\n\n    a = b^2\n    c = d\n\nMore `x_1`\n\n    const int a = 1;\n\n```\n    a = b\n```\n- item\n\n    in a list\n"
        made = typeset_page(page)
        self.assertIn('<div class="formula"><i>a</i> = <i>b</i><sup>2</sup>\n<i>c</i> = <i>d</i></div>', made)
        self.assertIn("    const int a = 1;", made)
        self.assertIn("```\n    a = b\n```", made)
        self.assertIn("    in a list", made)
        self.assertEqual(made.count("formula"), 1)


if __name__ == "__main__":
    unittest.main()
