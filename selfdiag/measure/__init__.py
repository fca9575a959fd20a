"""Measures of stated confidence against right and wrong answers: numbers in, numbers out."""
