"""The verbs in the terminal: one file per verb, each imported only when it is asked for."""
