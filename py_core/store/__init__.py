"""Where records live: one small transactional port, and the ledger on top of it."""
