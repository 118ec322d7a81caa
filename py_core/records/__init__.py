"""What may enter a prompt: records of fifteen kinds, each in its provenance envelope."""
