"""The questions: what they are, where they come from, which of them are asked."""
