"""The keeper looks after open runs: it observes, decides and acts. The index remembers which runs there are."""
