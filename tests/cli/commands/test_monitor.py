"""kandinsky monitor: one stream over several calls, alarms, refusals."""

import json
import os
import signal
import subprocess

import numpy as np
import pytest
from support import command, expect_refusal, page_data, run, scene


def odds_to_a_quarter(probs):
    shifted = probs * np.array([1, 0.25, 0.25], np.float32)[:, None, None]
    return shifted / shifted.sum(1, keepdims=True)


@pytest.fixture(scope="module")
def room(tmp_path_factory):
    folder = tmp_path_factory.mktemp("monitor")
    probs, labels = scene(150, grid=(12, 15), seed=3)
    groups = np.arange(150) // 3
    for name, part in [("cal", slice(0, 60)), ("a", slice(60, 81)), ("b", slice(81, 150)), ("all", slice(60, 150))]:
        np.save(folder / f"{name}.npy", probs[part])
        np.save(folder / f"{name}_y.npy", labels[part])
        np.save(folder / f"{name}_g.npy", groups[part])
    np.save(folder / "dark.npy", odds_to_a_quarter(probs[60:]))
    for name, beside in [("plain", []), ("grouped", ["--groups", "cal_g.npy"])]:
        done = run("calibrate", "--probs", "cal.npy", "--labels", "cal_y.npy", *beside, "-m", "image", "-o", f"{name}.kcal", cwd=folder)
        assert done.code == 0, done
    return folder


def watch(room, calibrator, probs, *more):
    done = run("monitor", f"{calibrator}.kcal", "--probs", f"{probs}.npy", *more, "--json", "out.json", cwd=room)
    assert done.code == 0, done
    return done, json.loads((room / "out.json").read_text())


def test_a_stream_of_the_same_kind_raises_no_alarm_and_another_raises_one(room):
    done, quiet = watch(room, "plain", "all", "--labels", "all_y.npy")
    assert not quiet["alarm"] and quiet["units"] == 90 and quiet["reference_units"] == 60
    assert "no change found" in done.out and "coverage of class 2" in done.out
    for one in quiet["coverage"]:
        assert one["low"] <= one["coverage"] <= one["high"] and one["high"] >= 0.9
    done, loud = watch(room, "plain", "dark", "--change-map", "map.npy")
    assert loud["outputs_alarm"]["unit"] <= 50 and loud["coverage"] == []
    assert "ALARM" in done.out and loud["text"][0].startswith("outputs: ALARM")
    where = np.load(room / "map.npy")
    assert where.shape == (3, 12, 15) and where[1:].max() < 0


def test_labels_show_that_a_class_lost_odds_in_its_own_pixels(room):
    done, quiet = watch(room, "plain", "all", "--labels", "all_y.npy")
    assert quiet["odds_alarm"] is None and all(0 < one["odds_evidence"] < 100 for one in quiet["coverage"])
    done, loud = watch(room, "plain", "dark", "--labels", "all_y.npy", "--prometheus", "odds.prom")
    assert loud["odds_alarm"]["class"] in (1, 2) and loud["odds_alarm"]["unit"] <= 60
    one = loud["coverage"][loud["odds_alarm"]["class"]]
    assert one["odds_now"] < one["odds_before"] and one["odds_share"] in (0.9, 0.75, 0.5)
    assert "less sure of the class in pixels labelled with it" in done.out
    assert 'kandinsky_monitor_alarm{kind="odds"} 1' in (room / "odds.prom").read_text().splitlines()


def test_the_state_does_not_depend_on_the_division_of_the_stream(room):
    for calibrator in ["plain", "grouped"]:
        for threads, parts in [(1, ["all"]), (3, ["a", "b"])]:
            state = f"{calibrator}{threads}.state"
            for part in parts:
                groups = ["--groups", f"{part}_g.npy"] if calibrator == "grouped" else []
                watch(room, calibrator, part, "--labels", f"{part}_y.npy", *groups, "--state", state, "--threads", threads)
        one, other = [(room / f"{calibrator}{threads}.state").read_bytes() for threads in (1, 3)]
        assert one == other and len(one) < 1 << 20


def test_the_last_group_waits_for_its_images(room):
    groups = ["--groups", "all_g.npy"]
    assert watch(room, "grouped", "all", *groups)[1]["units"] == 29
    assert watch(room, "grouped", "all", *groups, "--complete")[1]["units"] == 30


def test_images_that_were_seen_before_are_reported(room):
    watch(room, "plain", "a", "--state", "again.state")
    done, found = watch(room, "plain", "a", "--state", "again.state", "--skip-seen", "--labels", "a_y.npy")
    assert found["units"] == 21 and found["labelled_units"] == 21 and "21 of 21 images" in done.warnings[0]
    done, found = watch(room, "plain", "a", "--state", "again.state")
    assert found["units"] == 42 and "--skip-seen" in done.warnings[0]


