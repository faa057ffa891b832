"""What everything stands on: text, errors, files, the model file."""
