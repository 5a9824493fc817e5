"""Standard evaluation: what the curves of a run say about it, in numbers and in sentences. Pure."""
