"""Questions a newcomer can answer: one a file, each with what people may have seen, by topic of the symptoms."""
