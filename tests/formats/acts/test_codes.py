import pytest

from statgraph.formats.acts.codes import iso_date, language_code


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("20240131", "2024-01-31"),
        ("2024-01-31T10:00:00", "2024-01-31"),
        ("31.1.2024", "2024-01-31"),
        ("9999-12-31", ""),
        ("0001-01-01", ""),
        ("2024-02-31", ""),
        ("soon", ""),
    ],
)
def test_dates(text, expected):
    assert iso_date(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ita", "it"),
        ("en-US", "en"),
        ("EN", "en"),
        ("http://example.org/language/FRA", "fr"),
        ("roh", "rm"),
        ("", ""),
        ("x", ""),
    ],
)
def test_languages(text, expected):
    assert language_code(text) == expected
