"""Live changes over HTTP."""
