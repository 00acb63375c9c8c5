"""Journals in oil: films, and contact where they break."""
