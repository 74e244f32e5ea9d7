"""The configuration of a run: every default stands here once; regimes and systems (YAML) overlay it, `--set` last."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

INDEX_KINDS = ("auto", "flat", "ivf-pq")


@dataclass(frozen=True)
class EncoderConfig:
    """The text encoders.

    `backbone`: an embedded name, a folder or a hub name. `train`: none, head, last-N or full. The machine decides what
    `auto` means in either (`statgraph.systems.presets`). `article_backbone`: another one for the article side, as wide;
    blank for the same. `adapted`: the article side (of a static backbone, the model that it is distilled from) is first
    adapted to the statutes, as `pretrain` says. `heading_path`: put the headings in front of an article's text.
    `shared`: one backbone for questions and articles (a static one is always shared). `similarity`: cosine, dot or
    euclidean (G-DSR, table 6). `chunk_tokens`, `max_tokens`: G-DSR, section 3.1. `article_layers`, `article_heads`,
    `article_dropout`, `article_pooling` (mean or max): the second-level transformer over an article's chunks.
    `prune_vocabulary`: keep only the word pieces that the corpus uses. `token_dropout`: share of tokens left out in
    training (static).
    """

    backbone: str = "auto"
    train: str = "auto"
    article_backbone: str = ""
    adapted: bool = False
    similarity: str = "cosine"
    heading_path: bool = True
    shared: bool = False
    chunk_tokens: int = 128
    max_tokens: int = 1024
    article_layers: int = 2
    article_heads: int = 12
    article_dropout: float = 0.1
    article_pooling: str = "max"
    prune_vocabulary: bool = False
    token_dropout: float = 0.0


@dataclass(frozen=True)
class Stage1Config:
    """The contrastive training of the text encoders (G-DSR, section 3.1; QABISAR, section 2.1).

    An epoch draws every gold pair once, and again up to `min_epoch_steps` batches. `gold`, `headings` and `synthetic`
    are the sources' weights: of a batch, the share gold / (gold + headings + synthetic) is gold pairs. `negatives`: the
    source of the hard negatives beside those of the batch (none, bm25 or cusines), `negatives_per_pair` for each gold
    pair. `loss`: cross-entropy, or triplet with its `margin` (G-DSR, table 6). `lr` is the paper's; `weight_lr` is that
    of a static encoder's token weights. `patience`: epochs without a better dev R@200 before it stops; 0 never stops.
    """

    epochs: int = 15
    min_epoch_steps: int = 0
    batch_size: int = 24
    lr: float = 2e-5
    weight_lr: float = 2e-2
    weight_decay: float = 0.01
    warmup: float = 0.05
    temperature: float = 0.01
    gold: float = 1.0
    headings: float = 0.0
    synthetic: float = 0.0
    loss: str = "cross-entropy"
    margin: float = 1.0
    negatives: str = "bm25"
    negatives_per_pair: int = 1
    patience: int = 0


@dataclass(frozen=True)
class NegativesConfig:
    """Hard negatives of a training question (CuSINeS, section 3).

    `depth`: how many of BM25's best a `bm25` source draws from. The rest is of `cusines`: the `rankings` that are fused
    (semantic, hierarchical, sequential) with `rrf_k` in reciprocal rank fusion; `semantic`: by bm25, or by the model in
    training (dynamic), anew each epoch; how many `buckets` the fused ranking is cut into; `schedule`: their shares over
    the epochs (curriculum, uniform, or hardest: the most difficult bucket alone).
    """

    depth: int = 50
    rankings: tuple[str, ...] = ("semantic", "hierarchical", "sequential")
    semantic: str = "dynamic"
    rrf_k: int = 60
    buckets: int = 3
    schedule: str = "curriculum"


@dataclass(frozen=True)
class AugmentConfig:
    """Synthetic questions (G-DSR, section 4, row 7).

    `generator`: headings, or seq2seq:MODEL (a doc2query model by folder or hub name). `per_article`: questions an
    article (seq2seq). `articles_per_heading`: most articles that one heading asks for (headings). `round_trip`: keep a
    question if its article is among the retriever's best so many; 0 keeps all. `file`: questions that
    `statgraph augment` wrote; blank to generate them in the run.
    """

    generator: str = "headings"
    per_article: int = 5
    articles_per_heading: int = 100
    round_trip: int = 0
    file: str = ""


@dataclass(frozen=True)
class PretrainConfig:
    """Masked-language modelling of a backbone on the statutes (G-DSR, section 4, row 6). `mask_share`: of the tokens.
    `checkpoint_steps`: how often progress is saved."""

    steps: int = 50_000
    batch_size: int = 32
    max_tokens: int = 256
    lr: float = 5e-5
    warmup: float = 0.06
    weight_decay: float = 0.01
    mask_share: float = 0.15
    checkpoint_steps: int = 500


@dataclass(frozen=True)
class GraphConfig:
    """The graph: which relation groups it has (tree, bipartite, order) and whether the batch's own question-article
    edges are hidden while the loss asks for them (`target_edges`: mask or keep)."""

    relations: tuple[str, ...] = ("tree", "bipartite")
    target_edges: str = "mask"


@dataclass(frozen=True)
class GnnConfig:
    """The graph encoder (QABISAR, section 2.2). `fanout`: neighbours kept per node and relation in training, -1: all.
    `first_gate`: what the residual gates start from. `citation_dropout`: chance that an article's question edges are
    all hidden in a batch."""

    layer: str = "qabisar"
    layers: int = 2
    heads: int = 8
    dropout: float = 0.1
    fanout: int = -1
    first_gate: float = 1.0
    citation_dropout: float = 0.0


@dataclass(frozen=True)
class Stage2Config:
    """The training of the graph encoder with the query encoder as its student (QABISAR, sections 2.2 and 2.3).

    loss = contrastive_weight * contrastive + distillation_weight * distillation. `distillation`: none, score (the KL
    divergence of the score distributions), feature (the squared distance of the question vectors) or both; `joint`: in
    the same training, or else afterwards, with the graph encoder fixed. `student_share` is the part of the contrastive
    loss that the student's own scores carry (0: the teacher alone). `train_encoders`: which text encoders train along:
    none (G-DSR), query (QABISAR) or both; with both the batch mixes gold and heading pairs as in stage 1. `lr` is the
    graph encoder's, `encoder_lr` the text encoders'. `negatives`: as in stage 1. `random_negatives`: articles drawn at
    random into each batch. `epochs` 0 leaves the graph out.
    """

    epochs: int = 20
    min_epoch_steps: int = 0
    batch_size: int = 512
    lr: float = 2e-4
    train_encoders: str = "query"
    encoder_lr: float = 2e-4
    encoder_weight_lr: float = 2e-2
    gold: float = 1.0
    headings: float = 0.0
    weight_decay: float = 0.01
    warmup: float = 0.05
    temperature: float = 0.01
    contrastive_weight: float = 0.7
    distillation: str = "score"
    distillation_weight: float = 0.3
    joint: bool = True
    student_share: float = 0.0
    negatives: str = "none"
    negatives_per_pair: int = 1
    random_negatives: int = 0
    patience: int = 0


@dataclass(frozen=True)
class Bm25Config:
    """BM25's parameters (G-DSR, appendix C). `expansion`: synthetic questions put behind each article (doc2query)."""

    k1: float = 2.5
    b: float = 0.2
    expansion: int = 0


