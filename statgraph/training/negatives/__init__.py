"""Hard negatives of training questions: drawn from BM25's best, or by CuSINeS' fused difficulty and curriculum."""
