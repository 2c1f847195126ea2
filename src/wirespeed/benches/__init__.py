"""Load on purpose: active measurements of links, bounded and cleaned up after."""
