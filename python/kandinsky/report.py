"""The HTML report: one self-contained page."""

from __future__ import annotations

import base64
from typing import Any, Dict, Optional, Sequence, Union

from . import _core
from ._arrays import class_list, ignore_list, make_data, one_level
from ._checks import file_path, whole
from ._files import write_whole
from ._progress import Progress, Shown
from ._types import Array, Classes, Labels, Logits, PathLike
from .calibrator import Calibrator
from .comparison import Comparison
from .errors import UsageError


class Report:
    """A page, which a notebook displays.

    Attributes
    ----------
    html : bytes
        The page in UTF-8.
    path : str or None
        The file that it was written to.
    """

    def __init__(self, html: bytes, path: Optional[str]) -> None:
        self.html, self.path = html, path

    def save(self, path: PathLike) -> None:
        """Writes the page. A failure leaves an existing file unchanged."""
        target = file_path("path", path)
        write_whole(target, self.html)
        self.path = target

    def __repr__(self) -> str:
        return f"<Report of {len(self.html)} bytes" + (f" at {self.path}>" if self.path else ">")

    def _repr_html_(self) -> str:
        # In its own frame, so that its style and script do not affect the notebook.
        page = base64.b64encode(self.html).decode()
        return (
            f'<iframe src="data:text/html;base64,{page}" width="100%" height="800" '
            f'style="border:1px solid #ccc" title="Kandinsky report"></iframe>'
        )


def report(
    what: Union[Comparison, Calibrator, Sequence[Calibrator], Dict[str, Calibrator]],
    probs: Optional[Array] = None,
    labels: Optional[Array] = None,
    path: Optional[PathLike] = None,
    *,
    alpha: Optional[float] = None,
    confidence_level: Optional[float] = None,
    title: str = "",
    classes: Classes = None,
    class_names: Sequence[str] = (),
    ignore: Labels = (255,),
    logits: Logits = "none",
    threads: int = 0,
    progress: Progress = False,
) -> Report:
    """Makes one self-contained HTML page about a comparison, or about calibrators on labelled images.

    Parameters
    ----------
    what : Comparison, Calibrator, or several calibrators
        The names of several calibrators are their methods, numbered if two are equal, or the keys of a dict.
    probs, labels : arrays, optional
        The test images; needed for calibrators. A comparison has its own, so these, `ignore` and `logits` are refused with it.
    path : path, optional
        Where to write the page.
    alpha, confidence_level : float
        Level of the page's figures, at which its slider starts; a comparison has its own.
    title : str
    classes : int or sequence of int, optional
        Classes to show first.
    class_names : sequence of str

    Returns
    -------
    Report
        A notebook displays it.

    Raises
    ------
    UsageError
        If the package was built without the page.
    """
    whole("threads", threads)
    if not _core.has_report():
        raise UsageError(
            "this package was built without reports; install a source distribution, which has the page (make sdist), or build "
            "the page with nodejs (18 or newer) and npm: pip install . -C cmake.define.KANDINSKY_WEB=ON"
        )
    wanted, names = class_list(classes), [str(one) for one in class_names]
    with Shown(progress) as callback:
        if isinstance(what, Comparison):
            given = {
                "probs": probs is not None, "labels": labels is not None, "alpha": alpha is not None,
                "confidence_level": confidence_level is not None, "ignore": ignore_list(ignore) != [255], "logits": logits != "none",
            }  # fmt: skip
            for name in (name for name, is_given in given.items() if is_given):
                raise UsageError(f"{name} has no effect: a comparison has its own test images and level")
            if what._core is None:
                raise UsageError("a copied or unpickled comparison has no test images; give its calibrators, probs and labels instead")
            html = _core.report_contest(what._core, title, wanted or what._classes, names, threads, callback)
        else:
            if probs is None or labels is None:
                raise UsageError("labelled test images are needed to report on calibrators: give probs and labels")
            named = _named(what)
            data, *_ = make_data(probs, labels, None, ignore, logits)
            html = _core.report_calibrators(
                [one._fitted() for one in named.values()], list(named), data, one_level(alpha, confidence_level),
                title, wanted, names, threads, callback,
            )  # fmt: skip
    page = Report(html, None)
    if path is not None:
        page.save(path)
    return page


def _named(what: Union[Calibrator, Sequence[Calibrator], Dict[str, Calibrator]]) -> Dict[str, Calibrator]:
    if isinstance(what, Calibrator):
        return {what.method_: what}
    if isinstance(what, dict):
        return {str(name): one for name, one in what.items()}
    named: Dict[str, Calibrator] = {}
    for one in what:
        name, number = one.method_, 2
        while name in named:
            name, number = f"{one.method_} {number}", number + 1
        named[name] = one
    if not named:
        raise UsageError("there is no calibrator to report on")
    return named
