"""The same answers in every form that students hand in, and whether each form gets the verdict of the Markdown one."""
