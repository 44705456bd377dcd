"""A made class that is like real ones."""
