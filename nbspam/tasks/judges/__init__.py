"""The filters that folds and replay ask for verdicts."""
