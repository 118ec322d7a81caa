"""Which texts enter the prompt, at which token cost, and why the others do not."""
