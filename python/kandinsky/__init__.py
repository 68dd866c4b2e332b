"""Prediction sets for the pixels of a segmentation, with coverage guarantees.

>>> import kandinsky
>>> cal = kandinsky.Calibrator(method="kmeans")
>>> cal.fit(probs, labels)                     # [N,C,H,W] and [N,H,W]      # doctest: +SKIP
>>> sets = cal.predict_set(new, alpha=0.1)     # bool [N,C,H,W]             # doctest: +SKIP

:class:`Calibrator` calibrates and predicts; :class:`Evaluator` measures its sets batch by batch; :class:`Monitor`
monitors new images; :func:`compare` compares methods; :func:`report` writes a page; ``plot_*`` draw with matplotlib.
:func:`outline` and :func:`measure` answer questions about whole objects. Errors are subclasses of :class:`Error`.
"""

from ._core import version as __version__
from ._options import Method, Option, methods, options
from .annuli import annuli_fitness
from .calibrator import CalibrationWarning, Calibrator, load
from .comparison import Comparison, compare
from .errors import DataError, Error, FileError, InternalError, NotFittedError, UsageError
from .evaluation import Evaluation
from .evaluator import Evaluator, SetMeasures
from .measurement import Measurement, MeasureRule, fit_measure, measure
from .measures import ClassResult
from .monitor import Monitor, MonitorResult, WatchedCoverage, WatchedFeature
from .outline import OutlineRule, fit_outline, outline, plot_outline
from .plot import plot_ce_map, plot_coverage, plot_feature_coverage, plot_partition, plot_reliability, plot_violin
from .plot_sets import plot_sets
from .report import Report, report
from .scenes import Scenes, make_scenes

__all__ = [
    "CalibrationWarning",
    "Calibrator",
    "ClassResult",
    "Comparison",
    "DataError",
    "Error",
    "Evaluation",
    "Evaluator",
    "FileError",
    "InternalError",
    "MeasureRule",
    "Measurement",
    "Method",
    "Monitor",
    "MonitorResult",
    "NotFittedError",
    "Option",
    "OutlineRule",
    "Report",
    "Scenes",
    "SetMeasures",
    "UsageError",
    "WatchedCoverage",
    "WatchedFeature",
    "__version__",
    "annuli_fitness",
    "compare",
    "fit_measure",
    "fit_outline",
    "load",
    "make_scenes",
    "measure",
    "methods",
    "options",
    "outline",
    "plot_ce_map",
    "plot_coverage",
    "plot_feature_coverage",
    "plot_outline",
    "plot_partition",
    "plot_reliability",
    "plot_sets",
    "plot_violin",
    "report",
]
