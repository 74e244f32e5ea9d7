"""One YAML file for each table: its rows, and what is set on top of each row's system."""
