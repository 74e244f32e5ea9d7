"""Speed, memory and scale, measured beside what a user would pick instead."""
