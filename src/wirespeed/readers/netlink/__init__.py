"""Decoders of binary kernel replies (netlink, ethtool): bytes in, values out, never an exception on damaged input."""
