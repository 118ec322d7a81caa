"""Tinyloom's core: records in, an audited prompt and an answer out; knows no JavaScript."""
