"""What measures quality, speed and memory on real law. Nothing here is asserted in a test."""
