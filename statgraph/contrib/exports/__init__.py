"""Runs and corpora in other tools' formats (`statgraph export`), and graphs for ONNX Runtime (`statgraph quicken`)."""
