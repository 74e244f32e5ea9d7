"""Law that changes: a finished run takes a new version of its corpus without training again."""
