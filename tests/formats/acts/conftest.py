"""Made-up acts, read by a profile."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from statgraph.formats.acts.profile import Profile, profile_named
from statgraph.formats.acts.reader import ActReader, parsed


@pytest.fixture
def read_act() -> Callable[..., ActReader]:
    """Return a function that reads an act by a profile, or the name of one."""

    def read(text: str | bytes, profile: Profile | str) -> ActReader:
        data = text.encode() if isinstance(text, str) else text
        chosen = profile_named(profile) if isinstance(profile, str) else profile
        return ActReader(parsed(data, chosen.settings.syntax, "act.xml"), chosen, "act.xml")

    return read
