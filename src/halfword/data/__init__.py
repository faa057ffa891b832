"""Query logs become a dataset."""
