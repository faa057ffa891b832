"""The neural network and its training."""
