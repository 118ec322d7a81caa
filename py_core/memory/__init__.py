"""What is kept for later, with consent: written, reviewed, corrected, deleted, repaired."""
