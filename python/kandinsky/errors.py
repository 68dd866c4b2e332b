"""What can go wrong. The texts are those of the command: what, where, what to do, in one line."""

from __future__ import annotations


class Error(Exception):
    """Base of all errors of this package."""


class UsageError(Error, ValueError):
    """An invalid option or argument."""


class DataError(Error, ValueError):
    """Input data that cannot be used; the text names the array and the place in it."""


class FileError(Error, OSError):
    """The file system said no."""


class InternalError(Error, RuntimeError):
    """A fault of the library."""


class NotFittedError(Error, ValueError, AttributeError):
    """A calibrator was asked for something that it knows only after :meth:`~kandinsky.Calibrator.calibrate`.

    Like scikit-learn's exception of this name it is a ValueError and an AttributeError.
    """
