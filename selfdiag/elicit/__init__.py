"""Asking, reading and grading: the words of a prompt, and what a reply to it says."""
