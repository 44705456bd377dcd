"""Tokens → a tree, by one grammar; and the tree written out again."""
