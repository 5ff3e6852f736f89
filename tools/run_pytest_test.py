#!/usr/bin/env python3
"""run_pytest.py must report failures, and a file as skipped only when nothing in it ran."""

import os
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
    def run_file(self, text):
        """Exit status, and what is recorded about skipped tests."""
        with tempfile.TemporaryDirectory() as folder:
            file, skips = Path(folder) / "some_test.py", Path(folder) / "skips/some_test.txt"
            file.write_text(text)
            status = subprocess.run([sys.executable, "-B", TOOL, file], capture_output=True,
                                    env={**os.environ, "LIMB_SKIPS": str(skips)}).returncode
            return status, skips.read_text() if skips.exists() else ""

    @unittest.skipIf(run_pytest.python_with_pytest() is None, "no Python here has pytest")
    def test_status(self):
        skip = "test_skip\twhy\n"
        for text, *expected in ((PASS, 0, ""), (FAIL, 1, ""), (SKIP, 77, skip), (PASS + SKIP, 0, skip),
                                (FAIL + SKIP, 1, skip), ("", 5, ""), ("syntax error", 2, "")):
            with self.subTest(text=text):
                self.assertEqual(self.run_file(text), tuple(expected))

    @unittest.skipIf(run_pytest.python_with_pytest() is None, "no Python here has pytest")
    def test_file_that_skips_at_import(self):
        status, skipped = self.run_file(SKIP_AT_IMPORT)
        self.assertEqual(status, 77)
        self.assertIn("could not import 'no_such_module'", skipped)

    def test_without_pytest_the_file_skips(self):
        with mock.patch.object(run_pytest, "python_with_pytest", return_value=None), \
                mock.patch.dict(os.environ), mock.patch.object(sys, "argv", ["run_pytest.py", "some_test.py"]):
            os.environ.pop("LIMB_SKIPS", None)
            self.assertEqual(run_pytest.main(), 77)


if __name__ == "__main__":
    unittest.main()
