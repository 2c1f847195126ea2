"""Packet captures: files and lines of tcpdump in, packets out, and what the packets of a connection or a look-up say together."""
