"""Find the records that might help with a turn, and say how much: never which of them enter."""
