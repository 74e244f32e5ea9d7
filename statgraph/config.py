"""The configuration of a run: every default and its limits; regimes and systems (YAML) overlay it, `--set` last."""

from __future__ import annotations

from dataclasses import dataclass, field

from statgraph.device import DEVICES
from statgraph.errors import UsageError
from statgraph.registry import LAYERS, NEGATIVES, RANKINGS, SIGNALS
from statgraph.settings import check_settings, known_by, setting

DECAYS = ("linear", "constant")
INDEX_KINDS = ("auto", "flat", "ivf-pq")
SELECTORS = ("quality", "mAP", "nDCG@10", "MRR@10", "S@3", "R@10", "R@100", "R@200")


@dataclass(frozen=True)
class EncoderConfig:
    """The text encoders.

    `backbone`: an embedded name, a folder or a hub name. `train`: none, head, last-N or full. The machine decides what
    `auto` means in either (`statgraph.systems.presets`). `article_backbone`: another one for the article side, as wide;
    blank for the same. `pooling`, `query_prompt`, `passage_prompt`: how a transformer pools, and what is put before
    questions and articles; auto for what its folder says. `adapted`: the article side (of a static backbone, the model
    that it is distilled from) is first adapted to the statutes, as `pretrain` says. `heading_path`: put the headings in
    front of an article's text.
    `shared`: one backbone for questions and articles (a static one is always shared). `similarity`: cosine, dot or
    euclidean (G-DSR, table 6). `chunk_tokens`, `max_tokens`: G-DSR, section 3.1. `article_layers`, `article_heads`,
    `article_dropout`, `article_pooling` (mean or max): the second-level transformer over an article's chunks.
    `prune_vocabulary`: keep only the word pieces that the corpus uses. `token_dropout`: share of tokens left out in
    training (static). `slice_tokens`: the most tokens that go through a trained backbone at once; of more each slice is
    encoded again for its gradient, which takes a third more time, and less memory.
    """

    backbone: str = "auto"
    train: str = setting(
        "auto", pattern=r"auto|none|head|full|last-[1-9]\d*", words="none, head, last-N (such as last-2), full or auto"
    )
    article_backbone: str = ""
    pooling: str = setting("auto", choices=("auto", "mean", "cls", "max"))
    query_prompt: str = "auto"
    passage_prompt: str = "auto"
    adapted: bool = False
    similarity: str = setting("cosine", choices=("cosine", "dot", "euclidean"))
    heading_path: bool = True
    shared: bool = False
    chunk_tokens: int = setting(128, at_least=1)
    max_tokens: int = setting(1024, at_least=1)
    article_layers: int = setting(2, at_least=0)
    article_heads: int = setting(12, at_least=1)
    article_dropout: float = setting(0.1, at_least=0, at_most=1)
    article_pooling: str = setting("max", choices=("mean", "max"))
    prune_vocabulary: bool = False
    token_dropout: float = setting(0.0, at_least=0, at_most=1)
    slice_tokens: int = setting(
        -1, at_least=1, special={-1: "what CUDA memory holds (on a CPU all)", 0: "all at once"}, later=True
    )


@dataclass(frozen=True)
class Stage1Config:
    """The contrastive training of the text encoders (G-DSR, section 3.1; QABISAR, section 2.1).

    An epoch draws every gold pair once, and again up to `min_epoch_steps` batches. `gold`, `headings`, `citing` (texts
    that cite the law, where the corpus has any) and `synthetic` are the sources' weights: of a batch, the share gold /
    (gold + headings + citing + synthetic) is gold pairs. `negatives`: the
    source of the hard negatives beside those of the batch (none, bm25 or cusines), `negatives_per_pair` for each gold
    pair. `loss`: cross-entropy, or triplet with its `margin` (G-DSR, table 6). `lr` is the paper's; `weight_lr` is that
    of a static encoder's token weights. After the `warmup`, a share of all steps, the rates follow `decay`: linear to
    0, or constant. `clip`: the longest gradient, longer ones are shortened to it; 0 leaves all. `patience`: epochs
    without a better one on dev before it stops; 0 never stops. `question_order`: shuffled, or a curriculum over the
    training questions, from the easy ones to all of them over the epochs: lexical (easy is what BM25 finds), labels
    (what few articles answer) or random.
    """

    epochs: int = setting(15, at_least=0)
    min_epoch_steps: int = setting(0, at_least=0)
    batch_size: int = setting(24, at_least=1)
    lr: float = setting(2e-5, above=0)
    weight_lr: float = setting(2e-2, at_least=0)
    weight_decay: float = setting(0.01, at_least=0)
    warmup: float = setting(0.05, at_least=0, at_most=1)
    temperature: float = setting(0.01, above=0)
    gold: float = setting(1.0, at_least=0)
    headings: float = setting(0.0, at_least=0)
    citing: float = setting(0.0, at_least=0)
    synthetic: float = setting(0.0, at_least=0)
    loss: str = setting("cross-entropy", choices=("cross-entropy", "triplet"))
    margin: float = setting(1.0, at_least=0)
    negatives: str = setting("bm25", choices=NEGATIVES)
    negatives_per_pair: int = setting(1, at_least=0)
    patience: int = setting(0, at_least=0)
    decay: str = setting("linear", choices=DECAYS, later=True)
    clip: float = setting(0.0, at_least=0, later=True)
    question_order: str = setting("shuffled", choices=("shuffled", "lexical", "labels", "random"), later=True)


