"""Results in words and files."""
