"""`halfword doctor`."""

from dataclasses import asdict

from halfword.cli.findings import examine
from halfword.cli.options import AsJson
from halfword.cli.output import print_fields, print_json


def doctor(as_json: AsJson = False) -> None:
    """Print what this installation can do, and what is missing.

    Example: halfword doctor
    """
    findings = list(examine())
    if as_json:
        print_json({finding.name: asdict(finding) for finding in findings})
        return
    for finding in findings:
        remedy = f"; to get it: {finding.remedy}" if finding.remedy else ""
        print_fields(f"{'✓' if finding.well else '–'} {finding.name:14} {finding.state}{remedy}")
