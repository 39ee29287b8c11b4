from __future__ import annotations

import importlib
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rideway.errors import InputError
from rideway.metric.bradley_terry import Cells, Refit, collapse, derivatives, minimise, objective
from rideway.metric.calibrate import (
    FitStatus,
    bootstrap_penalties,
    fit_penalties,
    read_penalties,
)
from rideway.metric.identifiability import separating_direction
from rideway.metric.resample import multinomial_counts
from rideway.metric.votes import Votes

from .shared import shared

WITNESS = "paper/witness/calibration_votes.jsonl"
PARAMETERS = ("a", "b", "lambda_tool", "lambda_turn", "a_over_b", "b_over_a")


def rows(*votes: tuple[int, int, str]) -> list[dict[str, Any]]:
    """Votes between differences (b less a) in calls and turns, spread over the two sides."""
    out = []
    for number, (tool, turn, choice) in enumerate(votes):
        row = {"task_id": f"t{number % 5}", "choice": choice}
        for axis, d in (("tool", tool), ("turn", turn)):
            row |= {f"e_{axis}_a": max(0, -d), f"e_{axis}_b": max(0, d)}
        out.append(row)
    return out


def drawn(seed: int, n: int, a: float = 0.1235, b: float = 0.2448) -> list[dict[str, Any]]:
    """Votes drawn from known penalties."""
    rng = np.random.default_rng(seed)
    x = rng.integers(-8, 9, (n, 2))
    p = 1 / (1 + np.exp(-(x @ [a, b])))
    choice = np.where(rng.random(n) < 0.08, "tie", np.where(rng.random(n) < p, "a", "b"))
    return rows(*[(int(t), int(u), str(c)) for (t, u), c in zip(x, choice, strict=True)])


