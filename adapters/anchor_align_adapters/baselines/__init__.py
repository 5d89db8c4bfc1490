"""Baselines: methods that go from views to labels, without anchor graphs."""
