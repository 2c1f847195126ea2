"""Active tests of one path between two hosts: a responder, a client, and a shelf of tests."""
