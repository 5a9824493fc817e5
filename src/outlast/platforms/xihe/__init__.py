"""`xihe`: stints as training instances of Xihe, or of any hub that speaks its routes."""
