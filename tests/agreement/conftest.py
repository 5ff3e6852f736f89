"""Prints the table of verdicts at the end."""

import agreement


def pytest_terminal_summary(terminalreporter):
    for library in agreement.REPORT:
        for line in agreement.report(library):
            terminalreporter.write_line(line)
