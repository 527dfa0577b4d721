"""What can go wrong, by name. Every error says what it expected, what it got and what to do."""

from __future__ import annotations


class RankloomError(Exception):
    """The root of all errors that rankloom raises on purpose."""


class InputError(RankloomError, ValueError):
    """A value, a row, a query or a parameter that cannot be used. Also a ValueError."""


class ParseError(InputError):
    """Text that is not what its format asks for: knows the file, the line and the column (both from 1)."""

    def __init__(self, reason: str, file: str, line: int | None = None, column: int | None = None) -> None:
        self.reason, self.file, self.line, self.column = reason, file, line, column
        place = ":".join(str(part) for part in (file, line, column) if part is not None)
        super().__init__(f"{place}: {reason}")


class StoreError(InputError):
    """A store folder that is damaged, incomplete, or written by a newer version."""


class ModelError(InputError):
    """A model file that is damaged, no model at all, or written by a newer version."""


class MissingPackageError(RankloomError, ImportError):
    """An optional package is needed; the message says what to install."""


class RankloomWarning(UserWarning):
    """Something works, but not as well as it could; the message says how to mend it."""
