"""The folder that contracts of ModelArts put on the script's path; all that can be imported from it is `moxing`."""
