"""Drawings for pages: diagram data in, an SVG with its words out."""
