import pytest

from statgraph.formats.documents.numbering import printed_number


@pytest.mark.parametrize(
    ("number", "kind", "printed"),
    [
        (3, "decimal", "3"), (3, "", "3"), (3, "none", ""), (3, "decimalZero", "03"), (28, "lowerLetter", "bb"),
        (4, "upperRoman", "IV"), (4, "lowerRoman", "iv"), (2, "russianUpper", "Б"), (3, "decimalEnclosedCircle", "③"),
        (10, "chineseCounting", "十"), (12, "chineseCountingThousand", "十二"), (20, "chineseCounting", "二十"),
        (101, "taiwaneseCounting", "一百零一"), (110, "chineseCounting", "一百一十"),
        (1005, "chineseCounting", "一千零五"), (111, "japaneseCounting", "百十一"), (302, "japaneseCounting", "三百二"),
    ],
)  # fmt: skip
def test_numbers_are_printed_by_their_kind(number, kind, printed):
    assert printed_number(number, kind) == printed
