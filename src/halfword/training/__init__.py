"""A dataset becomes a model file."""
