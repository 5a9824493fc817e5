"""The half that runs within a stint: standard library only, Python 3.7 and later.

Images in the field still carry Python 3.7 and no network, so this package travels as one small zip and needs
nothing else. The other half may import its pure parts (layout, records, log parsing, formats, store clients).
"""
