"""How many steps the budget of the GPU's clock lets be timed."""

import pytest

from stepscope._hooks import _gpu_budget


def spent(budget, step_us, cost_us, steps):
    """A training whose steps are so long, and cost so much where they are timed."""
    end = budget.until + 1
    for _ in range(steps):
        left_out = budget.pause()
        end += (1 + left_out) * step_us * 1000
        budget.count(1 + left_out, end)
        if budget.spend(cost_us * 1000) and budget.is_exceeded():
            break
    return budget


@pytest.mark.parametrize("step_us, every", [(100_000, 1), (30_000, 1), (1_300, 32), (26_000, 2), (400, 128)])
def test_no_more_steps_are_timed_than_the_budget_allows(monkeypatch, step_us, every):
    monkeypatch.setattr(_gpu_budget, "SHARE", 0.0015)
    budget = spent(_gpu_budget.Budget(), step_us, 40, 200)
    assert budget.every == every and 40 / every <= 0.0015 * step_us


def test_longer_steps_are_timed_more_often_again(monkeypatch):
    monkeypatch.setattr(_gpu_budget, "SHARE", 0.0015)
    budget = spent(_gpu_budget.Budget(), 1_300, 40, 200)
    assert spent(budget, 3_000, 40, 200).every == 32, "it goes to and fro"
    assert spent(budget, 100_000, 40, 200).every == 1


def test_the_smallest_steps_are_not_timed(monkeypatch):
    monkeypatch.setattr(_gpu_budget, "SHARE", 0.0015)
    assert spent(_gpu_budget.Budget(), 30, 40, 200).is_exceeded()


def test_a_rhythm_of_the_training_is_not_met_at_one_place():
    budget = _gpu_budget.Budget()
    budget.every = 8
    at, met = 0, [0] * 4
    for _ in range(2000):
        at += 1 + budget.pause()
        met[at % 4] += 1
    assert min(met) > 400 and at / 2000 == pytest.approx(8, abs=0.5)
