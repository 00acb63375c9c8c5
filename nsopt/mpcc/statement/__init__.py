"""What a complementarity program is: blocks, pairs, boxes and discs, and their relaxations."""
