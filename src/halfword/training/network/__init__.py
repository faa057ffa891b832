"""The neural network and how it learns."""
