"""The page that starts a run: a form, checked while it is filled in by the very rules that starting it has."""