@dataclass(frozen=True)
class RunConfig:
    """Everything that decides a run. `retriever`: dense (encoders, and the graph where stage 2 runs) or bm25."""

    system: str = "qabisar"
    retriever: str = "dense"
    seed: int = 0
    device: str = "auto"
    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    pretrain: PretrainConfig = field(default_factory=PretrainConfig)
    augment: AugmentConfig = field(default_factory=AugmentConfig)
    negatives: NegativesConfig = field(default_factory=NegativesConfig)
    stage1: Stage1Config = field(default_factory=Stage1Config)
    graph: GraphConfig = field(default_factory=GraphConfig)
    gnn: GnnConfig = field(default_factory=GnnConfig)
    stage2: Stage2Config = field(default_factory=Stage2Config)
    bm25: Bm25Config = field(default_factory=Bm25Config)

    def to_dict(self) -> dict:
        """Return the configuration as nested JSON values."""
        return asdict(self)


@dataclass(frozen=True)
class IvfPqConfig:
    """Lists of product-quantised codes (Jégou et al., 2011), 4 bits a part; the best are ranked anew by exact score.

    `lists`: how many; 0 is the power of two that is at most 2 * sqrt(articles). `probes`: how many of them a search
    reads at most, fewer where few are near; 0 is an eighth, at least 64. `code_bytes` of an article; 0 is a quarter of
    the width, half a byte for two components. `rerank`: how many candidates are ranked anew, at least four for each
    article asked for, but those left out whose codes score too little. `precision` of the vectors on disk: float32, or
    float16, which halves them and rounds them for good; what is float16 when it comes stays so.
    """

    lists: int = 0
    probes: int = 0
    code_bytes: int = 0
    rerank: int = 400
    precision: str = "float32"


@dataclass(frozen=True)
class IndexConfig:
    """How a run's index searches; not part of what decides a run.

    `kind`: flat (exact), ivf-pq, or auto: flat up to `flat_most` articles, then ivf-pq (docs/performance.md).
    """

    kind: str = "auto"
    flat_most: int = 200_000
    ivf_pq: IvfPqConfig = field(default_factory=IvfPqConfig)
