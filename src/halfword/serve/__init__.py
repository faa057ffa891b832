"""The server: an ASGI app, the processes that run it, and the page."""
