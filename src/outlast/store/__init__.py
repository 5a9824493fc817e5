"""Where bytes are kept, seen from outside: opening stores, packing code, cleaning up."""
