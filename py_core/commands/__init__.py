"""The commands of `python -m py_core`: each reads files, calls the core and prints."""
