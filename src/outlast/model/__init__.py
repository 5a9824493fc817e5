"""The nouns: what a user asks for and what there is. No I/O."""
