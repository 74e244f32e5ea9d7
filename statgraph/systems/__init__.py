"""Published systems as YAML presets, and the pipeline that trains any of them."""
