"""selfdiag: can you believe a language model when it says it is sure?"""

__version__ = "0.1.0"
