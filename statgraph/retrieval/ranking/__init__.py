"""From the signals to one ranking: candidates, their features, and what weighs them."""
