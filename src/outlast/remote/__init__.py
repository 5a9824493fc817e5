"""The verbs against a server: `outlast --server URL`, `Client(server=URL)`."""
