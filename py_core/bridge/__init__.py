"""The border: JSON strings from the page in, JSON strings to the page out."""
