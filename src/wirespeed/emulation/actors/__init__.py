"""Processes that run in a node until they are stopped: wires, services, clients, load. Each module has `act(arguments)`."""
