"""The terminal app: screens over the same engine, protocols and reports that the commands use."""
