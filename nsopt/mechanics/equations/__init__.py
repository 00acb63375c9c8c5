"""Equations of a mechanism as functions of its state: motion, joints, contacts, reactions."""
