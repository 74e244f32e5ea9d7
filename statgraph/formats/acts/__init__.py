"""Official XML of statutes: one streaming reader, and a profile for each format."""
