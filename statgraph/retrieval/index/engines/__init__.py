"""Index engines behind one contract: where a run's article vectors are kept and searched."""
