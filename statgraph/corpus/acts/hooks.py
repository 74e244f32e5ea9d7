"""What a profile's YAML cannot say: functions that change an article after it is read, named by `hook`.

Each takes the article and its element, and returns the article, changed or not, or None to leave it out.
"""
