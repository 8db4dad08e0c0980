"""What happened: events, the trace that keeps them, and the states they fold into."""
