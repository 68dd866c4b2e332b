"""Files and copies of a calibrator."""

from __future__ import annotations

import json
import os
import tempfile
from typing import TYPE_CHECKING, Any, Dict, List, Optional

from . import _core
from ._arrays import levels
from ._checks import file_path, switch
from ._known import Known
from ._options import counts_for, empty_word, options, parameter_of
from ._params import Parameters
from ._store import Store
from ._types import Empty, Level, Logits, PathLike
from ._words import RENAMED, renamed
from .errors import FileError, UsageError

if TYPE_CHECKING:
    from typing_extensions import Self


class Filed(Known, Parameters):
    """The part of :class:`kandinsky.Calibrator` that is saved, loaded, pickled and copied."""

    _store: Optional[Store]

    def save(self, path: PathLike) -> None:
        """Writes the .kcal file with the same bytes as the command. A failure leaves an existing file unchanged."""
        self._fitted().save(file_path("path", path))

    @classmethod
    def load(cls, path: PathLike) -> "Self":
        """Reads a .kcal file; see :func:`kandinsky.load`."""
        return cls._of(_core.load(file_path("path", path)))

    def to_onnx(
        self,
        path: PathLike,
        alpha: Optional[Level] = None,
        confidence_level: Optional[Level] = None,
        *,
        onto: Optional[PathLike] = None,
        output_name: str = "",
        logits: Optional[Logits] = None,
        foreground: bool = False,
        empty: Empty = "auto",
    ) -> List[str]:
        """Writes an ONNX graph that makes the sets of :meth:`predict_set`; the command's ``export`` does the same.

        Parameters
        ----------
        path : path
            The file to write; a failure leaves an existing file unchanged.
        alpha, confidence_level : float or sequence of float
            As for :meth:`thresholds`. Each level has an output such as ``sets_0.1``, bool [N,C,H,W].
        onto : path, optional
            A model that the graph is appended to; it keeps its own outputs.
        output_name : str
            The model's output with the probabilities or logits; needed if it has several outputs.
        logits : {"none", "sigmoid", "softmax"}, optional
            Function that turns the graph's input into probabilities; default: that of the calibrator.
        foreground : bool
            The graph's input is one plane, the probability of class 1. With `onto`, the model's shape decides.
        empty : {"auto", "fill", "keep"}
            As for :meth:`predict_set`.

        Returns
        -------
        list of str
            The names of the outputs with sets.
        """
        core, alphas, one_plane = self._fitted(), levels(alpha, confidence_level)[0], switch("foreground", foreground)
        target, model = file_path("path", path), "" if onto is None else file_path("onto", onto)
        if onto is not None and _same_file(target, model):
            raise UsageError(f"onto and path are the same file {target}; give another path")
        return core.to_onnx(target, alphas, model, output_name, logits or "", one_plane, empty_word(empty, None))

    @classmethod
    def _of(cls, core: "_core.Calibrated") -> "Self":
        meta = json.loads(core.describe())
        calibrator = cls(**_parameters(meta, cls._names))
        calibrator._core, calibrator._meta = core, meta
        calibrator._made_with = calibrator._calibration()
        return calibrator

    def __getstate__(self) -> Dict[str, Any]:
        """The state for pickle and copy: the thresholds of a calibrated calibrator, all stored data of any other."""
        state: Dict[str, Any] = {"params": self.get_params(), "kcal": None, "data": None, "made_with": self._made_with}
        if hasattr(self, "_metadata_request"):
            state["request"] = self._metadata_request
        if self._core is not None:
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "state.kcal")
                self.save(path)
                with open(path, "rb") as file:
                    state["kcal"] = file.read()
        elif self._store is not None:
            state["data"] = self._store.state()
        return state

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self.__init__(**renamed(state["params"]))  # type: ignore[misc]
        self._made_with = state.get("made_with")
        if "request" in state:
            self._metadata_request = state["request"]
        if state["kcal"] is not None:
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "state.kcal")
                with open(path, "wb") as file:
                    file.write(state["kcal"])
                self._core = _core.load(path)
        if state["data"] is not None:
            folder = os.fspath(self.scratch) if self.scratch is not None and os.path.isdir(self.scratch) else ""
            self._store = Store.from_state(state["data"], folder)


def write_whole(path: str, content: bytes) -> None:
    """Writes a file. A failure leaves an existing file unchanged."""
    try:
        handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path) or ".", suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(temporary, 0o666 & ~umask)
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as problem:
        raise FileError(f"cannot write {path}: {problem.strerror or problem}") from problem


def _same_file(one: str, other: str) -> bool:
    if os.path.exists(one) and os.path.exists(other):
        return os.path.samefile(one, other)
    return os.path.realpath(one) == os.path.realpath(other)


def _parameters(meta: Dict[str, Any], named: "tuple[str, ...]") -> Dict[str, Any]:
    """The parameters of a calibrator, as for the constructor."""
    method, known = meta["method"], {option.name for option in options()}
    out: Dict[str, Any] = {"method": method}
    for key, value in meta["options"].items():
        name = RENAMED.get(key, key)
        if key == "method_options":
            stored = [parameter_of(method, flag, text) for flag, text in value.items()]
            out.update((own, one) for own, one in stored if counts_for(own, method))
        elif key == "score_options":
            score = meta["options"]["score"]
            known_score = {f"{score}_{part}": one for part, one in value.items() if f"{score}_{part}" in known}
            out.update(known_score, **({"randomized": True} if value.get("randomized") else {}))
        elif name in named or name in known:
            out[name] = tuple(value) if isinstance(value, list) else value
    data = meta["data"]
    if "logits" in data:
        out["logits"] = data["logits"]
    if "ignore" in data:
        out["ignore"] = tuple(data["ignore"])
    return out
