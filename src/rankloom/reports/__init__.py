"""What is shown to others: runs on record become pages that need nothing but a browser."""
