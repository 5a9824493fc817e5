"""A run as one page of HTML that needs nothing else: no script, no font, no network."""
