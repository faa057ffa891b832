"""The paper's table and figures, repeated on any dataset, next to the values that the paper reports."""
