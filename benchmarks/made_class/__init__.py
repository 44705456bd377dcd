"""A class made on the spot: honest students who write the same standard solutions each in their own way, and copies."""
