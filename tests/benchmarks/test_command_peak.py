import pytest

from benchmarks.command_peak import peak_of


def test_a_command_s_peak_is_that_of_a_python_process():
    peak = peak_of(["--version"])
    assert 5 < peak.peak_mib < 200  # no torch in it
    assert 0 < peak.seconds < 60


def test_a_command_that_fails_is_not_measured():
    with pytest.raises(RuntimeError, match="no such run folder"):
        peak_of(["search", "Who pays?", "--run", "/no/such/run"])
