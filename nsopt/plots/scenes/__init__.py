"""The mechanism itself: in a picture, in a film, in a browser."""
