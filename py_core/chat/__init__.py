"""One conversation with one model: load, compile, generate, remember the turn."""
