"""Thousands of damaged inputs: the command never crashes, hangs or ends with code 1; refusals are one line without output;
and if it ends with 0, its result equals that of the reference in numpy on the same files.

make test runs the first 1,500, with a sanitizer 500. KANDINSKY_MUTATIONS=10000 (make test-mutations) runs the first 10,000, and
1500:10000 those after the first 1,500. KANDINSKY_MUTATION=N runs the N-th alone. KANDINSKY_FAMILY=TEXT runs only families with
the text in their name, which changes the numbers. The N-th damage is always the same."""

import os
from collections import Counter

import numpy as np
import pytest
from mutated_families import Unusable, families
from support import PATIENCE

USUAL = 1500 if PATIENCE == 1 else 500
SEED = 20231120
CODES = (0, 2, 3, 4)


def wanted():
    if one := os.environ.get("KANDINSKY_MUTATION"):
        return [int(one)]
    first, _, end = os.environ.get("KANDINSKY_MUTATIONS", f"0:{USUAL}").rpartition(":")
    return range(int(first or 0), int(end))


def judge(family, number):
    """None, or what is wrong."""
    random = np.random.default_rng([SEED, number])
    damage = family.damage(random)
    try:
        result = family.run()
    except UnicodeDecodeError as problem:
        return f"what it says is no UTF-8: {number}: {family.name}, {damage}: {problem.object!r}", None
    about = f"{number}: {family.name}, {damage}: code {result.code}, {result.err.strip()[:200]!r}"
    if result.code not in CODES:
        return about, result.code
    left = family.leftovers()
    if result.code != 0:
        if len(result.complaints) != 1 or not result.complaints[0].startswith("kandinsky: "):
            return "not one line: " + about, result.code
        if left:
            return f"left {left} behind: " + about, result.code
        return None, result.code
    try:
        wrong = family.compare(result)
    except Unusable as problem:
        wrong = f"the reference cannot use it ({problem})"
    return f"{wrong}: {about}" if wrong else None, result.code


def test_damaged_inputs_are_refused_or_give_the_right_result(tmp_path):
    all_families = [one for one in families(tmp_path) if os.environ.get("KANDINSKY_FAMILY", "") in one.name]
    if not all_families:
        pytest.skip("no family of inputs can be made here")
    wrong, codes = [], Counter()
    for number in wanted():
        family = all_families[number % len(all_families)]
        family.reset()
        problem, code = judge(family, number)
        codes[family.name, code] += 1
        if problem:
            wrong.append(problem)
    for family in all_families:
        told = ", ".join(f"{codes[family.name, code]} ended with {code}" for code in CODES if codes[family.name, code])
        print(f"{family.name}: {told}")
    assert not wrong, f"{len(wrong)} of {len(wanted())}:\n" + "\n".join(wrong[:30])
    if len(wanted()) > 100:  # enough inputs are accepted, and enough are refused, to test both checks
        assert sum(n for (_, code), n in codes.items() if code == 0) > len(wanted()) // 20
        assert sum(n for (_, code), n in codes.items() if code == 3) > len(wanted()) // 5


def test_a_wrong_result_is_noticed(tmp_path):
    """Every family's comparison can fail: it detects changed outputs."""
    for family in families(tmp_path):
        family.reset()
        result = family.run()
        assert result.code == 0, (family.name, result)
        assert family.compare(result) is None, family.name
        family.spoil(result)
        assert family.compare(result), f"{family.name}: a spoilt result is taken for the right one"
