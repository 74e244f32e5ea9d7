"""Overlays of the defaults by regime of training, one YAML file each."""
