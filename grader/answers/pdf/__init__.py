"""Reading PDFs, in a process that can be killed."""
