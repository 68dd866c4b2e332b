"""A calibrator as text: one line, and a table for notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, Dict

from ._params import differ

if TYPE_CHECKING:
    from .calibrator import Calibrator


def state_of(calibrator: "Calibrator") -> str:
    """The data of the calibration, or, before it, the number of stored images."""
    if not calibrator.__sklearn_is_fitted__():
        return f"not calibrated, {calibrator.n_images_seen_} images stored"
    height, width = calibrator.grid_
    return (
        f"calibrated on {calibrator.n_images_} images"
        + (f" of {calibrator.n_groups_} groups" if calibrator.meta_["data"]["grouped"] else "")
        + f", {calibrator.n_classes_} classes, {height} x {width} pixels (height x width)"
        + (f", with {_made_with(calibrator)}; fit again for the new parameters" if calibrator._changed() else "")
    )


def _made_with(calibrator: "Calibrator") -> str:
    """The parameters that changed after calibration, with their values at calibration."""
    now, made = calibrator._calibration(), calibrator._made_with or {}
    return ", ".join(f"{name}={made[name]!r}" for name in made if name not in now or differ(made[name], now[name]))


def line_of(calibrator: "Calibrator", standard: Dict[str, Any]) -> str:
    """One line: the parameters that differ from their defaults, and the state."""
    shown = [f"method={calibrator.method!r}"]
    for name, value in calibrator.get_params().items():
        if name != "method" and (name not in standard or differ(value, standard[name])):
            shown.append(f"{name}={value!r}")
    return f"<{type(calibrator).__name__}({', '.join(shown)}): {state_of(calibrator)}>"


def table_of(calibrator: "Calibrator") -> str:
    """HTML for notebooks."""
    rows = [("method", str(calibrator.method)), ("state", state_of(calibrator))]
    if calibrator.__sklearn_is_fitted__():
        meta = calibrator.meta_
        rows += [
            ("regions", ", ".join(str(stratum["regions"]) for stratum in meta["strata"])),
            ("rule", ", ".join(f"{k} {meta['options'][k]}" for k in ("score", "condition", "pooling", "fallback"))),
            ("guarantee", calibrator.guarantee_),
        ]
    body = "".join(
        f"<tr><th style='text-align:left;vertical-align:top'>{escape(name)}</th>"
        f"<td style='text-align:left'>{escape(text)}</td></tr>"
        for name, text in rows
    )
    return f"<table><caption style='text-align:left'>kandinsky.{type(calibrator).__name__}</caption>{body}</table>"
