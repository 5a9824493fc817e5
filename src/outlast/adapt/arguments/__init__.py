"""How a script reads its arguments, and how it comes to read the contract's."""
