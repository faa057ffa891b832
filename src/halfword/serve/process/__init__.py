"""The server's processes."""
