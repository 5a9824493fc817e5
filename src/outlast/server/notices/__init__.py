"""Telling people about their runs: webhook, e-mail, DingTalk, WeCom and Slack."""
