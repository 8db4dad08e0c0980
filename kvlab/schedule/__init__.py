"""Who runs next: requests, their checkpoints, and the budgets that admit them."""
