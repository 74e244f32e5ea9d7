"""Made-up acts, read by a profile."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest

from statgraph.formats.acts.profile import Profile, profile_named
from statgraph.formats.acts.reader import ActReader


@pytest.fixture
def read_act() -> Callable[..., ActReader]:
    """Return a function that reads an act by a profile, or the name of one; the articles are its `articles`."""

    def read(text: str | bytes, profile: Profile | str) -> ActReader:
        data = text.encode() if isinstance(text, str) else text
        chosen = profile_named(profile) if isinstance(profile, str) else profile
        reader = ActReader(io.BytesIO(data), chosen, "act.xml")
        reader.articles = list(reader)
        return reader

    return read
