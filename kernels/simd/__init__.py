"""The accelerated operations: a small WebAssembly module in C, and the op set that drives it.

The module knows addresses and numbers; Python lays out the records and buffers that it reads. The
same module runs on the memory of Python in the browser, on a memory that threads share, and in a
WebAssembly runtime beside CPython.
"""