@dataclass(frozen=True)
class NegativesConfig:
    """Hard negatives of a training question (CuSINeS, section 3).

    `depth`: how many of the most difficult a `bm25` source (BM25's best) or a fixed schedule draws from. The rest is of
    `cusines`: the `rankings` that are fused (semantic, hierarchical, sequential) with `rrf_k` in reciprocal rank
    fusion; `semantic`: by bm25, or by the model in training (dynamic), each epoch; how many even `buckets` the fused
    ranking is cut into (in one, every wrong article is as likely); `schedule`: curriculum (the buckets' shares move
    from easy to difficult over the epochs), fixed (the `depth` most difficult, from the start) or hardest (the most
    difficult bucket, from the start).
    """

    depth: int = setting(50, at_least=1)
    rankings: tuple[str, ...] = setting(("semantic", "hierarchical", "sequential"), choices=RANKINGS, distinct=True)
    semantic: str = setting("dynamic", choices=("dynamic", "bm25"))
    rrf_k: int = setting(60, at_least=0)
    buckets: int = setting(3, at_least=1, at_most=127)
    schedule: str = setting("curriculum", choices=("curriculum", "fixed", "hardest"))


@dataclass(frozen=True)
class AugmentConfig:
    """Synthetic questions (G-DSR, section 4, row 7).

    `generator`: headings, or seq2seq:MODEL (a doc2query model by folder or hub name). `per_article`: questions an
    article (seq2seq). `articles_per_heading`: most articles that one heading asks for (headings). `round_trip`: keep a
    question if its article is among the retriever's best so many; 0 keeps all. `file`: questions that
    `statgraph augment` wrote, or a CSV table with a `question` and its `article_ids` in each row, as BSARD has one;
    blank to generate them in the run.
    """

    generator: str = setting("headings", pattern="headings|seq2seq:.+", words="headings or seq2seq:MODEL")
    per_article: int = setting(5, at_least=1)
    articles_per_heading: int = setting(100, at_least=1)
    round_trip: int = setting(0, at_least=0)
    file: str = ""


@dataclass(frozen=True)
class PretrainConfig:
    """Masked-language modelling of a backbone on the statutes (G-DSR, section 4, row 6). `mask_share`: of the tokens.
    `checkpoint_steps`: how often progress is saved."""

    steps: int = setting(50_000, at_least=1)
    batch_size: int = setting(32, at_least=1)
    max_tokens: int = setting(256, at_least=1)
    lr: float = setting(5e-5, above=0)
    warmup: float = setting(0.06, at_least=0, at_most=1)
    weight_decay: float = setting(0.01, at_least=0)
    mask_share: float = setting(0.15, above=0, at_most=1)
    checkpoint_steps: int = setting(500, at_least=1)


@dataclass(frozen=True)
class GraphConfig:
    """The graph: which relation groups it has (tree, bipartite, order, citations, citing), whether the batch's own
    question-article edges are hidden while the loss asks for them (`target_edges`: mask or keep), and whether a
    heading's node stands for its whole path or for its own title (`heading_path`)."""

    relations: tuple[str, ...] = setting(
        ("tree", "bipartite"), choices=("tree", "bipartite", "order", "citations", "citing")
    )
    target_edges: str = setting("mask", choices=("mask", "keep"))
    heading_path: bool = setting(True, later=True)


