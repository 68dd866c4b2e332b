"""Monitor: the stream after calibration, beside the command."""

import errno
import os
import subprocess
import threading

import kandinsky
import numpy as np
import pytest


@pytest.fixture(scope="module")
def scenes():
    return kandinsky.make_scenes(images=150, grid=(24, 32), seed=4)


@pytest.fixture(scope="module")
def cal(scenes):
    return kandinsky.Calibrator("image").fit(scenes.probs[:60], scenes.labels[:60])


def darker(probs):
    odds = np.array([4, 0.25], np.float32)[:, None, None]
    probs = np.asarray(probs, np.float32)
    return odds * probs / (odds * probs + 1 - probs)


def test_no_alarm_on_the_same_kind_and_an_alarm_on_another(scenes, cal):
    quiet = kandinsky.Monitor(cal).update(scenes.probs[60:], scenes.labels[60:])
    assert not quiet.alarm and quiet.outputs_alarm is None and quiet.units == quiet.labelled_units == 90
    assert [one.cls for one in quiet.coverage] == [0, 1]
    assert all(one.low <= one.coverage <= one.high for one in quiet.coverage)
    monitor = kandinsky.Monitor(cal, delta=0.05)
    loud = monitor.update(darker(scenes.probs[60:]))
    assert loud.alarm and 0 < loud.outputs_alarm <= 90 and loud.evidence >= 20 and "ALARM" in loud.text[0]
    labelled = kandinsky.Monitor(cal).update(darker(scenes.probs[60:]), scenes.labels[60:])
    assert 0 < labelled.odds_alarm <= 90 and "less sure of the class" in labelled.text[2]
    assert labelled.coverage[1].odds_now < labelled.coverage[1].odds_before and labelled.coverage[1].odds_evidence >= 100
    where = monitor.change_map()
    assert where.shape == (2, 24, 32) and np.isnan(where[0]).all() and np.nanmin(where) < 0
    assert "kandinsky_monitor_alarm" in monitor.prometheus()


def test_a_coverage_that_changed_has_no_bounds(scenes, cal):
    monitor = kandinsky.Monitor(cal)
    monitor.update(scenes.probs[60:], scenes.labels[60:])
    odds = np.array([2.0**8, 2.0**-8], np.float32)[:, None, None]
    probs = np.asarray(scenes.probs, np.float32)
    for _ in range(4):
        result = monitor.update(odds * probs / (odds * probs + 1 - probs), scenes.labels)
    changed = result.coverage[1]
    assert np.isnan(changed.low) and np.isnan(changed.high) and "no constant one is possible" in result.text[2]
    assert 'class="1",bound="mean"' in monitor.prometheus() and 'class="1",bound="low"' not in monitor.prometheus()


def test_calls_during_an_update_are_refused_and_harm_nothing(scenes, cal, tmp_path):
    def nested(*_):
        for call in (lambda: monitor.result_, monitor.prometheus, monitor.change_map, lambda: monitor.save(tmp_path / "state")):
            with pytest.raises(kandinsky.UsageError, match="busy"):
                call()
        calls.append(1)

    calls = []
    monitor = kandinsky.Monitor(cal, progress=nested)
    assert monitor.update(scenes.probs[60:]) == kandinsky.Monitor(cal).update(scenes.probs[60:])
    assert calls and monitor.result_.units == 90


def test_updates_of_two_threads_at_a_time_are_refused(scenes, cal):
    inside, go_on = threading.Event(), threading.Event()

    def wait(*_):
        inside.set()
        go_on.wait(60)

    monitor, found = kandinsky.Monitor(cal, progress=wait), []
    thread = threading.Thread(target=lambda: found.append(monitor.update(scenes.probs[60:100])))
    thread.start()
    assert inside.wait(60)
    with pytest.raises(kandinsky.UsageError, match="the monitor is busy with another call; make one call at a time"):
        monitor.update(scenes.probs[100:])
    go_on.set()
    thread.join()
    assert found[0].units == 40 and monitor.update(scenes.probs[100:]).units == 90


def test_states_continue_in_python_and_in_the_command(scenes, cal, tmp_path):
    one, other = kandinsky.Monitor(cal), kandinsky.Monitor(cal)
    one.update(scenes.probs[60:])
    other.update(scenes.probs[60:75])
    other.save(tmp_path / "state")
    other = kandinsky.Monitor.load(tmp_path / "state", cal)
    other.update(scenes.probs[75:])
    one.save(tmp_path / "one"), other.save(tmp_path / "other")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()
    assert one.result_.units == 90
    command = os.environ.get("KANDINSKY_COMMAND")
    if not command:
        pytest.skip("KANDINSKY_COMMAND is not set: states were not compared with the command's")
    cal.save(tmp_path / "cal.kcal")
    np.save(tmp_path / "a.npy", scenes.probs[60:75]), np.save(tmp_path / "b.npy", scenes.probs[75:])
    for name in "ab":
        subprocess.run([command, "monitor", "cal.kcal", "--probs", f"{name}.npy", "--state", "theirs", "-q"], cwd=tmp_path, check=True)
    assert (tmp_path / "theirs").read_bytes() == (tmp_path / "one").read_bytes()


