"""Saved query encoders that answer a question: static ones in NumPy, transformers in ONNX Runtime or torch."""
