"""What makes the parts of the documents that are not written by hand."""
