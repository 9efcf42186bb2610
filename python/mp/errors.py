# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What went wrong, as exceptions that hold the compiler's diagnostics."""
import dataclasses

SEVERITIES = ("note", "remark", "warning", "error")


@dataclasses.dataclass
class Diagnostic:
    """One thing the compiler said; `location` is FILE:LINE:COLUMN, a name, or 'unknown'."""

    severity: str
    message: str
    location: str
    notes: list = dataclasses.field(default_factory=list)

    def __str__(self):
        place = "" if self.location == "unknown" else self.location + ": "
        return "\n".join([f"{place}{self.severity}: {self.message}", *[f"  {note}" for note in self.notes]])


class Error(ValueError):
    """mp refused something. `diagnostics` holds what the compiler said, in order."""

    def __init__(self, message, diagnostics=()):
        super().__init__(message)
        self.diagnostics = list(diagnostics)


class MissingPackage(ImportError):
    """A route needs a package that is not installed; the message has the command that installs it."""

    def __init__(self, what, packages):
        super().__init__(f"{what} needs {' and '.join(packages)}: pip install {' '.join(packages)}")
        self.packages = list(packages)
