"""Size and Dice of each class in each group, and intervals with a guaranteed probability of containing the truth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, List, Optional, Sequence

from . import _core
from ._arrays import class_list
from ._checks import real, switch, whole, word
from ._progress import Progress, Shown
from ._rules import Cases, Rule, told
from ._types import Array, Classes, Groups, Labels, Logits, MeasureBy


@dataclass(frozen=True)
class Measurement:
    """One class in one group. Sizes are areas or volumes, in pixels, voxels, mm^2 or mm^3; truths are NaN without labels."""

    group: int
    cls: int
    size: float  #: of the predicted mask
    size_low: float
    size_high: float
    size_true: float
    dice: float  #: expected Dice of the predicted mask
    dice_low: float
    dice_high: float
    dice_true: float


class MeasureRule(Rule):
    """The rule that turns predictions into intervals; :func:`fit_measure` makes it."""

    _format = "kandinsky measures"

    def predict(
        self,
        probs: Array,
        labels: Optional[Array] = None,
        groups: Optional[Groups] = None,
        *,
        spacing: Optional[Sequence[float]] = None,
        ignore: Labels = 255,
        logits: Logits = "none",
        threads: int = 0,
        progress: Progress = False,
    ) -> List[Measurement]:
        """The intervals of new images: a :class:`Measurement` for each group and class, groups in ascending order.

        Parameters
        ----------
        probs : array [N,C,H,W] or [N,C,D,H,W]
            Probabilities; predicted labels if the rule was made from masks.
        labels : array, optional
            The truth, returned with the intervals.
        groups : sequence, optional
            Group of each image; default: each image or volume is a group.
        """
        cases = self._cases(probs, labels, groups, spacing, ignore, logits)
        with Shown(progress) as callback:
            found = _core.measure_apply(self._text, cases.data, cases.volumes, cases.spacing, whole("threads", threads), callback)
        return [Measurement(*one) for one in found]


def fit_measure(
    probs: Array,
    labels: Array,
    groups: Optional[Groups] = None,
    *,
    alpha: float = 0.1,
    confidence: float = 0.0,
    by: Optional[MeasureBy] = None,
    masks: bool = False,
    spacing: Optional[Sequence[float]] = None,
    classes: Classes = None,
    seed: int = 0,
    ignore: Labels = 255,
    logits: Logits = "none",
    threads: int = 0,
    progress: Progress = False,
) -> MeasureRule:
    """Learns from labelled images how wide intervals of size and Dice must be.

    The true size of a new group lies in its interval with probability at least 1 - `alpha`, and so does the true Dice of the
    predicted mask, if the new group and these groups are exchangeable. Groups without the class count too.

    Parameters
    ----------
    probs, labels, groups, masks, spacing, classes, ignore, logits, threads, progress
        As for :func:`fit_outline`.
    alpha : float
        Share of groups whose interval may miss the truth.
    confidence : float
        0: `alpha` holds on average over the draws of calibration data; otherwise in at least this share of them, such as 0.95.
    by : {"quantiles", "predicted", "soft", "relative", "auto"}, optional
        Interval before calibration: from the size of p > 0.9 to that of p > 0.1 ("quantiles", the default), the size of the
        predicted mask ("predicted", the default for masks), the sum of the probabilities above 0.1 ("soft"), the predicted
        mask with a width in proportion to its size ("relative"), or the narrowest of these ("auto").
    seed : int
        Seed for drawing the groups from which "auto" chooses.

    Returns
    -------
    MeasureRule
    """
    cases = Cases(probs, labels, groups, masks=switch("masks", masks), spacing=spacing, ignore=ignore, logits=logits)
    start = word("by", ("predicted" if masks else "quantiles") if by is None else by)
    with Shown(progress) as callback:
        rule = MeasureRule(
            _core.measure_fit(
                cases.data, cases.volumes, cases.spacing, real("alpha", alpha), real("confidence", confidence), start, masks, class_list(classes), whole("seed", seed),
                whole("threads", threads), callback,
            )
        )  # fmt: skip
    told(_core.measure_remarks(rule._text))
    return rule


def measure(
    cal_probs: Array,
    cal_labels: Array,
    probs: Array,
    labels: Optional[Array] = None,
    *,
    cal_groups: Optional[Groups] = None,
    groups: Optional[Groups] = None,
    **options: Any,
) -> List[Measurement]:
    """:func:`fit_measure` and :meth:`MeasureRule.predict` in one call.

    Parameters
    ----------
    cal_probs, cal_labels, cal_groups
        Labelled images.
    probs, labels, groups
        New images; labels are not needed.
    **options
        Those of :func:`fit_measure`.

    Returns
    -------
    list of Measurement

    Examples
    --------
    >>> import kandinsky
    >>> scenes = kandinsky.make_scenes(images=60, grid=(24, 32))
    >>> found = kandinsky.measure(scenes.probs[:50], scenes.labels[:50], scenes.probs[50:])
    >>> len(found), found[0].cls
    (10, 1)
    """
    rule = fit_measure(cal_probs, cal_labels, cal_groups, **options)
    kept = {name: options[name] for name in ("spacing", "ignore", "logits", "threads", "progress") if name in options}
    return rule.predict(probs, labels, groups, **kept)