@dataclass(frozen=True)
class GnnConfig:
    """The graph encoder (QABISAR, section 2.2). `fanout`: neighbours kept per node and relation in training, -1: all.
    `first_gate`: what the residual gates start from. `citation_dropout`: chance that an article's edges to
    questions and citing texts are all hidden in a batch. `activation`: the nonlinearity behind each layer. `residual`:
    a layer adds to its input; or else it takes its place, and between layers vectors are `expansion` times as wide.
    `start`: what a layer's projections start as: the identity, or at random (Glorot and Bengio 2010)."""

    layer: str = setting("qabisar", choices=LAYERS)
    layers: int = setting(2, at_least=1)
    heads: int = setting(8, at_least=1)
    dropout: float = setting(0.1, at_least=0, below=1)
    fanout: int = setting(-1, at_least=1, special={-1: "all neighbours"})
    first_gate: float = 1.0
    citation_dropout: float = setting(0.0, at_least=0, at_most=1)
    activation: str = setting("none", choices=("none", "relu"), later=True)
    residual: bool = setting(True, later=True)
    expansion: int = setting(1, at_least=1, later=True)
    start: str = setting("identity", choices=("identity", "random"), later=True)


@dataclass(frozen=True)
class Stage2Config:
    """The training of the graph encoder with the query encoder as its student (QABISAR, sections 2.2 and 2.3).

    loss = contrastive_weight * contrastive + distillation_weight * distillation. `distillation`: none, score (the KL
    divergence of the score distributions), feature (the squared distance of the question vectors) or both; `joint`: in
    the same training, or else afterwards, with the graph encoder fixed. `student_share` is the part of the contrastive
    loss that the student's own scores carry (0: the teacher alone). `train_encoders`: which text encoders train along:
    none (G-DSR), query (QABISAR) or both; with both the batch mixes gold pairs, headings and citing texts as in stage
    1. `synthetic`: the weight of synthetic questions (`augment`), whichever train: no nodes, they teach the graph
    through their articles (G-DSR, section 4.2). `lr` is the graph encoder's, `encoder_lr` the text encoders'.
    `negatives`, `decay` and `clip`: as in stage 1.
    `random_negatives`: articles drawn at random into each batch. `epochs` 0 leaves the graph out.
    """

    epochs: int = setting(20, at_least=0)
    min_epoch_steps: int = setting(0, at_least=0)
    batch_size: int = setting(512, at_least=1)
    lr: float = setting(2e-4, above=0)
    train_encoders: str = setting("query", choices=("none", "query", "both"))
    encoder_lr: float = setting(2e-4, at_least=0)
    encoder_weight_lr: float = setting(2e-2, at_least=0)
    gold: float = setting(1.0, at_least=0)
    headings: float = setting(0.0, at_least=0)
    citing: float = setting(0.0, at_least=0)
    weight_decay: float = setting(0.01, at_least=0)
    warmup: float = setting(0.05, at_least=0, at_most=1)
    temperature: float = setting(0.01, above=0)
    contrastive_weight: float = setting(0.7, at_least=0)
    distillation: str = setting("score", choices=("none", "score", "feature", "both"))
    distillation_weight: float = setting(0.3, at_least=0)
    joint: bool = True
    student_share: float = setting(0.0, at_least=0, at_most=1)
    negatives: str = setting("none", choices=NEGATIVES)
    negatives_per_pair: int = setting(1, at_least=0)
    random_negatives: int = setting(0, at_least=0)
    patience: int = setting(0, at_least=0)
    decay: str = setting("linear", choices=DECAYS, later=True)
    clip: float = setting(0.0, at_least=0, later=True)
    synthetic: float = setting(0.0, at_least=0, later=True)


@dataclass(frozen=True)
class Bm25Config:
    """BM25's parameters (G-DSR, appendix C). `expansion`: synthetic questions put behind each article (doc2query)."""

    k1: float = setting(2.5, at_least=0)
    b: float = setting(0.2, at_least=0, at_most=1)
    expansion: int = setting(0, at_least=0)


