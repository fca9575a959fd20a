"""Plans, their execution, and what is kept of it."""