def swapped(votes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    other = {"a": "b", "b": "a", "tie": "tie"}
    return [
        {"task_id": row["task_id"], "choice": other[row["choice"]]}
        | {f"e_{axis}_{s}": row[f"e_{axis}_{other[s]}"] for axis in ("tool", "turn") for s in "ab"}
        for row in votes
    ]


votes_strategy = st.lists(
    st.tuples(st.integers(-6, 6), st.integers(-6, 6), st.sampled_from(["a", "b", "tie"])),
    min_size=1,
    max_size=25,
)


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Problems this small lose to threads that wait for each other on a busy machine."""
    pytest.importorskip("scipy.optimize")  # brings a BLAS of its own, which must be loaded first
    control = pytest.importorskip("threadpoolctl")
    with control.threadpool_limits(1):
        yield


class TestWitness:
    """The constructed votes of the witness set give the published numbers by definition."""

    def test_penalties_at_four_decimals(self) -> None:
        fit = fit_penalties(shared(WITNESS))
        assert (round(fit.a, 4), round(fit.b, 4)) == (0.1235, 0.2448)
        assert (round(fit.a, 6), round(fit.b, 6)) == (0.123535, 0.244794)
        assert (round(fit.lambda_tool, 4), round(fit.lambda_turn, 4)) == (0.8838, 0.7829)
        assert (fit.n, fit.n_ties, fit.status, fit.warnings) == (320, 29, FitStatus.OK, ())
        assert fit.slack
        assert fit.unconstrained == (fit.a, fit.b)

    def test_ratio_over_gamma(self) -> None:
        path = shared(WITNESS)
        expected = {0: 0.5045, 0.3: 0.5047, 2: 0.5054, 8: 0.5082}
        ratios = {gamma: fit_penalties(path, gamma).ratio_a_over_b for gamma in expected}
        assert {gamma: round(r or 0, 4) for gamma, r in ratios.items()} == expected
        values = [r for r in ratios.values() if r is not None]
        assert max(values) - min(values) <= 0.005

    def test_other_conventions_give_other_numbers(self) -> None:
        """gamma is the factor of half the squared norm, and the loss is a sum, not a mean."""
        path = shared(WITNESS)
        doubled, mean = fit_penalties(path, 0.6), fit_penalties(path, 0.3 * 320)
        assert (round(doubled.a, 4), round(doubled.b, 5)) == (0.1235, 0.24466)
        assert (round(mean.a, 5), round(mean.b, 5)) == (0.11512, 0.21161)

    @pytest.mark.parametrize("unit", ["vote", "pair", "index"])
    def test_intervals(self, unit: Any) -> None:
        """Within Monte Carlo error of the intervals stored with the witness (2,500 resamples)."""
        found = bootstrap_penalties(shared(WITNESS), unit=unit, seed=1)
        stored = json.loads(shared("paper/witness/expected.json").read_text(encoding="utf-8"))
        expected = stored["calibration_votes.jsonl"]["bootstrap_90_votes_B2500_seen"]
        for name, tolerance in (("a", 0.004), ("b", 0.006), ("b_over_a", 0.1), ("a_over_b", 0.02)):
            bounds = found.intervals[name]
            assert bounds is not None
            assert bounds.to_list() == pytest.approx(expected[name], abs=tolerance)
        assert found.at_zero == (0.0, 0.0)
        ratio = found.medians["b_over_a"]
        assert ratio is not None
        assert 1.97 < ratio < 2.03

    def test_unconstrained_penalties_are_positive_in_every_resample(self) -> None:
        found = bootstrap_penalties(shared(WITNESS), nonnegative=False)
        assert (found.samples > 0).all()


class TestOptimum:
    def test_gradient_and_hessian_by_finite_differences(self) -> None:
        rng = np.random.default_rng(0)
        for k in (1, 2, 3, 5):
            x = rng.normal(size=(60, k))
            cells = collapse(x, rng.choice([0, 0.5, 1], 60), rng.uniform(0.5, 2, 60))
            beta, step = rng.normal(size=(k, 1)), 1e-6
            gradient, hessian = derivatives(beta, cells, cells.total, 0.7)
            for i in range(k):
                e = np.zeros((k, 1))
                e[i] = step
                up = objective(beta + e, cells, cells.total, 0.7)
                down = objective(beta - e, cells, cells.total, 0.7)
                assert gradient[i] == pytest.approx((up - down) / (2 * step), rel=1e-5, abs=1e-6)
                rise = derivatives(beta + e, cells, cells.total, 0.7)[0]
                fall = derivatives(beta - e, cells, cells.total, 0.7)[0]
                column = ((rise - fall) / (2 * step))[:, 0]
                assert hessian[i, :, 0] == pytest.approx(column, rel=1e-5, abs=1e-6)

    @pytest.mark.usefixtures("one_thread")
    def test_equals_scipy_on_a_thousand_problems(self) -> None:
        optimize = pytest.importorskip("scipy.optimize")
        rng = np.random.default_rng(1)
        at_bound = 0
        for _ in range(1000):
            k, n = int(rng.choice([1, 2, 2, 2, 4])), int(rng.integers(5, 120))
            x = rng.integers(-9, 10, (n, k)).astype(float)
            truth = rng.normal(0.05, 0.25, k)
            y = (rng.random(n) < 1 / (1 + np.exp(-x @ truth))).astype(float)
            y[rng.random(n) < 0.1] = 0.5
            w = rng.choice([1.0, 0.5, 3.0], n)
            gamma = float(rng.choice([0.01, 0.3, 2.0, 30.0]))
            bounded = bool(rng.random() < 0.5)
            cells = collapse(x, y, w)
            beta, found = minimise(cells, cells.total, gamma, nonnegative=bounded)
            assert found.all()
            assert _first_order(optimize, x, y, w, gamma, beta[:, 0], bounded) < 1e-8
            at_bound += bool(bounded and (beta == 0).any())
        assert at_bound > 50  # the bound was put to the test

    @pytest.mark.parametrize("gamma", [0.3, 5.0])
    def test_equals_scikit_learn(self, gamma: float) -> None:
        linear = pytest.importorskip("sklearn.linear_model")
        votes = drawn(2, 400)
        fit = fit_penalties(votes, gamma, nonnegative=False)
        x = np.array(
            [[r["e_tool_b"] - r["e_tool_a"], r["e_turn_b"] - r["e_turn_a"]] for r in votes]
        )
        choice = np.array([row["choice"] for row in votes])
        tie = choice == "tie"  # two rows of half weight
        model = linear.LogisticRegression(C=1 / gamma, fit_intercept=False, tol=1e-12, max_iter=500)
        model.fit(
            np.concatenate([x, x[tie]]),
            np.concatenate([np.where(tie, 1, choice == "a"), np.zeros(tie.sum())]),
            sample_weight=np.concatenate([np.where(tie, 0.5, 1.0), np.full(tie.sum(), 0.5)]),
        )
        assert model.coef_[0] == pytest.approx([fit.a, fit.b], abs=1e-6)

    def test_covariance_is_the_inverse_hessian(self) -> None:
        fit = fit_penalties(drawn(3, 200))
        assert fit.covariance is not None
        assert np.array(fit.hessian) @ np.array(fit.covariance) == pytest.approx(np.eye(2))

    def test_loss_is_the_objective(self) -> None:
        fit = fit_penalties(rows((1, 0, "a"), (0, 2, "tie"), (-3, 1, "b")), 0.5)
        z = [fit.a, 2 * fit.b, -3 * fit.a + fit.b]
        cross = [math.log1p(math.exp(v)) - y * v for v, y in zip(z, (1, 0.5, 0), strict=True)]
        assert fit.loss == pytest.approx(sum(cross) + 0.25 * (fit.a**2 + fit.b**2))
        assert fit.log_loss == pytest.approx(sum(cross) / 3)


def _first_order(
    optimize: Any, x: Any, y: Any, w: Any, gamma: float, beta: Any, bounded: bool
) -> float:
    """Distance from SciPy's optimum of the same problem, written out afresh."""

    def loss(v: Any) -> tuple[float, Any]:
        z = x @ v
        p = 1 / (1 + np.exp(-z))
        value = w @ (np.logaddexp(0, z) - y * z) + gamma / 2 * v @ v
        return value, x.T @ (w * (p - y)) + gamma * v

    k = len(beta)
    bounds = [(0, None) if bounded else (None, None)] * k
    options = {"ftol": 1e-16, "gtol": 1e-12, "maxiter": 500}
    found = optimize.minimize(
        loss, np.zeros(k), jac=True, method="L-BFGS-B", bounds=bounds, options=options
    ).x
    # L-BFGS-B stops where the loss no longer changes, some 1e-8 away: SciPy's root finder
    # takes the gradient of the free coefficients to rounding error.
    free = found > 1e-9 if bounded else np.ones(k, dtype=bool)

    def gradient(part: Any) -> Any:
        full = np.zeros(k)
        full[free] = part
        return loss(full)[1][free]

    exact = np.zeros(k)
    if free.any():
        exact[free] = optimize.root(gradient, found[free], tol=1e-14).x
    return float(np.abs(exact - beta).max())


class TestInvariance:
    @given(votes_strategy, st.randoms(use_true_random=False), st.sampled_from([0.0, 0.3]))
    def test_sides_and_order_change_no_digit(self, votes: Any, random: Any, gamma: float) -> None:
        table = rows(*votes)
        first = fit_penalties(table, gamma)
        shuffled = list(table)
        random.shuffle(shuffled)
        for other in (swapped(table), shuffled, swapped(shuffled)):
            again = fit_penalties(other, gamma)
            assert (again.a, again.b, again.loss) == (first.a, first.b, first.loss)
            assert again.unconstrained == first.unconstrained
            assert (again.status, again.warnings) == (first.status, first.warnings)

    def test_bootstrap_too(self) -> None:
        votes = drawn(4, 60)
        first = bootstrap_penalties(votes, 200)
        again = bootstrap_penalties(swapped(votes)[::-1], 200)
        assert (first.samples == again.samples).all()

    def test_names_of_tasks_change_no_fit_and_order_no_grouped_resample(self) -> None:
        votes = drawn(5, 60)
        renamed = [row | {"task_id": f"x/{row['task_id']}"} for row in votes]
        first = bootstrap_penalties(votes, 100, unit="task")
        again = bootstrap_penalties(renamed[::-1], 100, unit="task")
        assert (first.samples == again.samples).all()

    def test_first_side_always_winning_says_nothing_about_names(self) -> None:
        """Side a always wins, whatever the difference."""
        votes = rows(*[(t, u, "a") for t in (-2, 1, 3) for u in (-3, 1, 2)])
        assert fit_penalties(votes).to_dict() == fit_penalties(swapped(votes)).to_dict()

    def test_weights_are_repetitions(self) -> None:
        votes = drawn(6, 40)
        weights = [1 + number % 3 for number in range(40)]
        repeated = [row for row, w in zip(votes, weights, strict=True) for _ in range(w)]
        weighted, plain = fit_penalties(votes, weights=weights), fit_penalties(repeated)
        assert (weighted.a, weighted.b) == pytest.approx((plain.a, plain.b), abs=1e-12)
        assert weighted.loss == pytest.approx(plain.loss)
        assert weighted.log_loss == pytest.approx(plain.log_loss)

    def test_a_vote_of_weight_0_counts_for_nothing(self) -> None:
        votes = drawn(7, 30)
        extra = [*votes, *rows((50, -3, "b"))]
        found = fit_penalties(extra, weights=[1.0] * 30 + [0.0])
        assert (found.a, found.b) == pytest.approx((fit_penalties(votes).a, fit_penalties(votes).b))


class TestDegenerate:
    """Every answer is finite, and what the votes leave open is told."""

    @given(votes_strategy, st.sampled_from([0.0, 1e-6, 0.3]), st.booleans())
    def test_nothing_is_ever_nan_or_infinite(self, votes: Any, gamma: float, bound: bool) -> None:
        fit = fit_penalties(rows(*votes), gamma, nonnegative=bound)
        numbers = [fit.a, fit.b, fit.loss, fit.log_loss, *fit.hessian[0], *fit.hessian[1]]
        assert all(math.isfinite(number) for number in numbers)
        assert not bound or (fit.a >= 0 and fit.b >= 0)
        found = bootstrap_penalties(rows(*votes), 20, gamma=gamma, nonnegative=bound)
        json.dumps(found.to_dict(), allow_nan=False)
        json.dumps(fit.to_dict(), allow_nan=False)

    def test_zero_differences(self) -> None:
        fit = fit_penalties(rows((0, 0, "a"), (0, 0, "b"), (0, 0, "a")), gamma=0)
        assert (fit.a, fit.b, fit.status) == (0, 0, FitStatus.NO_DIFFERENCE)
        assert fit.n_equal == 3
        assert "for want of data" in fit.warnings[0]
        assert fit.loss == pytest.approx(3 * math.log(2))

    def test_all_ties(self) -> None:
        fit = fit_penalties(rows((3, 1, "tie"), (-2, 4, "tie"), (1, 1, "tie")), gamma=0)
        assert (fit.a, fit.b, fit.status, fit.n_ties) == (0, 0, FitStatus.ALL_TIES, 3)
        found = bootstrap_penalties(rows((3, 1, "tie"), (-2, 4, "tie")), 50)
        assert found.intervals["b_over_a"] is None
        assert any("0 / 0 in 50 of 50" in told for told in found.warnings)

    @pytest.mark.parametrize("gamma", [0.0, 0.3])
    def test_an_axis_that_never_differs(self, gamma: float) -> None:
        votes = rows((2, 0, "a"), (3, 0, "a"), (1, 0, "b"), (4, 0, "a"))
        fit = fit_penalties(votes, gamma)
        assert fit.status is FitStatus.FLAT
        assert fit.b == 0
        assert fit.a > 0
        assert "differ in turns: b is 0 for want of data" in fit.warnings[0]
        assert fit.ratio_a_over_b is None

    def test_fixed_proportion_gives_the_smallest_penalties(self) -> None:
        """Turns always differ by twice the calls: the limit of gamma to 0 has b = 2 a."""
        votes = rows((1, 2, "a"), (2, 4, "a"), (-1, -2, "a"), (3, 6, "a"))
        fit, near = fit_penalties(votes, gamma=0), fit_penalties(votes, gamma=1e-7)
        assert fit.status is FitStatus.FLAT
        assert fit.b == pytest.approx(2 * fit.a)
        assert (fit.a, fit.b) == pytest.approx((near.a, near.b), abs=1e-6)

    @pytest.mark.parametrize(("choices", "axis"), [("aaab", 0), ("bbba", 1)])
    def test_opposite_proportion_stays_in_the_quadrant(self, choices: str, axis: int) -> None:
        """Calls up, turns down, in one proportion: one of the two must be 0."""
        votes = rows(*[(n, -n, c) for n, c in zip((1, 2, 3, 1), choices, strict=True)])
        fit, near = fit_penalties(votes, gamma=0), fit_penalties(votes, gamma=1e-7)
        assert (fit.a, fit.b)[axis] > 0
        assert (fit.a, fit.b)[1 - axis] == 0
        assert (fit.a, fit.b) == pytest.approx((near.a, near.b), abs=1e-6)

    def test_separable_votes_fall_back_to_a_regulariser(self) -> None:
        votes = rows((2, 1, "a"), (1, 3, "a"), (-2, -1, "b"), (4, -1, "a"))
        bare, usual = fit_penalties(votes, gamma=0), fit_penalties(votes)
        assert bare.status is usual.status is FitStatus.SEPARABLE
        assert (bare.a, bare.b, bare.gamma) == (usual.a, usual.b, 0.3)
        assert "no finite optimum at gamma = 0" in bare.warnings[0]
        assert "set by gamma = 0.3" in usual.warnings[0]

    def test_separable_only_outside_the_quadrant(self) -> None:
        """Every vote prefers more of both: the bound holds both at 0, and says so."""
        fit = fit_penalties(rows((2, 1, "b"), (1, 3, "b"), (3, 1, "b")), gamma=0)
        assert (fit.a, fit.b) == (0, 0)
        assert fit.unconstrained is None
        assert not fit.slack
        assert "without it there is no finite optimum" in fit.warnings[-1]

    def test_a_bound_that_binds_is_told(self) -> None:
        votes = [*drawn(8, 200, a=-0.2, b=0.3)]
        fit = fit_penalties(votes)
        assert fit.a == 0
        assert fit.unconstrained is not None
        assert fit.unconstrained[0] < -0.1
        assert not fit.slack
        assert "a is held at 0" in fit.warnings[0]
        found = bootstrap_penalties(votes, 300)
        assert found.intervals["b_over_a"] is None
        assert any("denominator is 0" in told for told in found.warnings)
        assert found.intervals["a"] is not None

    @given(votes_strategy, st.booleans())
    def test_separability_agrees_with_linear_programming(self, votes: Any, bound: bool) -> None:
        optimize = pytest.importorskip("scipy.optimize")
        x = np.array([v[:2] for v in votes], dtype=float)
        y = np.array([{"a": 1, "b": 0, "tie": 0.5}[v[2]] for v in votes])
        cells = collapse(x, y, np.ones(len(y)))
        direction = separating_direction(cells, nonnegative=bound)
        signed = np.concatenate([x[y == 1], -x[y == 0]])
        ties = x[y == 0.5]
        box = [(0 if bound else -1, 1)] * 2
        best = optimize.linprog(
            -signed.sum(axis=0), A_ub=-signed if len(signed) else None,
            b_ub=np.zeros(len(signed)) if len(signed) else None,
            A_eq=ties if len(ties) else None, b_eq=np.zeros(len(ties)) if len(ties) else None,
            bounds=box,
        )  # fmt: skip
        assert (direction is not None) == (-best.fun > 1e-7)

    def test_one_task_and_three_tasks(self) -> None:
        votes = [row | {"task_id": "only"} for row in drawn(9, 30)]
        found = bootstrap_penalties(votes, 50, unit="task")
        assert found.intervals["a"] is not None
        assert found.intervals["a"].width == 0
        assert any("one task only" in told for told in found.warnings)
        three = [row | {"task_id": f"t{i % 3}"} for i, row in enumerate(drawn(9, 30))]
        found = bootstrap_penalties(three, 400, unit="task")
        assert any("10 ways only" in told for told in found.warnings)
        assert len(np.unique(found.samples.round(9), axis=0)) == 10

    def test_resamples_without_an_optimum_are_left_out_and_counted(self) -> None:
        votes = rows((1, 0, "a"), (2, 1, "b"), (0, 1, "a"), (1, 2, "a"), (3, 1, "a"))
        found = bootstrap_penalties(votes, 400, gamma=0)
        assert found.fit.gamma == 0
        lost = found.to_dict()["undefined_resamples"]
        assert 0 < lost < 400
        assert f"{lost} of 400 resamples have no finite optimum" in " ".join(found.warnings)


class TestBootstrap:
    @pytest.mark.parametrize("gamma", [0.3, 3.0])
    @pytest.mark.parametrize("bound", [True, False])
    @pytest.mark.parametrize("n", [12, 60, 300])
    def test_all_at_once_equals_one_by_one(self, n: int, bound: bool, gamma: float) -> None:
        cells = _cells(drawn(n, n, a=0.03))
        start, _ = minimise(cells, cells.total, gamma, nonnegative=bound)
        weights = multinomial_counts(cells.rows, 150, 0).T.astype(float)
        fast, settled = Refit(cells, gamma, start[:, 0], nonnegative=bound)(weights)
        assert settled.all()
        for column in range(weights.shape[1]):
            alone, _ = minimise(cells, weights[:, [column]], gamma, nonnegative=bound)
            assert fast[:, column] == pytest.approx(alone[:, 0], abs=2e-8)

    def test_index_resamples_are_fits_of_the_drawn_rows(self) -> None:
        votes = drawn(10, 80)
        found = bootstrap_penalties(votes, 25, seed=3, unit="index")
        picked = np.random.default_rng(3).integers(0, 80, (25, 80))
        for sample, row in zip(found.samples, picked, strict=True):
            fit = fit_penalties([votes[i] for i in row])
            assert sample == pytest.approx([fit.a, fit.b], abs=2e-8)

    def test_grouped_resamples_keep_groups_whole(self) -> None:
        """Resampling two tasks gives three possible fits: one task twice, either, or both once."""
        first, second = drawn(11, 20), drawn(12, 30)
        votes = [row | {"task_id": "p"} for row in first] + [
            row | {"task_id": "q"} for row in second
        ]
        found = bootstrap_penalties(votes, 60, unit="task")
        fits = [fit_penalties(part) for part in (first * 2, second * 2, first + second)]
        possible = np.array([[fit.a, fit.b] for fit in fits])
        gaps = np.abs(found.samples[:, None] - possible).max(axis=2)
        assert (gaps.min(axis=1) < 2e-8).all()
        assert set(gaps.argmin(axis=1)) == {0, 1, 2}

    def test_pairs_with_several_annotators(self) -> None:
        """Copies of one annotator's votes add no information when pairs are resampled."""
        votes = [row | {"pair_id": f"p{i}"} for i, row in enumerate(drawn(13, 80))]
        once = bootstrap_penalties(votes, 800, unit="pair", gamma=0.3).intervals["b"]
        thrice = bootstrap_penalties(votes * 3, 800, unit="pair", gamma=0.9).intervals["b"]
        naive = bootstrap_penalties(votes * 3, 800, unit="vote", gamma=0.9).intervals["b"]
        assert once is not None
        assert thrice is not None
        assert naive is not None
        assert thrice.to_list() == pytest.approx(once.to_list(), abs=2e-8)
        assert naive.width < 0.75 * once.width

    def test_weights_travel_with_their_votes(self) -> None:
        votes = drawn(14, 60)
        plain = bootstrap_penalties(votes, 100, gamma=0.3)
        doubled = bootstrap_penalties(votes, 100, gamma=0.6, weights=[2.0] * 60)
        assert doubled.samples == pytest.approx(plain.samples, abs=2e-8)

    def test_seeds(self) -> None:
        votes = drawn(15, 40)
        first, again, other = (bootstrap_penalties(votes, 50, seed=s).samples for s in (1, 1, 2))
        assert (first == again).all()
        assert (first != other).any()

    def test_lambda_intervals_are_those_of_the_costs(self) -> None:
        found = bootstrap_penalties(drawn(16, 120), 500)
        a, tool = found.intervals["a"], found.intervals["lambda_tool"]
        assert a is not None
        assert tool is not None
        assert tool.to_list() == pytest.approx([math.exp(-a.hi), math.exp(-a.lo)], abs=2e-4)

    @pytest.mark.slow
    def test_large_sets_equal_small_ones_repeated(self) -> None:
        """100 copies of each vote: cells hold 100 rows, the fit with 100 gamma is the same."""
        votes = drawn(17, 300)
        one, many = fit_penalties(votes, 0.3), fit_penalties(votes * 100, 30.0)
        assert (one.a, one.b) == pytest.approx((many.a, many.b), abs=1e-10)
        # The spread of the resamples is the sandwich: H^-1 (sum of squared scores) H^-1.
        cells = _cells(votes * 100)
        beta = np.array([many.a, many.b])
        score = cells.x * (1 / (1 + np.exp(-cells.x @ beta)) - cells.y)[:, None]
        bread = np.array(many.covariance)
        sandwich = bread @ ((score * cells.rows[:, None]).T @ score) @ bread
        spread = np.cov(bootstrap_penalties(votes * 100, 4000, gamma=30.0).samples.T)
        assert np.diag(spread) == pytest.approx(np.diag(sandwich), rel=0.1)


def _cells(votes: list[dict[str, Any]]) -> Cells:
    from rideway.metric.votes import read_votes

    read: Votes = read_votes(votes)
    return collapse(read.difference, read.preference, read.weight)


class TestRecovery:
    """The simulation study of `benchmarks/recovery.py`, small."""

    @pytest.fixture
    def recovery(self, monkeypatch: pytest.MonkeyPatch) -> Any:
        monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "benchmarks"))
        return importlib.import_module("recovery")

    def test_known_penalties_are_found_again(self, recovery: Any) -> None:
        found = recovery.study("model", 320, repetitions=40, draws=200)
        assert abs(found["bias_a"]) < 4 * found["bias_error_a"]
        assert abs(found["bias_b"]) < 4 * found["bias_error_b"]
        assert min(found["cover_a"], found["cover_b"], found["cover_ratio"]) >= 0.75
        assert found["finds_b_above_a"] > 0.8

    def test_more_votes_give_shorter_intervals_and_more_power(self, recovery: Any) -> None:
        few = recovery.study("model", 60, repetitions=20, draws=200)
        many = recovery.study("model", 960, repetitions=20, draws=200)
        assert 3 < few["width_b"] / many["width_b"] < 6  # the square root of 16 is 4
        assert few["finds_b_above_a"] < many["finds_b_above_a"] == 1

    def test_annotators_who_see_waste(self, recovery: Any) -> None:
        """Counts then miss part of the truth, and labels of waste recover it."""
        found = recovery.waste_study(n=4000, held=4000)
        assert found["a"] < recovery.A < found["penalty_of_a_wasted_call"]
        assert found["accuracy"]["pure_tool"] < found["accuracy"]["turn_differing"]
        labelled = found["with_waste_labels"]
        assert labelled["improves"]
        assert labelled["larger"]["weights"]["e_tool"] < 0.03
        assert labelled["larger"]["weights"]["wasted_calls"] == pytest.approx(0.247, abs=0.04)

    @pytest.mark.slow
    @pytest.mark.parametrize("n", [160, 320])
    def test_ninety_percent_intervals_cover_ninety_percent(self, recovery: Any, n: int) -> None:
        found = recovery.study("model", n, repetitions=400, draws=1000)
        for name in ("cover_a", "cover_b", "cover_ratio"):
            assert 0.86 <= found[name] <= 0.94  # 0.90 within 2.7 standard errors


