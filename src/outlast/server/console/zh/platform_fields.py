"""What signing in to a platform asks for; the terminal asks the same."""

from outlast.platforms.questions_zh import CHINESE as TEXTS

__all__ = ["TEXTS"]
