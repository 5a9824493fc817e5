"""OpenPAI jobs inside a stint: every instance of every task role as a process of its own.

The stint's child is `python -m outlast.inside.contracts.openpai PLAN`; its exit code is the job's.
"""
