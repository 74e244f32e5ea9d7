"""Run folders: what `train` leaves and everything else reads."""
