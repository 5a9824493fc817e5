"""Pictures of metrics: pure functions from curves to text and SVG."""
