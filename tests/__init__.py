"""Tests of the whole project; a package so that no installed `tests` can take its name."""