def test_scripts_notice_an_alarm(room):
    quiet = run("monitor", "plain.kcal", "--probs", "all.npy", "--fail-on-alarm", "-q", cwd=room)
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")
    loud = run("monitor", "plain.kcal", "--probs", "dark.npy", "--fail-on-alarm", "--prometheus", "m.prom", "--state", "loud.state", cwd=room)
    assert loud.code == 5 and loud.complaints == [] and (room / "loud.state").exists()
    lines = (room / "m.prom").read_text().splitlines()
    assert 'kandinsky_monitor_alarm{kind="outputs"} 1' in lines and "kandinsky_monitor_images_total 90" in lines
    assert all(line.startswith(("# HELP ", "# TYPE ", "kandinsky_monitor_")) for line in lines)


def test_the_page_has_the_stream(room):
    done = run("monitor", "plain.kcal", "--probs", "dark.npy", "--labels", "all_y.npy", "--report", "page.html", "--class-names", "x,y,z", cwd=room)
    if "built without reports" in done.err:
        pytest.skip("no page")
    data = page_data(room / "page.html")
    assert data["kind"] == "monitor" and data["classes"] == ["x", "y", "z"] and len(data["outputs"]["rows"]) == 90
    assert data["verdict"]["outputs_alarm"]["unit"] > 0


def test_what_does_not_fit_is_refused_in_one_line(room):
    other, labels = scene(5, classes=2, grid=(12, 15))
    np.save(room / "two.npy", other)
    np.save(room / "small.npy", scene(5, grid=(11, 15))[0])
    np.save(room / "logits.npy", np.log(scene(5, grid=(12, 15))[0]))
    call = ["monitor", "plain.kcal", "--probs"]
    expect_refusal(run(*call, "two.npy", cwd=room), 3, "two.npy", "2 classes")
    expect_refusal(run(*call, "small.npy", cwd=room), 3, "small.npy", "11 x 15")
    expect_refusal(run(*call, "logits.npy", cwd=room), 3, "logits.npy", "image 0", "--logits")
    expect_refusal(run(*call, "a.npy", "--groups", "a_g.npy", cwd=room), 2, "--groups")
    expect_refusal(run(*call, "a.npy", "--complete", cwd=room), 2, "--complete")
    expect_refusal(run(*call, "a.npy", "--delta", "0", cwd=room), 2, "--delta")
    expect_refusal(run("monitor", "grouped.kcal", "--probs", "a.npy", cwd=room), 2, "--groups")
    watch(room, "plain", "a", "--state", "own.state")
    before = (room / "own.state").read_bytes()
    expect_refusal(run(*call, "a.npy", "--state", "own.state", "--delta", "0.2", cwd=room), 2, "--delta 0.2", "0.01")
    expect_refusal(run("monitor", "grouped.kcal", "--probs", "a.npy", "--groups", "a_g.npy", "--state", "own.state", cwd=room), 3, "another calibrator")
    expect_refusal(run(*call, "logits.npy", "--state", "own.state", cwd=room), 3, "image 0")
    (room / "bad.state").write_bytes(before[:-40])
    expect_refusal(run(*call, "a.npy", "--state", "bad.state", cwd=room), 3, "bad.state", "delete it to begin a new stream")
    assert (room / "own.state").read_bytes() == before


def test_a_calibrator_without_a_reference_is_named(room):
    calibrate = ["calibrate", "--probs", "-", "--labels", "cal_y.npy", "-m", "pixel", "--sketch", "0.01", "-o", "sketch.kcal"]
    with open(room / "cal.npy", "rb") as probs:
        assert run(*calibrate, cwd=room, stdin=probs).code == 0
    expect_refusal(run("monitor", "sketch.kcal", "--probs", "a.npy", cwd=room), 2, "sketch.kcal", "no reference")


def test_calls_at_the_same_time_do_not_lose_images(room):
    state = room / "shared.state"
    calls = [subprocess.Popen([command(), "monitor", "plain.kcal", "--probs", "b.npy", "--state", "shared.state", "-q"], cwd=room,
                              stderr=subprocess.PIPE, text=True) for _ in range(6)]  # fmt: skip
    said = [call.communicate()[1] for call in calls]
    codes = [call.returncode for call in calls]
    assert set(codes) <= {0, 4} and 0 in codes
    assert all(("in use by another process" in text) == (code == 4) for text, code in zip(said, codes)), said
    _, after = watch(room, "plain", "a", "--state", "shared.state")
    assert after["images"] == 69 * codes.count(0) + 21
    assert not state.with_name("shared.state.lock").exists()


def test_a_killed_call_leaves_the_old_state(room):
    watch(room, "plain", "a", "--state", "kept.state")
    before = (room / "kept.state").read_bytes()
    os.mkfifo(room / "late.npy")
    call = subprocess.Popen([command(), "monitor", "plain.kcal", "--probs", "late.npy", "--state", "kept.state"], cwd=room, stderr=subprocess.DEVNULL)
    with pytest.raises(subprocess.TimeoutExpired):
        call.wait(0.5)  # it waits for the pipe
    call.send_signal(signal.SIGKILL)
    call.wait()
    assert (room / "kept.state").read_bytes() == before and not list(room.glob(".kept*"))