def test_references_survive_files_and_pickles(scenes, cal, tmp_path):
    import pickle

    cal.save(tmp_path / "cal.kcal")
    for again in (kandinsky.load(tmp_path / "cal.kcal"), pickle.loads(pickle.dumps(cal))):
        assert kandinsky.Monitor(again).update(scenes.probs[60:70]) == kandinsky.Monitor(cal).update(scenes.probs[60:70])


def test_groups_are_tested_once_they_are_complete(scenes):
    groups = np.arange(150) // 3
    cal = kandinsky.Calibrator("image").fit(scenes.probs[:60], scenes.labels[:60], groups[:60])
    monitor = kandinsky.Monitor(cal)
    assert monitor.update(scenes.probs[60:67], groups=groups[60:67]).units == 2
    assert monitor.update(scenes.probs[67:69], groups=groups[67:69], complete=True).units == 3
    with pytest.raises(kandinsky.UsageError, match="groups"):
        monitor.update(scenes.probs[:3])


def test_repeated_images_are_named_and_new_labels_count(scenes, cal):
    monitor = kandinsky.Monitor(cal)
    monitor.update(scenes.probs[60:70])
    again = monitor.update(scenes.probs[60:70], scenes.labels[60:70], skip_seen=True)
    assert (again.seen, again.units, again.labelled_units) == (10, 10, 10)


def test_what_cannot_be_watched_is_refused(scenes, cal):
    compared = kandinsky.compare(scenes.probs[:20], scenes.labels[:20], scenes.probs[20:40], scenes.labels[20:40], methods=["image"])
    with pytest.raises(kandinsky.UsageError, match="reference"):
        kandinsky.Monitor(compared.calibrators["image"])
    with pytest.raises(kandinsky.UsageError, match="delta"):
        kandinsky.Monitor(cal, delta=0)
    with pytest.raises(kandinsky.DataError, match="3 classes"):
        kandinsky.Monitor(cal).update(np.full((2, 3, 24, 32), 1 / 3, np.float32))


def test_the_file_of_a_calibrator_is_accepted(scenes, cal, tmp_path):
    path = tmp_path / "cal.kcal"
    cal.save(path)
    monitor = kandinsky.Monitor(str(path))
    assert monitor.update(scenes.probs[60:70]) == kandinsky.Monitor(cal).update(scenes.probs[60:70])
    monitor.save(tmp_path / "state")
    assert kandinsky.Monitor.load(tmp_path / "state", path).result_.units == 10
    with pytest.raises(kandinsky.UsageError, match="^calibrator is of type NoneType, but must be a Calibrator or the path"):
        kandinsky.Monitor(None)


@pytest.mark.parametrize("name", ["delta", "alpha"])
@pytest.mark.parametrize("value", ["a", None, [0.1]])
def test_a_level_that_is_no_number_gets_one_clear_line(cal, name, value):
    with pytest.raises(kandinsky.UsageError) as problem:
        kandinsky.Monitor(cal, **{name: value})
    assert str(problem.value) == f"{name} is {value!r}, but must be a number"


def test_a_page_that_cannot_be_written_leaves_the_folder_as_it_was(scenes, cal, tmp_path, monkeypatch):
    monitor = kandinsky.Monitor(cal)
    monitor.update(scenes.probs[60:70])
    monkeypatch.setattr(monitor, "_watch", type("Page", (), {"page": lambda self, title, names: "new"})())
    with pytest.raises(kandinsky.FileError, match="^cannot write .*page.html: No such file or directory$"):
        monitor.report(tmp_path / "nowhere" / "page.html")
    page = tmp_path / "page.html"
    page.write_text("old")

    def full(*paths):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as context:
        context.setattr(os, "replace", full)
        with pytest.raises(kandinsky.FileError, match="^cannot write .*page.html: No space left on device$"):
            monitor.report(page)
    for names, says in [
        (["ground"], "class_names has 1 names, but there are 2 classes"),
        ([1, 2], r"class_names is \[1, 2\], but must be a list of names"),
        ("ab", "class_names is 'ab', but must be a list of names"),
        (3, "class_names is 3, but must be a list of names"),
    ]:
        with pytest.raises(kandinsky.UsageError, match=f"^{says}$"):
            monitor.report(page, class_names=names)
    assert page.read_text() == "old" and os.listdir(tmp_path) == ["page.html"]
    monitor.report(page)
    assert page.read_text() == "new"


def test_the_page_is_one_file(scenes, cal, tmp_path):
    monitor = kandinsky.Monitor(cal)
    monitor.update(scenes.probs[60:])
    try:
        monitor.report(tmp_path / "page.html", class_names=["ground", "thing"])
    except kandinsky.UsageError as error:
        assert "reports" in str(error)
        pytest.skip("the package was built without reports")
    assert "ground" in (tmp_path / "page.html").read_text(encoding="utf-8")
