"""Learn it: small runs, each told to make one belief visible."""
