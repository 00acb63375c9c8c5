"""What a step knows of its contacts: modes, walls, slip, impacts and their laws."""
