"""The model of the program: what Python alone says of it."""
