"""Evaluation: metrics by question, their intervals and strata, reports, TREC runs."""
