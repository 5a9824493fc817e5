"""The verbs: what a user can ask for, one function each, used by every front end."""
