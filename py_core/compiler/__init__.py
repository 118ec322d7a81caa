"""Which records enter the prompt, in which form, at which token cost, and why the others do not."""
