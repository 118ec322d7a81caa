"""The native half: fetch, verify, convert, pack and serve; stdlib only, never in the browser wheel.

Takes a checkout, a per-user cache folder and the committed lock; gives a loopback web site.
Does not know records, prompts or arithmetic; `kernels` is run as a child process only.
"""
