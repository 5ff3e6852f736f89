#!/usr/bin/env python3
"""Only limb's folder of reference robots is used; another one of that name is not."""

import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import shared_folder


class SharedFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        environment = mock.patch.dict(os.environ, {"LIMB_SHARED": folder.name})
        environment.start()
        self.addCleanup(environment.stop)

    def write_marker(self, text):
        (self.folder / "golden").mkdir(exist_ok=True)
        (self.folder / "golden/README.md").write_bytes(text)

    def test_with_marker(self):
        self.write_marker(b"# Reference values from Pinocchio 3.7.0\n\nmore\n")
        self.assertEqual(shared_folder.shared_path(), self.folder)
        self.assertEqual(shared_folder.why_no_shared(), "")

    def test_of_someone_else(self):
        reason = (f"{self.folder} is not limb's folder of reference robots: no golden/README.md that starts with "
                  "'# Reference values from Pinocchio'")
        self.assertEqual(shared_folder.why_no_shared(), reason)
        for text in (b"", b"# Golden retrievers\n", b"\xff\xfe", b"\n# Reference values from Pinocchio\n"):
            self.write_marker(text)
            self.assertEqual(shared_folder.why_no_shared(), reason)

    def test_absent(self):
        os.environ["LIMB_SHARED"] += "/absent"
        self.assertEqual(shared_folder.why_no_shared(),
                         f"no folder of reference robots {self.folder}/absent (LIMB_SHARED names another)")

    def test_default_is_beside_the_repository(self):
        os.environ["LIMB_SHARED"] = ""
        self.assertEqual(shared_folder.shared_path(), Path(__file__).resolve().parents[2] / "shared")

    def test_same_rule_as_the_cpp_tests(self):
        header = (shared_folder.ROOT / "limb/model/testing/shared.hpp").read_text()
        for text in (shared_folder.MARKER, shared_folder.FIRST_LINE):
            self.assertIn(f'"{text}"', header)


if __name__ == "__main__":
    unittest.main()
