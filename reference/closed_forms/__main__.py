"""Print the table of closed forms, each proved and confirmed while it is printed."""

from reference.closed_forms import markdown_table

print(markdown_table())
