"""Trainings that a framework runs: Lightning, Transformers, Keras, Ignite, MindSpore, and others told by name."""
