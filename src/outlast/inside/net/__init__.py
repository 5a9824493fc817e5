"""HTTP/1.1 on plain sockets: small, standard library only, and fast enough to keep a network card busy."""
