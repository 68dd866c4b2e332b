"""Outlines: masks inside an object and masks that contain it, with a guarantee for each new group."""

from __future__ import annotations

import json
from typing import Any, Dict, List, Optional, Sequence

import numpy as np

from . import _core
from ._arrays import as_array, class_list
from ._checks import real, switch, whole, word
from ._progress import Progress, Shown
from ._rules import Cases, Rule, told
from ._shapes import volumes_of_sets
from ._types import Array, Classes, Connectivity, Groups, Labels, Logits, OutlineUnit, Sides
from .calibrator import Calibrator
from .errors import DataError, UsageError
from .plot import _axes


class OutlineRule(Rule):
    """The calibrated rule that turns predictions into outlines; :func:`fit_outline` makes it.

    Attributes
    ----------
    calibrator : Calibrator or None
        The calibrator given to :func:`fit_outline`. A loaded rule has none: set it after :meth:`load` if the score is "field".
    """

    _format = "kandinsky outlines"
    calibrator: Optional[Calibrator] = None

    def _fitted(self) -> Optional[_core.Calibrated]:
        return None if self.calibrator is None else self.calibrator._fitted()

    def predict(
        self,
        probs: Array,
        *,
        spacing: Optional[Sequence[float]] = None,
        logits: Logits = "none",
        threads: int = 0,
        progress: Progress = False,
    ) -> np.ndarray:
        """The outlines of new images.

        Parameters
        ----------
        probs : array [N,C,H,W] or [N,C,D,H,W]
            Probabilities; predicted labels [N,H,W] or [N,D,H,W] if the rule was made from masks.
        spacing : sequence of float, optional
            Millimetres between rows and columns, or between slices, rows and columns, as for :func:`fit_outline`.

        Returns
        -------
        ndarray
            uint8 [N,K,H,W] or [N,K,D,H,W] for K classes: 0 outside the outer mask, 1 between, 2 in the inner mask.
        """
        cases = self._cases(probs, None, None, spacing, None if not self._json["masks_only"] else 255, logits)
        height, width = cases.data.grid
        out = np.empty((cases.data.images, len(self.classes), height, width), np.uint8)
        with Shown(progress) as callback:
            _core.outline_apply(
                self._text, cases.data, cases.volumes, cases.spacing, out, self._fitted(), whole("threads", threads), callback
            )
        return volumes_of_sets(out, cases.shape[2]) if cases.volumes else out

    def evaluate(
        self,
        probs: Array,
        labels: Array,
        groups: Optional[Groups] = None,
        *,
        small: float = 0.0,
        spacing: Optional[Sequence[float]] = None,
        ignore: Labels = 255,
        logits: Logits = "none",
        threads: int = 0,
        progress: Progress = False,
    ) -> List[Dict[str, Any]]:
        """Evaluates the outlines of labelled images: a dictionary for each class, as in the command's JSON under "test".

        Parameters
        ----------
        probs, labels, groups, spacing, ignore, logits, threads, progress
            As for :func:`fit_outline`.
        small : float
            Size up to which objects count as small, in pixels or voxels, or in mm^2 or mm^3 with a spacing. 0: objects
            are counted by powers of ten of their size.
        """
        cases = self._cases(probs, labels, groups, spacing, ignore, logits)
        with Shown(progress) as callback:
            found: List[Dict[str, Any]] = json.loads(
                _core.outline_judge(
                    self._text, cases.data, cases.volumes, cases.spacing, real("small", small), self._fitted(),
                    whole("threads", threads), callback,
                )
            )  # fmt: skip
        return found


