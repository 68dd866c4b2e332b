"""The examples run, and say what they should."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "python" / "examples"
SAYS = {
    "torch_loop.py": "coverage 0.",
    "dicom_seg.py": "p_values.dcm: FRACTIONAL, 2 segments",
    "monai_bundle.py": "case_26_sets.nii.gz: 1.",
    "monai_sliding_window.py": "are undecided",
    "onnx_export.py": "outputs: sets_0.1, sets_0.2",
    "torch_sets.py": "model.pt2 gives the same sets",
    "nnunet_probabilities.py": "calibrated on 40 images of 8 groups",
    "tutorial.py": "best: ",
}
NEEDS = {"torch_sets.py": "torch", "monai_bundle.py": "monai", "dicom_seg.py": "highdicom"}


def run(name, folder, *words, **variables):
    # Figures are drawn without a display. Without KANDINSKY_DATA the tutorial uses synthetic scenes.
    environment = {**os.environ, "MPLBACKEND": "Agg", "KANDINSKY_DATA": "", **variables}
    done = subprocess.run([sys.executable, "-W", "error::RuntimeWarning", str(EXAMPLES / name), *words], cwd=folder,
                          capture_output=True, text=True, check=False, env=environment, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_every_example_is_tried():
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(SAYS)


def test_examples_of_integrations_are_short():
    assert not [path.name for path in EXAMPLES.glob("*.py") if path.name != "tutorial.py" and len(path.read_text().splitlines()) > 60]


@pytest.mark.parametrize("name", sorted(SAYS))
def test_an_example_runs(name, tmp_path):
    pytest.importorskip(NEEDS.get(name, "sys"), reason=f"{NEEDS.get(name)} is not installed: make test-integrations")
    assert SAYS[name] in run(name, tmp_path)


def test_the_tutorial_runs_on_real_data(tmp_path):
    shared = Path(os.environ.get("KANDINSKY_SHARED") or ROOT / ".." / "shared")
    if not (shared / "data" / "unpack.py").exists():
        pytest.skip(f"the tutorial on hippocampus data: {shared / 'data'} is not there")
    subprocess.run([sys.executable, str(shared / "data" / "unpack.py"), "hippocampus", str(tmp_path)], check=True)
    said = run("tutorial.py", tmp_path, KANDINSKY_DATA=str(tmp_path))
    assert "hippocampus slices" in said and "from 27 patients" in said
    assert "best: field" in said  # docs/results.md has the figures
    assert (tmp_path / "whole_image.png").stat().st_size > 10_000
