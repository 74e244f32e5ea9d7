"""One file per source format: each fills a draft and knows nothing of the others."""
