"""The symbols that a question knows, and the shape of every part of a formula."""
