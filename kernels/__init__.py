"""Arithmetic of the `.slm` transformer over numpy arrays; knows token ids, never conversations."""
