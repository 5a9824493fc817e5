"""OpenPAI clusters of both generations: stints as jobs of one container."""
