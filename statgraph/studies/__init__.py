"""The tables and figures of the G-DSR, CuSINeS and QABISAR papers, made anew on a corpus: specs, runs, results."""
