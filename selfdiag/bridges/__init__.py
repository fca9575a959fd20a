"""The audit inside other tools. Nothing else of selfdiag imports these tools."""
