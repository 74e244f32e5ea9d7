"""The tables and figures of the G-DSR, CuSINeS and QABISAR papers, reproduced on a corpus: specs, runs, results."""