@dataclass(frozen=True)
class EnsembleConfig:
    """Which signals rank together.

    `members`: the systems whose vectors are signals, each SYSTEM@BACKBONE and trained as a run of its own in the run
    folder; with none, nothing is trained. `signals`: what ranks beside them. `depth`: how many articles each signal
    proposes. `near`: for how many of the best articles those of the same section, those that they cite and those that
    cite them are candidates too. `settings`: what the members are trained with beside their defaults, as `a.b=c`:
    the system's, and those of `--set`.
    """

    members: tuple[str, ...] = setting(
        (
            "heads@embedded:multilingual-e5-small",
            "qabisar@embedded:static",
            "zero-shot@embedded:multilingual-e5-small",
        ),
        pattern=r"[\w-]+@.+",
        words="SYSTEM@BACKBONE, such as zero-shot@embedded:multilingual-e5-small",
    )
    signals: tuple[str, ...] = setting(
        ("citation", "bm25", "headings", "citing", "votes"), choices=SIGNALS, distinct=True
    )
    depth: int = setting(500, at_least=1)
    near: int = setting(50, at_least=0)
    settings: tuple[str, ...] = ()


@dataclass(frozen=True)
class RankerConfig:
    """What ranks the candidates of an ensemble.

    `kind`: fixed (weights that need no questions), lambdamart (trees on top of them), or auto: the trees where
    questions that they have not seen gain by them. `learn_from`: the questions that the trees learn from: dev;
    cross-fit: the training questions, each by signals trained without its fold, `folds` of them; or auto: cross-fit
    with 300 training questions or more, which takes the members' training so many times again, else dev. `trees`: at
    most; `leaves` of a tree; `leaf_size`: candidates in a leaf at least; `lr`; `feature_share`: of the features that a
    tree may use.
    """

    kind: str = setting("auto", choices=("auto", "fixed", "lambdamart"))
    learn_from: str = setting("auto", choices=("auto", "dev", "cross-fit"))
    folds: int = setting(3, at_least=2)
    trees: int = setting(200, at_least=20)
    leaves: int = setting(8, at_least=2)
    leaf_size: int = setting(30, at_least=1)
    lr: float = setting(0.05, above=0, at_most=1)
    feature_share: float = setting(0.5, above=0, at_most=1)


@dataclass(frozen=True)
class StudentConfig:
    """The distillation of an ensemble's ranking into one encoder and the vectors of its articles.

    The ensemble ranks the training questions and `texts` others, headings and texts that cite the law, drawn with the
    seed; the student learns the softmax of its scores / `temperature` over the `best` of each. `lr` is the query
    encoder's, `article_lr` that of the article vectors, which are free. They begin as those of the ensemble's member,
    smoothed over the law with the weight `smoothing` where dev is better for it.
    """

    epochs: int = setting(0, at_least=0, later=True)
    texts: int = setting(4500, at_least=0, later=True)
    best: int = setting(150, at_least=2, later=True)
    batch_size: int = setting(128, at_least=1, later=True)
    temperature: float = setting(2.0, above=0, later=True)
    lr: float = setting(2e-3, above=0, later=True)
    article_lr: float = setting(1e-3, at_least=0, later=True)
    smoothing: float = setting(0.3, at_least=0, later=True)


