"""The console in Chinese: one table per page, English text → Chinese text."""
