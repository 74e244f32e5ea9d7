from datetime import date

import pytest

from statgraph.errors import UsageError
from statgraph.law.validity import FOR_EVER, SINCE_EVER, asked_day, days_in_force, validity_problem, with_plain_dates


def test_days_count_from_the_first_of_january_of_the_year_1():
    assert days_in_force({"valid_from": "0001-01-02", "valid_to": "0001-02-01"}) == (2, 32)
    assert days_in_force({"valid_from": "", "valid_to": None, "etat": "VIGUEUR"}) == (SINCE_EVER, FOR_EVER)
    assert days_in_force({"valid_from": "2026-01-31"}) == (date(2026, 1, 31).toordinal(), FOR_EVER)


@pytest.mark.parametrize("value", ["2026-02-30", "20260131", "2026-W05", 2026, "2026-01-31T00:00:00", True])
def test_what_is_no_date_is_told(value):
    assert validity_problem({"valid_to": value}) == (f"has an invalid valid_to {value!r}; write it like 2026-01-31")


def test_an_interval_needs_a_day():
    assert validity_problem({"valid_from": "2026-01-01", "valid_to": "2026-01-02"}) is None
    assert "valid_to must be later" in validity_problem({"valid_from": "2026-01-02", "valid_to": "2026-01-02"})


@pytest.mark.parametrize(
    ("given", "plain"),
    [
        ({"valid_until": "2019-12-31"}, {"valid_to": "2020-01-01"}),
        (
            {"valid_from": "2019-01-01", "valid_until": "2019-01-01"},
            {"valid_from": "2019-01-01", "valid_to": "2019-01-02"},
        ),
        ({"valid_until": "9999-12-31"}, {}),
        ({"valid_from": "2019-01-01 00:00:00", "x": 1}, {"x": 1, "valid_from": "2019-01-01"}),
        ({"valid_to": "2019-01-01T00:00:00.000Z"}, {"valid_to": "2019-01-01"}),
        (
            {"valid_to": "2019-01-01T12:00:00", "valid_until": ""},
            {"valid_to": "2019-01-01T12:00:00", "valid_until": ""},
        ),
    ],
)
def test_dates_of_tables_become_those_of_a_corpus(given, plain):
    assert with_plain_dates(given) == plain


def test_a_last_day_is_one_and_valid():
    with pytest.raises(ValueError, match=r"^has both valid_to and valid_until; keep one"):
        with_plain_dates({"valid_to": "2020-01-01", "valid_until": "2019-12-31"})
    with pytest.raises(ValueError, match=r"^has an invalid valid_until 'soon'; write it like 2026-01-31"):
        with_plain_dates({"valid_until": "soon"})


def test_a_day_can_be_asked_about_in_four_ways():
    assert asked_day("0001-01-02") == asked_day(date(1, 1, 2)) == 2
    assert asked_day("always") is None
    assert asked_day("today") in (date.today().toordinal(), date.today().toordinal() - 1)
    with pytest.raises(
        UsageError, match=r"as of 'tomorrow': not a date; write it like 2026-01-31, or today, or always"
    ):
        asked_day("tomorrow")
