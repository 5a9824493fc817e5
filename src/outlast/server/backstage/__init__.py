"""The process that makes the pages of the console when several processes answer.

A page of the console lives on: its buttons and its live table talk to the process that made it. Of several processes
on one port the kernel chooses anew for each connection, hence one further process makes all pages, and whichever
process is asked for one passes the request on over a socket that only this server's own user can reach.
"""
