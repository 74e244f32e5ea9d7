"""From a run folder to hits."""
