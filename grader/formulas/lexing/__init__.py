"""Text → tokens: LaTeX, plain, Unicode and numpy spellings of one thing give the same tokens."""
