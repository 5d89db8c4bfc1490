"""Engines for rows that are not on this machine."""
