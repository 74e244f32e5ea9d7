"""What few need, over everything else: exports, plots, tuning, embedding on many machines, questions by chat."""
