"""The value of a metric during a step, by hand."""

import math

import pandas as pd
import pytest

from stepscope.analysis._correlate import during

ZERO = pd.Timestamp("2026-11-20T20:00:00Z")


def at(seconds):
    return ZERO + pd.to_timedelta(seconds, unit="s")


def samples(*rows):
    return pd.DataFrame([(at(seconds), value) for seconds, value in rows], columns=["time", "value"])


def values(samples, *steps):
    frame = pd.DataFrame([(at(begin), wall) for begin, wall in steps], columns=["start", "wall"])
    return during(frame, samples).tolist()


EVERY_SECOND = samples((1, 10.0), (2, 20.0), (3, 60.0))


def test_a_short_step_has_the_sample_that_ends_its_interval():
    assert values(EVERY_SECOND, (1.2, 0.1), (2.0, 0.5), (2.999999, 0.000001)) == pytest.approx([20, 60, 60])


def test_a_long_step_has_the_mean_by_what_each_sample_covers():
    assert values(EVERY_SECOND, (0.5, 1.5), (1.5, 1.5)) == pytest.approx([(0.5 * 10 + 20) / 1.5, (0.5 * 20 + 60) / 1.5])


def test_steps_in_a_gap_have_no_value():
    found = values(samples((1, 10.0), (2, 20.0), (3, 20.0), (4, 20.0), (60, 90.0)), (30, 1), (59.5, 0.1), (100, 1), (-5, 1))
    assert found[1] == pytest.approx(90) and all(math.isnan(found[step]) for step in (0, 2, 3))


def test_of_several_devices_the_mean_counts():
    assert values(samples((1, 10.0), (1, 30.0), (2, 0.0), (2, 100.0)), (0.5, 0.1), (1.5, 0.1)) == pytest.approx([20, 50])


def test_without_samples_nothing_is_known():
    assert math.isnan(values(samples(), (1, 1))[0]) and values(samples((1, 1.0))) == []
