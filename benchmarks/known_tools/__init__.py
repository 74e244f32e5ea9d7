"""The same search put together with tools that people know, a program each.

Each has `build(law, folder)`, which leaves in a folder whatever the search needs, and `reopen(folder, law)`, which
returns the search, as a service would begin after a restart. `benchmarks.measures.known_tools` measures them.
"""