def fit_outline(
    probs: Array,
    labels: Array,
    groups: Optional[Groups] = None,
    *,
    alpha: float = 0.1,
    confidence: float = 0.0,
    share: Optional[float] = None,
    unit: OutlineUnit = "group",
    connectivity: Connectivity = "corners",
    sides: Optional[Sides] = None,
    score_function: str = "auto",
    calibrator: Optional[Calibrator] = None,
    masks: bool = False,
    spacing: Optional[Sequence[float]] = None,
    classes: Classes = None,
    seed: int = 0,
    ignore: Labels = 255,
    logits: Logits = "none",
    threads: int = 0,
    progress: Progress = False,
) -> OutlineRule:
    """Learns from labelled images how far an inner and an outer mask must be from the predicted mask.

    For a new group that has the class, the inner mask lies in the object and the outer mask contains it, both together with
    probability at least 1 - `alpha`, if the new group and these groups are exchangeable. With ``unit="object"`` the outer mask
    misses at most `alpha` of a new group's objects on average.

    Parameters
    ----------
    probs : array [N,C,H,W] or [N,C,D,H,W]
        Probabilities; volumes are measured in three dimensions. With ``masks=True``, predicted labels [N,H,W] or
        [N,D,H,W].
    labels : array [N,H,W] or [N,D,H,W], or masks of 0 and 1 with a class axis
        The truth.
    groups : sequence, optional
        Group of each image (patient); a volume is a group.
    alpha : float
        Share of groups whose masks may fail.
    confidence : float
        0: `alpha` holds on average over the draws of calibration data; otherwise in at least this share of them, such as 0.95.
    share : float, optional
        The outer mask contains at least this share of the object, and the inner mask exceeds the object by at most 1 - share
        times its size. The object is all pixels of the class in a group, and the default is 1. With ``unit="object"`` an object
        is missed unless the outer mask contains this share of it; with the default 0, one pixel is enough.
    unit : {"group", "object"}
        Unit of `alpha`: groups whose masks fail, or objects that the outer mask misses. Objects are connected components.
    connectivity : {"corners", "faces"}
        Neighbours that belong to one object: those that touch at corners (8, 26 in volumes) or at faces (4, 6).
    sides : {"both", "outer", "inner"}, optional
        Masks to make; a single mask is tighter. The default is "both", or "outer" with ``unit="object"``.
    score_function : str
        "auto", "distance", "relative" (in radii of the predicted mask), "doubt" (relative to the radius and the model's uncertainty),
        "probability" or "field" (p-values of `calibrator`). "distance:10", "relative:10" and "doubt:10" add 10 (1 - p) to the
        distance in pixels.
    calibrator : Calibrator, optional
        For the score "field", which "auto" then tries too. It must be calibrated on other images.
    masks : bool
        `probs` are predicted labels, for models without probabilities.
    spacing : sequence of float, optional
        Millimetres between rows and columns, or between slices, rows and columns; default: lengths are in pixels.
    classes : int or sequence of int, optional
        Classes to outline; default: all except 0.
    seed : int
        Seed for drawing the groups from which the score is chosen.
    ignore, logits, threads, progress
        As for :class:`Calibrator`.

    Returns
    -------
    OutlineRule
    """
    cases = Cases(probs, labels, groups, masks=switch("masks", masks), spacing=spacing, ignore=ignore, logits=logits)
    objects = word("unit", unit) == "object"
    least = (0.0 if objects else 1.0) if share is None else real("share", share)
    which = ("outer" if objects else "both") if sides is None else word("sides", sides)
    if not isinstance(score_function, str):
        raise UsageError(f"score_function is {score_function!r}, but must be a name such as 'auto'")
    if calibrator is not None and not isinstance(calibrator, Calibrator):
        raise UsageError(f"calibrator is a {type(calibrator).__name__}, but must be a Calibrator")
    if calibrator is not None and score_function not in ("auto", "field"):
        raise UsageError("calibrator has no effect: score_function is neither 'field' nor 'auto'")
    fitted = None if calibrator is None else calibrator._fitted()
    with Shown(progress) as callback:
        rule = OutlineRule(
            _core.outline_fit(
                cases.data, cases.volumes, cases.spacing, real("alpha", alpha), real("confidence", confidence), least, unit,
                word("connectivity", connectivity), which, score_function, masks, class_list(classes), whole("seed", seed), fitted, whole("threads", threads), callback,
            )
        )  # fmt: skip
    rule.calibrator = calibrator
    told(_core.outline_remarks(rule._text))
    return rule


def outline(
    cal_probs: Array, cal_labels: Array, probs: Array, *, cal_groups: Optional[Groups] = None, **options: Any
) -> np.ndarray:
    """:func:`fit_outline` and :meth:`OutlineRule.predict` in one call.

    Parameters
    ----------
    cal_probs, cal_labels, cal_groups
        Labelled images.
    probs
        New images.
    **options
        Those of :func:`fit_outline`.

    Returns
    -------
    ndarray
        uint8: 0 outside the outer mask, 1 between, 2 in the inner mask.

    Examples
    --------
    >>> import kandinsky
    >>> scenes = kandinsky.make_scenes(images=60, grid=(24, 32))
    >>> codes = kandinsky.outline(scenes.probs[:50], scenes.labels[:50], scenes.probs[50:], share=0.9)
    >>> codes.shape
    (10, 1, 24, 32)
    """
    rule = fit_outline(cal_probs, cal_labels, cal_groups, **options)
    kept = {name: options[name] for name in ("spacing", "logits", "threads", "progress") if name in options}
    return rule.predict(probs, **kept)


def plot_outline(
    codes: Array, image: Optional[Array] = None, truth: Optional[Array] = None, *, ax: Any = None, labels: bool = True
) -> Any:
    """Draws the outline of one class in one image, over the image if there is one.

    Parameters
    ----------
    codes : array [H,W]
        Codes of one image (or slice) and class, from :meth:`OutlineRule.predict`.
    image : array [H,W] or [H,W,3], optional
        Drawn below.
    truth : array [H,W], optional
        The object, if known.
    ax : matplotlib axes, optional
    labels : bool
        Whether there is a legend.

    Returns
    -------
    matplotlib axes
    """
    found = as_array(codes, "codes")
    if found.ndim != 2:
        raise DataError(f"codes has shape {list(found.shape)}, but must be those of one image and class, [height, width]")
    ax = _axes(ax)
    lines = [("outer mask", found > 0, "C1"), ("inner mask", found == 2, "C0")]
    below = found.astype(float) if image is None else as_array(image, "image")
    if below.shape[:2] != found.shape:
        raise UsageError(f"image has shape {list(below.shape)}, but codes has {list(found.shape)}")
    ax.imshow(below, cmap="gray", alpha=0.3 if image is None else 1.0)
    if truth is not None:
        lines.append(("object", as_array(truth, "truth").astype(bool), "C2"))
    for name, mask, colour in lines:
        if mask.shape != found.shape:
            raise UsageError(f"truth has shape {list(mask.shape)}, but codes has {list(found.shape)}")
        if mask.any() and not mask.all():
            ax.contour(mask.astype(float), [0.5], colors=colour, linewidths=1.5)
        ax.plot([], [], color=colour, label=name)
    if labels:
        ax.legend(loc="upper right", fontsize="small")
    ax.set_xticks([]), ax.set_yticks([])
    return ax
