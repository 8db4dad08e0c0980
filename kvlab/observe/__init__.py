"""What does a real engine leave behind, and what does it say?"""