class TestResults:
    def test_json_of_a_fit_and_of_a_bootstrap(self) -> None:
        fit = fit_penalties(drawn(18, 100))
        names = {
            "a",
            "b",
            "lambda_tool",
            "lambda_turn",
            "ratio_b_over_a",
            "n",
            "gamma",
            "bootstrap",
        }
        assert names <= fit.to_dict().keys()
        assert "intervals" not in fit.to_dict()
        assert fit.to_dict()["bootstrap"] == 0
        found = bootstrap_penalties(drawn(18, 100), 300).to_dict()
        assert found["bootstrap"] == 300
        assert set(found["intervals"]) == set(PARAMETERS)
        assert all(low <= high for low, high in found["intervals"].values())

    def test_table_rows(self) -> None:
        found = bootstrap_penalties(drawn(18, 100), 100)
        assert [row["parameter"] for row in found.rows()] == list(PARAMETERS)
        assert [row["parameter"] for row in found.fit.rows()] == list(PARAMETERS)
        assert found.rows()[0]["estimate"] == found.fit.a

    def test_penalties_for_the_metric(self, tmp_path: Path) -> None:
        fit = fit_penalties(drawn(18, 100))
        assert (fit.penalties.a, fit.penalties.b) == pytest.approx((fit.a, fit.b))
        path = tmp_path / "penalties.json"
        path.write_text(json.dumps(fit.to_dict()), encoding="utf-8")
        assert read_penalties(path) == fit.penalties
        path.write_text('{"lambda_tool": 0.9, "lambda_turn": 0.8}', encoding="utf-8")
        assert (read_penalties(path).lambda_tool, read_penalties(path).lambda_turn) == (0.9, 0.8)
        both = '{"a": 0.1235, "b": 0.2448, "lambda_tool": 0.884, "lambda_turn": 0.783}'
        path.write_text(both, encoding="utf-8")
        assert read_penalties(path).a == pytest.approx(0.1235)

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("[1]", "needs numbers"),
            ('{"a": true, "b": 1}', "needs numbers"),
            ('{"a": -1, "b": 1}', "cost a"),
            ("{", "cannot be read as JSON"),
            ('{"a": NaN, "b": 1}', "cost a must be a finite number"),
            ('{"a": 0.1}', "`b` is None"),
            ('{"a": "0.1", "b": 0.2, "lambda_tool": 0.9, "lambda_turn": 0.8}', "`a` is '0.1'"),
            (
                '{"a": 0.5, "b": 0.2448, "lambda_tool": 0.8838, "lambda_turn": 0.7829}',
                "`a` 0.5 makes lambda_tool 0.6065, but `lambda_tool` is 0.8838",
            ),
            (
                '{"a": 0.1235, "b": 0.5, "lambda_tool": 0.8838, "lambda_turn": 0.7829}',
                "`b` 0.5 makes lambda_turn 0.6065, but `lambda_turn` is 0.7829",
            ),
        ],
    )
    def test_bad_penalty_files(self, tmp_path: Path, text: str, told: str) -> None:
        path = tmp_path / "p.json"
        path.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=told):
            read_penalties(path)

    @pytest.mark.parametrize("gamma", [-1.0, math.inf, math.nan, True])
    def test_bad_gamma(self, gamma: float) -> None:
        with pytest.raises(InputError, match="gamma"):
            fit_penalties(drawn(18, 10), gamma)

    def test_bad_unit(self) -> None:
        with pytest.raises(InputError, match="unit must be"):
            bootstrap_penalties(drawn(18, 10), 10, unit="row")  # type: ignore[arg-type]
