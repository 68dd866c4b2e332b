"""A stream of new images after calibration: do outputs and coverage still fit the calibrator?"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _core
from ._arrays import make_data
from ._checks import file_path, names_of_classes, real, switch, whole
from ._files import write_whole
from ._progress import Progress, Shown
from ._types import Array, Floats, Groups, PathLike
from .calibrator import Calibrator, opened

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(frozen=True)
class WatchedFeature:
    """A monitored number: a feature of a class, in the whole image or in one region."""

    cls: int
    name: str
    rows: Optional[Tuple[int, int]]  #: first row of the region and the row after its last; None: the whole image
    columns: Optional[Tuple[int, int]]
    evidence: float  #: the alarm is raised at 1 / delta
    direction: float  #: 1 if all recent values are above the calibration values, -1 if all are below
    before: float  #: median of the calibration images
    now: float  #: recent mean


@dataclass(frozen=True)
class WatchedCoverage:
    """The coverage of one class according to the labels."""

    cls: int
    units: int  #: images (or groups) with labelled pixels of the class
    coverage: float
    low: float  #: with probability 1 - delta, a true coverage that stays the same has always been between low and high
    high: float  #: low and high are NaN once no constant coverage is possible: it has changed
    limit: float  #: the alarm for labels means that the true coverage is below this
    evidence: float  #: that the true coverage is below the limit
    odds_evidence: float  #: that odds in the class's own pixels are lower than at calibration; NaN: the calibrator stores no odds for comparison
    odds_share: float  #: share of the class's own pixels that reach odds_before or odds_now
    odds_before: float  #: log2 of the odds that this share reaches, median of the calibration images
    odds_now: float  #: the same, recent mean


@dataclass(frozen=True)
class MonitorResult:
    """The state of the stream so far, and the effect of the last update."""

    alarm: bool  #: one of the three alarms below was raised
    outputs_alarm: Optional[int]  #: number of the image (or group) at which the alarm for outputs was raised, from 1
    labels_alarm: Optional[int]  #: the same for the labels, among those with labels
    odds_alarm: Optional[int]  #: the same for the odds of a class in its own pixels
    text: List[str]  #: the verdict as text
    images: int
    units: int  #: images (or groups) tested by their outputs
    labelled_units: int
    seen: int  #: images of the last update whose outputs were seen before
    late: int  #: images of the last update that were left out because their group was already tested
    evidence: float  #: that the outputs have changed; the alarm is raised at 1 / delta
    set_size: float  #: recent mean number of classes in a set; NaN: not measured yet
    features: List[WatchedFeature]
    coverage: List[WatchedCoverage]


COVERAGE_NUMBERS = ("coverage", "low", "high", "limit", "evidence", "odds_evidence", "odds_share", "odds_before", "odds_now")


def _number(value: Optional[float]) -> float:
    return float("nan") if value is None else value


def _result(text: str) -> MonitorResult:
    found: Dict[str, Any] = json.loads(text)
    features = []
    for one in found["features"]:
        place = one["region"]
        rows, columns = (tuple(place["rows"]), tuple(place["columns"])) if place else (None, None)
        numbers = [_number(one[key]) for key in ("evidence", "direction", "before", "now")]
        features.append(WatchedFeature(one["class"], one["feature"], rows, columns, *numbers))
    coverage = [
        WatchedCoverage(one["class"], one["units"], *(_number(one[key]) for key in COVERAGE_NUMBERS)) for one in found["coverage"]
    ]
    rang = [found[key]["unit"] if found[key] else None for key in ("outputs_alarm", "labels_alarm", "odds_alarm")]
    return MonitorResult(
        found["alarm"], rang[0], rang[1], rang[2], found["text"], found["images"], found["units"], found["labelled_units"], found["update"]["seen"],
        found["update"]["late"], _number(found["evidence"]), _number(found["set_size"]), features, coverage,
    )  # fmt: skip


class Monitor:
    """Watches a stream of new images.

    Without labels: do the outputs still look like those of the calibration images? The probability that a false alarm is ever raised
    is at most `delta`. With labels: does the guarantee still hold? The unit is the image, or the group if the calibration images had
    groups. One call at a time: a call during another one, by another thread or by `progress`, raises UsageError.

    Parameters
    ----------
    calibrator : Calibrator or path
        Calibrated; or its `.kcal` file.
    delta : float
        Largest probability of ever raising a false alarm, separately for outputs and for labels.
    alpha : float
        Level of the sets whose coverage is tested.
    threads : int
        0: all of the machine.
    progress : bool or callable

    Examples
    --------
    >>> import kandinsky
    >>> scenes = kandinsky.make_scenes(images=60, grid=(24, 32))
    >>> cal = kandinsky.Calibrator("image").fit(scenes.probs[:30], scenes.labels[:30])
    >>> monitor = kandinsky.Monitor(cal)
    >>> result = monitor.update(scenes.probs[30:])
    >>> result.alarm, result.units
    (False, 30)
    """

    def __init__(
        self,
        calibrator: Union[Calibrator, PathLike],
        delta: float = 0.01,
        alpha: float = 0.1,
        *,
        threads: int = 0,
        progress: Progress = False,
    ) -> None:
        calibrator = opened(calibrator)
        core = _core.watch(calibrator._fitted(), real("delta", delta), real("alpha", alpha))
        self._begin(calibrator, core, threads, progress)

    def _begin(self, calibrator: Calibrator, core: "_core.Watch", threads: int, progress: Progress) -> None:
        self.calibrator, self._watch = calibrator, core
        self.threads, self.progress = whole("threads", threads), progress

    @classmethod
    def load(
        cls, path: PathLike, calibrator: Union[Calibrator, PathLike], *, threads: int = 0, progress: Progress = False
    ) -> "Self":
        """Continues a stream that :meth:`save`, or the command, wrote for this calibrator."""
        monitor = cls.__new__(cls)
        calibrator = opened(calibrator)
        monitor._begin(calibrator, _core.watch_again(calibrator._fitted(), file_path("path", path)), threads, progress)
        return monitor

    def update(
        self,
        probs: Array,
        labels: Optional[Array] = None,
        groups: Optional[Groups] = None,
        *,
        complete: bool = False,
        skip_seen: bool = False,
    ) -> MonitorResult:
        """Adds images in their order; a batch that is refused changes nothing.

        Parameters
        ----------
        probs : array [N,C,H,W]
        labels : array [N,H,W], optional
            Give an image without labels the ignored label at every pixel.
        groups : sequence, optional
            Needed if the calibration images had groups. A group is tested when the next group begins.
        complete : bool
            The last group has all its images and is tested now.
        skip_seen : bool
            Leave out images whose outputs are among the last 4096 different ones of the stream; their new labels count.
        """
        data = make_data(probs, labels, groups, self.calibrator.ignore, self.calibrator.logits)[0]
        with Shown(self.progress) as callback:
            text = self._watch.update(data, switch("skip_seen", skip_seen), switch("complete", complete), self.threads, callback)
        return _result(text)

    @property
    def result_(self) -> MonitorResult:
        """The result so far."""
        return _result(self._watch.json())

    def change_map(self) -> Floats:
        """Where the outputs changed, [class, height, width]: -1 (less of the class) to 1 (more); NaN: not watched, or no regions."""
        return np.asarray(self._watch.change_map())

    def save(self, path: PathLike) -> None:
        """Writes the state, less than 1 MB. A failure leaves an existing file unchanged. The command reads the file too."""
        self._watch.save(file_path("path", path))

    def report(self, path: PathLike, *, title: str = "The stream after calibration", class_names: Optional[Sequence[str]] = None) -> None:
        """Writes a report of the stream over time, one HTML file. A failure leaves an existing file unchanged."""
        target, classes = file_path("path", path), self.calibrator.n_classes_
        names = [f"class {c}" for c in range(classes)] if class_names is None else names_of_classes(class_names, classes)
        write_whole(target, self._watch.page(title, names).encode())

    def prometheus(self) -> str:
        """Metrics for the text file collector of Prometheus' node exporter."""
        return self._watch.prometheus()
