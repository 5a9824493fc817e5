"""`modelarts`: stints as training jobs of ModelArts, or of anything that speaks its protocol."""
