"""The only door to machines: live, captured, or recorded while it is asked; and to the files a user names."""
