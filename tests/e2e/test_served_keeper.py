"""A server misses its keeper, although those who ask only at a gateway would not tell it."""

from lab import kill


def test_a_keeper_that_is_killed_is_replaced_while_nobody_asks(lab):
    server = lab.start("serve", "--port", "0")
    lab.until(lambda: "serving" in server.output.read_text(), pause_s=0.1)  # it has started one by then
    lab.submit(lab.write("p/train.py", "import time\ntime.sleep(600)\n"))
    lab.until(lab.runners, pause_s=0.1)
    killed = lab.until(lab.keepers)
    assert all(kill(pid) for pid in killed)
    lab.until(lambda: set(lab.keepers()) - set(killed), pause_s=0.1)
