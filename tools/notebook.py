"""docs/tutorial.ipynb, the cells of docs/tutorial.md: text between the examples, and each example as code."""

from __future__ import annotations

import json
import re

_EXAMPLE = re.compile(r"^```python\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
_ABOUT = {"nbformat": 4, "nbformat_minor": 5, "metadata": {"language_info": {"name": "python"}}}


def notebook(page: str) -> str:
    """Return the notebook of a page of Markdown, as JSON; links to other pages lead beside it, as on the page."""
    cells = []
    for number, part in enumerate(_EXAMPLE.split(page)):
        code = number % 2 == 1
        about = {"cell_type": "code", "execution_count": None, "outputs": []} if code else {"cell_type": "markdown"}
        source = part.strip().splitlines(keepends=True)
        cells.append({**about, "id": f"cell-{number}", "metadata": {}, "source": source})
    return json.dumps({**_ABOUT, "cells": cells}, indent=1, ensure_ascii=False) + "\n"
