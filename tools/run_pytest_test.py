#!/usr/bin/env python3
"""run_pytest.py must report failures, and a file as skipped only when nothing in it ran."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import run_pytest

TOOL = Path(__file__).resolve().parent / "run_pytest.py"
PASS = "def test_pass():\n    pass\n"
FAIL = "def test_fail():\n    assert 1 == 2\n"
SKIP = "import pytest\ndef test_skip():\n    pytest.skip('why')\n"
SKIP_AT_IMPORT = "import pytest\npytest.importorskip('no_such_module')\n" + PASS


class RunPytest(unittest.TestCase):
    def status(self, text):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "some_test.py"
            file.write_text(text)
            return subprocess.run([sys.executable, "-B", TOOL, file], capture_output=True).returncode

    @unittest.skipIf(run_pytest.python_with_pytest() is None, "no Python here has pytest")
    def test_status(self):
        for text, expected in ((PASS, 0), (FAIL, 1), (SKIP, 77), (SKIP_AT_IMPORT, 77), (PASS + SKIP, 0),
                               (FAIL + SKIP, 1), ("", 5), ("syntax error", 2)):
            with self.subTest(text=text):
                self.assertEqual(self.status(text), expected)

    def test_without_pytest_the_file_skips(self):
        with mock.patch.object(run_pytest, "python_with_pytest", return_value=None), \
                mock.patch.object(sys, "argv", ["run_pytest.py", "some_test.py"]):
            self.assertEqual(run_pytest.main(), 77)


if __name__ == "__main__":
    unittest.main()
