"""A model file completes prefixes."""
