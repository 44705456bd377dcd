"""How mathematics is written: every table of letters, commands and words that stand for one, once."""
