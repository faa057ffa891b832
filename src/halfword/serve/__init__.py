"""The server: HTTP, the processes that run it, and the page."""
