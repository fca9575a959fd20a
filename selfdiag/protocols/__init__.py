"""The experiments: each turns records into a result."""
