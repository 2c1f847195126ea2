"""What the HTML page is made of: its style and its pictures."""
