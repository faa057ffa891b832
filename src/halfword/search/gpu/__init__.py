"""The network's search for thousands of prefixes at once, for evaluation."""
