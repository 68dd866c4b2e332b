"""The errors of the package. Messages are those of the command, in one line: what, where, what to do."""

from __future__ import annotations


class Error(Exception):
    """Base of all errors of this package."""


class UsageError(Error, ValueError):
    """An invalid option or argument."""


class DataError(Error, ValueError):
    """Input data that cannot be used; the message names the array and the place in it."""


class FileError(Error, OSError):
    """An operation of the file system failed."""


class InternalError(Error, RuntimeError):
    """A bug in the library."""


class NotFittedError(Error, ValueError, AttributeError):
    """A calibrator was used before :meth:`~kandinsky.Calibrator.calibrate`.

    Like scikit-learn's exception of this name it is a ValueError and an AttributeError.
    """
