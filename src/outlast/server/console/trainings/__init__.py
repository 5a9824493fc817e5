"""Training instances of a project: the list, the form, one of them, and its evaluation."""
