"""Transcriptions: how a motion becomes a program with finitely many unknowns."""
