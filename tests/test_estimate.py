"""Estimates: what every kind tells of itself, and intervals where some resamples have no value."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rideway.metric import cohen_kappa, krippendorff_alpha
from rideway.metric.agreement import raw_agreement
from rideway.metric.correlation import pearson, spearman_ordinal
from rideway.metric.estimate import Estimate, defined_interval
from rideway.metric.resample import interval

RATINGS = ["a", "b", "a", "b", "a"], ["a", "b", "b", "b", None]
COLUMNS = [1.0, 2.0, 3.0, 5.0], [2.0, 1.0, 3.0, 3.0]


@pytest.mark.parametrize(
    "found",
    [
        raw_agreement(*RATINGS, draws=20),
        cohen_kappa(*RATINGS),
        krippendorff_alpha(RATINGS, draws=20),
        pearson(*COLUMNS),
        spearman_ordinal(*COLUMNS, draws=20, unit="model"),
    ],
    ids=lambda found: found.statistic,
)
def test_an_estimate_tells_every_field_in_order(found: Estimate) -> None:
    document = found.to_dict()
    assert list(document) == [field.name for field in fields(found)]
    assert document["value"] == float(found)
    assert (document["interval"] is None) == (found.interval is None)
    if found.interval is not None:
        assert document["interval"] == [found.interval.lo, found.interval.hi]


def test_an_estimate_without_a_value_is_no_number() -> None:
    found = pearson([1.0, 1.0], [1.0, 2.0])
    with pytest.raises(ValueError, match=r"pearson is undefined: .*all 2 values of x are 1"):
        float(found)


@given(st.lists(st.one_of(st.just(float("nan")), st.floats(-1, 1)), max_size=30))
def test_an_interval_leaves_out_resamples_without_a_value_and_says_so(values: list[float]) -> None:
    array = np.array(values, dtype=np.float64)
    defined = [value for value in values if value == value]
    found, told = defined_interval(array, 0.8, "task")
    assert found == (interval(defined, 0.8, "task") if defined else None)
    lost = len(values) - len(defined)
    assert (told is None) == (lost == 0)
    assert told is None or told.startswith(f"undefined in {lost} of {len(values)} resamples")
