"""Progress of long work: tqdm's bar if it is installed, or the user's callable."""

from __future__ import annotations

from typing import Any, Callable, Optional, Union

Callback = Callable[[str, int, int], None]
Progress = Union[bool, Callback]


class _Bar:
    """One tqdm bar per stage of the work."""

    def __init__(self, tqdm: Any) -> None:
        self._tqdm = tqdm
        self._bar: Any = None
        self._stage = ""

    def __call__(self, stage: str, done: int, total: int) -> None:
        if self._bar is None or stage != self._stage or total != self._bar.total:
            self.close()
            self._bar, self._stage = self._tqdm(total=total, desc=stage, leave=False), stage
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


class Shown:
    """`with Shown(progress) as callback`: the callable for the library, or None without progress."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._bar: Optional[_Bar] = None

    def __enter__(self) -> Optional[Callback]:
        if callable(self._progress):
            return self._progress
        if not self._progress:
            return None
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return None
        self._bar = _Bar(tqdm)
        return self._bar

    def __exit__(self, *_: Any) -> None:
        if self._bar is not None:
            self._bar.close()