@dataclass(frozen=True)
class RunConfig:
    """Everything that decides a run. `retriever`: dense (encoders, and the graph where stage 2 runs), bm25, or ensemble
    (several signals and a ranker over them). `from_law`: trained on questions made from the law itself, its headings
    and the sentences that cite, in place of the corpus's. `select_by`: the metric on dev that chooses epochs and tuned
    settings; quality is the mean of mAP and recall at 1 % of the articles, and decides in place of a metric that the
    corpus is too small for. `regime`: auto, for what the backbone and the machine can train, or paper, for the recipe
    of the system's paper (docs/fidelity.md)."""

    system: str = "qabisar"
    retriever: str = setting("dense", choices=("dense", "bm25", "ensemble"))
    from_law: bool = False
    seed: int = setting(0, at_least=0)
    device: str = setting("auto", choices=DEVICES)
    select_by: str = setting("quality", choices=SELECTORS)
    regime: str = setting("auto", choices=("auto", "paper"), later=True)
    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    pretrain: PretrainConfig = field(default_factory=PretrainConfig)
    augment: AugmentConfig = field(default_factory=AugmentConfig)
    negatives: NegativesConfig = field(default_factory=NegativesConfig)
    stage1: Stage1Config = field(default_factory=Stage1Config)
    graph: GraphConfig = field(default_factory=GraphConfig)
    gnn: GnnConfig = field(default_factory=GnnConfig)
    stage2: Stage2Config = field(default_factory=Stage2Config)
    bm25: Bm25Config = field(default_factory=Bm25Config)
    ensemble: EnsembleConfig = field(default_factory=EnsembleConfig)
    ranker: RankerConfig = field(default_factory=RankerConfig)
    student: StudentConfig = field(default_factory=StudentConfig)

    @property
    def has_vectors(self) -> bool:
        """Return whether articles are found by the vectors of one system."""
        return self.retriever == "dense"

    @property
    def is_ensemble(self) -> bool:
        """Return whether several signals find articles together."""
        return self.retriever == "ensemble"

    @property
    def graph_layers(self) -> tuple[str, ...]:
        """Return the graph layers that it names: its own, then those of an ensemble's members."""
        of_members = (text.partition("=") for text in self.ensemble.settings)
        return (self.gnn.layer, *(value.strip() for name, _, value in of_members if name.strip() == "gnn.layer"))

    def to_dict(self) -> dict:
        """Return the configuration as nested JSON values, less what came later and has its default."""
        return known_by(self)

    def check(self) -> None:
        """Raise UsageError for a value outside its limits, or values that cannot be trained with together."""
        check_settings(self)
        stage1, stage2 = self.stage1, self.stage2
        asks_synthetic = stage2.epochs and stage2.synthetic
        trains_on_them = (stage1.epochs and stage1.synthetic) or asks_synthetic
        if (trains_on_them if self.has_vectors else self.bm25.expansion) and self.augment.round_trip:
            raise UsageError(
                f"augment.round_trip: must be 0 in training (got {self.augment.round_trip}); filter with "
                "'statgraph augment --round-trip K --run RUN --out FILE', then set augment.file=FILE"
            )
        if asks_synthetic and self.augment.generator == "headings" and not self.augment.file:
            raise UsageError(
                "stage2.synthetic: must be 0 where headings are the synthetic questions, since the graph would only "
                f"learn to give an article its heading's vector (got {stage2.synthetic}); name a model with "
                "augment.generator=seq2seq:MODEL, or other questions with augment.file"
            )
        if stage1.epochs and not stage1.gold + stage1.headings + stage1.synthetic:
            raise UsageError(
                "stage1.gold, stage1.headings and stage1.synthetic: at least one must be greater than 0 (all are 0)"
            )
        if stage2.epochs and not stage2.gold:
            raise UsageError(
                "stage2.gold: must be greater than 0, since the graph is trained on gold pairs (got 0); "
                "stage2.epochs=0 leaves the graph out"
            )
        if stage2.epochs and self.gnn.residual and self.gnn.expansion != 1:
            raise UsageError(
                f"gnn.expansion: must be 1 where layers add to their input (got {self.gnn.expansion}); "
                "add gnn.residual=false"
            )


@dataclass(frozen=True)
class IvfPqConfig:
    """Lists of product-quantised codes (Jégou et al., 2011), 4 bits a part; the best are ranked again by exact score.

    `lists`: how many; 0 is the power of two that is at most 2 * sqrt(articles). `probes`: how many of them a search
    reads; 0 is an eighth, at least 64. `code_bytes` of an article; 0 is a quarter of the width, half a byte for two
    components. `rerank`: how many candidates are ranked again, at least four for each article asked for. `precision` of
    the vectors on disk: float32, or float16, which halves them and rounds them for good; what is float16 when it comes
    stays so.
    """

    lists: int = setting(0, at_least=0)
    probes: int = setting(0, at_least=0)
    code_bytes: int = setting(0, at_least=0)
    rerank: int = setting(400, at_least=1)
    precision: str = setting("float32", choices=("float32", "float16"))


@dataclass(frozen=True)
class IndexConfig:
    """How a run's index searches; not part of what decides a run.

    `kind`: flat (exact), ivf-pq, or auto: flat up to `flat_most` articles, then ivf-pq (docs/performance.md).
    """

    kind: str = setting("auto", choices=INDEX_KINDS)
    flat_most: int = setting(200_000, at_least=0)
    ivf_pq: IvfPqConfig = field(default_factory=IvfPqConfig)
