"""What runs inside the box, or becomes it. Loaded there under another name, without the rest of `grader`.

These files import the standard library, numpy, torch and each other, and nothing else of the project.
"""
