"""The sentences that learners say in their own words, and what they should say."""
