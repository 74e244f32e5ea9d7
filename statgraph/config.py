"""The configuration of a run: every setting with its default, its limits and its help; regimes and systems (YAML)
overlay it, `--set` last. `statgraph train --help-settings` lists it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from statgraph.device import DEVICES
from statgraph.errors import UsageError
from statgraph.registry import KINDS, LAYERS, NEGATIVES, RANKINGS, SIGNALS
from statgraph.settings import check_settings, setting

DECAYS = ("linear", "constant")
INDEX_KINDS = ("auto", "flat", "ivf-pq")
LAST = "last"
SELECTORS = ("quality", "mAP", "nDCG@10", "MRR@10", "S@3", "R@10", "R@100", "R@200", LAST)


@dataclass(frozen=True)
class EncoderConfig:
    """The text encoders (G-DSR, section 3.1)."""

    backbone: str = setting("auto", help="Embedded name, folder or hub name; auto lets the machine decide.")
    train: str = setting(
        "auto",
        pattern=r"auto|none|head|full|last-[1-9]\d*",
        words="none, head, last-N (such as last-2), full or auto",
        help="Which layers of the backbone are trained; auto lets the machine decide.",
    )
    pooling: str = setting(
        "auto", choices=("auto", "mean", "cls", "max"), help="Pooling of a transformer; auto: its folder's."
    )
    query_prompt: str = setting("auto", help="Text put before questions; auto reads it from the backbone's folder.")
    passage_prompt: str = setting("auto", help="Text put before articles; auto reads it from the backbone's folder.")
    adapted: bool = setting(
        False,
        help="First adapt the article side (of a static backbone, the model it is distilled from) to the statutes, "
        "by the settings of `pretrain`.",
    )
    similarity: str = setting(
        "cosine",
        choices=("cosine", "dot", "euclidean"),
        help="How question and article vectors are compared (G-DSR, table 6).",
    )
    heading_path: bool = setting(True, help="Put the headings in front of an article's text.")
    shared: bool = setting(
        False,
        help="Use one backbone for questions and articles; a static one is shared unless stage2.train_encoders=query.",
    )
    chunk_tokens: int = setting(128, at_least=1, help="Tokens of a chunk of an article.")
    max_tokens: int = setting(1024, at_least=1, help="Tokens of an article that are read at most.")
    article_layers: int = setting(2, at_least=0, help="Layers of the second-level transformer over the chunks.")
    article_heads: int = setting(12, at_least=1, help="Attention heads of the second-level transformer.")
    article_dropout: float = setting(0.1, at_least=0, at_most=1, help="Dropout of the second-level transformer.")
    article_pooling: str = setting("max", choices=("mean", "max"), help="How the second-level transformer pools.")
    article_start: str = setting(
        "identity",
        choices=("identity", "random"),
        help="What the second-level transformer starts as: identity, or random with norms behind the layers and "
        "sinusoidal positions.",
    )
    prune_vocabulary: bool = setting(False, help="Keep only the word pieces that the corpus uses.")
    token_dropout: float = setting(0.0, at_least=0, at_most=1, help="Share of tokens dropped in training (static).")
    slice_tokens: int = setting(
        -1,
        at_least=1,
        special={-1: "what CUDA memory holds (on a CPU all)", 0: "all at once"},
        help="Tokens that go through a trained backbone at once; further slices are encoded again for the gradient, "
        "which takes a third more time and less memory.",
    )


@dataclass(frozen=True)
class StageConfig:
    """What both stages of training have in common.

    `gold`, `headings` and `citing` (with a stage's `synthetic`) weigh the sources of pairs: of a batch, the share
    gold / (gold + headings + citing + synthetic) is gold pairs.
    """

    min_epoch_steps: int = setting(0, at_least=0, help="Batches of an epoch at least; gold pairs repeat up to that.")
    weight_decay: float = setting(0.01, at_least=0, help="Weight decay.")
    warmup: float = setting(0.05, at_least=0, at_most=1, help="Share of all steps over which the learning rate rises.")
    temperature: float = setting(0.01, above=0, help="Temperature of the contrastive loss.")
    gold: float = setting(1.0, at_least=0, help="Weight of gold pairs in a batch.")
    headings: float = setting(0.0, at_least=0, help="Weight of headings in a batch.")
    citing: float = setting(0.0, at_least=0, help="Weight of texts that cite the law, where the corpus has any.")
    negatives_per_pair: int = setting(1, at_least=0, help="Hard negatives of a gold pair.")
    patience: int = setting(0, at_least=0, help="Epochs without a gain on dev before training stops; 0 never stops.")
    decay: str = setting("linear", choices=DECAYS, help="Learning rates after the warm-up.")
    clip: float = setting(0.0, at_least=0, help="Length to which longer gradients are cut; 0 leaves all.")


@dataclass(frozen=True)
class Stage1Config(StageConfig):
    """The contrastive training of the text encoders (G-DSR, section 3.1; QABISAR, section 2.1)."""

    epochs: int = setting(15, at_least=0, help="Epochs, each of which draws every gold pair once.")
    batch_size: int = setting(24, at_least=1, help="Pairs in a batch.")
    lr: float = setting(2e-5, above=0, help="Learning rate; the default is the paper's.")
    weight_lr: float = setting(2e-2, at_least=0, help="Learning rate of a static encoder's token weights.")
    synthetic: float = setting(0.0, at_least=0, help="Weight of synthetic questions (`augment`) in a batch.")
    loss: str = setting("cross-entropy", choices=("cross-entropy", "triplet"), help="Loss (G-DSR, table 6).")
    margin: float = setting(1.0, at_least=0, help="Margin of the triplet loss.")
    negatives: str = setting("bm25", choices=NEGATIVES, help="Hard negatives beside those of the batch.")
    question_order: str = setting(
        "shuffled",
        choices=("shuffled", "lexical", "labels", "random"),
        help="Order of the training questions: shuffled, or a curriculum from the easy ones to all: lexical (BM25 "
        "finds their articles), labels (few articles answer them) or random.",
    )


@dataclass(frozen=True)
class NegativesConfig:
    """Hard negatives of a training question (CuSINeS, section 3)."""

    depth: int = setting(50, at_least=1, help="Hardest articles that bm25 or a fixed schedule draws from.")
    rankings: tuple[str, ...] = setting(
        ("semantic", "hierarchical", "sequential"), choices=RANKINGS, distinct=True, help="Rankings that cusines fuses."
    )
    semantic: str = setting(
        "dynamic",
        choices=("dynamic", "bm25"),
        help="What the semantic ranking is by: the model in training, each epoch (dynamic), or bm25.",
    )
    rrf_k: int = setting(60, at_least=0, help="Constant of the reciprocal rank fusion of the rankings.")
    buckets: int = setting(
        3,
        at_least=1,
        at_most=127,
        help="Even buckets that the fused ranking is cut into; with one, every wrong article is as likely.",
    )
    schedule: str = setting(
        "curriculum",
        choices=("curriculum", "fixed", "hardest"),
        help="curriculum: the buckets' shares move from easy to difficult over the epochs; fixed: the `depth` most "
        "difficult from the start; hardest: the most difficult bucket from the start.",
    )
    pairs: str = setting(
        "gold",
        choices=("gold", "all"),
        help="Pairs that have hard negatives: the gold ones, or also synthetic questions and citing texts, by bm25.",
    )


@dataclass(frozen=True)
class AugmentConfig:
    """Synthetic questions (G-DSR, section 4, row 7)."""

    generator: str = setting(
        "headings",
        pattern="headings|seq2seq:.+",
        words="headings or seq2seq:MODEL",
        help="What generates questions: headings, or a doc2query model by folder or hub name.",
    )
    per_article: int = setting(5, at_least=1, help="Questions per article (seq2seq).")
    articles_per_heading: int = setting(100, at_least=1, help="Maximum number of articles per heading (headings).")
    round_trip: int = setting(0, at_least=0, help="Keep a question only if its article is in the top K; 0 keeps all.")
    file: str = setting(
        "",
        help="Questions that `statgraph augment` wrote, or a CSV table with `question` and `article_ids`, such as "
        "BSARD's; blank to generate them in the run.",
    )


@dataclass(frozen=True)
class PretrainConfig:
    """Masked-language modelling of a backbone on the statutes (G-DSR, section 4, row 6)."""

    steps: int = setting(50_000, at_least=1, help="Steps of the optimiser.")
    batch_size: int = setting(32, at_least=1, help="Passages in a batch.")
    max_tokens: int = setting(256, at_least=1, help="Tokens of a passage.")
    lr: float = setting(5e-5, above=0, help="Learning rate.")
    warmup: float = setting(0.06, at_least=0, at_most=1, help="Share of all steps over which the learning rate rises.")
    weight_decay: float = setting(0.01, at_least=0, help="Weight decay.")
    mask_share: float = setting(0.15, above=0, at_most=1, help="Share of the tokens that are masked.")
    checkpoint_steps: int = setting(500, at_least=1, help="Steps between checkpoints.")


@dataclass(frozen=True)
class GraphConfig:
    """The graph over articles, headings and questions (G-DSR, section 3.2; QABISAR, section 2.2)."""

    relations: tuple[str, ...] = setting(
        ("tree", "bipartite"),
        choices=("tree", "tree-down", "bipartite", "order", "citations", "citing"),
        help="Relation groups of the graph; tree-down is the tree without edges from children to parents.",
    )
    target_edges: str = setting(
        "mask",
        choices=("mask", "pair", "keep"),
        help="Which question-article edges are masked while the loss asks for them: all of the batch's questions "
        "(mask), those of its pairs alone (pair) or none (keep).",
    )
    heading_path: bool = setting(True, help="A heading's node is its whole path; else its own title.")


@dataclass(frozen=True)
class GnnConfig:
    """The graph encoder (QABISAR, section 2.2)."""

    layer: str = setting("qabisar", choices=LAYERS, help="Graph layer.")
    layers: int = setting(2, at_least=1, help="Number of layers.")
    heads: int = setting(8, at_least=1, help="Attention heads of a layer.")
    dropout: float = setting(0.1, at_least=0, below=1, help="Dropout of a layer.")
    fanout: int = setting(
        -1, at_least=1, special={-1: "all neighbours"}, help="Neighbours kept per node and relation in training."
    )
    first_gate: float = setting(1.0, help="What the residual gates start from.")
    citation_dropout: float = setting(
        0.0,
        at_least=0,
        at_most=1,
        help="Chance that an article's edges to questions and citing texts are all hidden in a batch.",
    )
    activation: str = setting("none", choices=("none", "relu"), help="Nonlinearity behind each layer.")
    residual: bool = setting(True, help="Let a layer add to its input; else it replaces its input.")
    expansion: int = setting(1, at_least=1, help="Factor of the width between layers that replace their input.")
    start: str = setting(
        "identity",
        choices=("identity", "random"),
        help="What a layer's projections start as: the identity, or random (Glorot and Bengio 2010).",
    )


@dataclass(frozen=True)
class Stage2Config(StageConfig):
    """The training of the graph encoder with the query encoder as its student (QABISAR, sections 2.2 and 2.3).

    loss = contrastive_weight * contrastive + distillation_weight * distillation. With `train_encoders` both, the batch
    mixes gold pairs, headings and citing texts as in stage 1.
    """

    epochs: int = setting(20, at_least=0, help="Epochs; 0 leaves the graph out.")
    batch_size: int = setting(512, at_least=1, help="Pairs in a batch.")
    lr: float = setting(2e-4, above=0, help="Learning rate of the graph encoder.")
    train_encoders: str = setting(
        "query",
        choices=("none", "query", "both"),
        help="Text encoders that are trained too: none (G-DSR), query (QABISAR) or both.",
    )
    encoder_lr: float = setting(2e-4, at_least=0, help="Learning rate of the text encoders.")
    encoder_weight_lr: float = setting(2e-2, at_least=0, help="Learning rate of a static encoder's token weights.")
    contrastive_weight: float = setting(0.7, at_least=0, help="Weight of the contrastive loss.")
    distillation: str = setting(
        "score",
        choices=("none", "score", "feature", "both"),
        help="Distillation to the query encoder: score (the KL divergence of the score distributions), feature (the "
        "squared distance of the question vectors), both or none.",
    )
    distillation_weight: float = setting(0.3, at_least=0, help="Weight of the distillation loss.")
    joint: bool = setting(True, help="Distil during the same training; else afterwards, with the graph encoder fixed.")
    student_share: float = setting(
        0.0,
        at_least=0,
        at_most=1,
        help="Part of the contrastive loss that the student's own scores carry; 0 is the teacher alone.",
    )
    negatives: str = setting("none", choices=NEGATIVES, help="Hard negatives beside those of the batch.")
    random_negatives: int = setting(0, at_least=0, help="Articles drawn at random into each batch.")
    synthetic: float = setting(
        0.0,
        at_least=0,
        help="Weight of synthetic questions (`augment`): no nodes, they teach the graph through their articles "
        "(G-DSR, section 4.2).",
    )


@dataclass(frozen=True)
class Bm25Config:
    """BM25's parameters (G-DSR, appendix C)."""

    k1: float = setting(2.5, at_least=0, help="How slowly repeated words saturate.")
    b: float = setting(0.2, at_least=0, at_most=1, help="How much long articles are discounted.")
    expansion: int = setting(0, at_least=0, help="Synthetic questions put behind each article (doc2query).")
    stop_words: bool = setting(
        True, help="Match the stop words of a question too; else they are left out, in most languages."
    )
    compounds: bool = setting(
        False, help="Match the parts of compounds too, in German, Dutch and the languages of Scandinavia."
    )

    @property
    def options(self) -> dict[str, Any]:
        """Return the arguments of `BM25` that these settings are."""
        return {"k1": self.k1, "b": self.b, "stop_words": self.stop_words, "compounds": self.compounds}


@dataclass(frozen=True)
class EnsembleConfig:
    """Which signals rank together."""

    members: tuple[str, ...] = setting(
        ("heads@embedded:multilingual-e5-small", "qabisar@embedded:static", "zero-shot@embedded:multilingual-e5-small"),
        pattern=r"[\w-]+@.+",
        words="SYSTEM@BACKBONE, such as zero-shot@embedded:multilingual-e5-small",
        help="Systems whose vectors are signals, each trained as a run of its own in the run folder; with none, "
        "nothing is trained.",
    )
    signals: tuple[str, ...] = setting(
        ("citation", "bm25", "citing", "maxsim", "votes", "wording"),
        choices=SIGNALS,
        distinct=True,
        help="Signals that rank beside the members.",
    )
    near: int = setting(
        50,
        at_least=0,
        help="For how many of the top articles those of the same section, those they cite and those that cite them "
        "are candidates too.",
    )
    centring: float = setting(
        0.0,
        at_least=0,
        help="Share of the mean question that is taken from each question's vector before an untrained encoder's "
        "articles are compared with it.",
    )
    settings: tuple[str, ...] = setting((), help="Settings `a.b=c` that the members are trained with.")


@dataclass(frozen=True)
class RankerConfig:
    """What ranks the candidates of an ensemble."""

    learnt: bool = setting(
        True, help="Learn the weights of the signals from dev questions; else they are those of a law without any."
    )
    reader: str = setting(
        "",
        help="Cross-encoder, a folder or hub name, that reads the best articles with the question; blank for none.",
    )
    read: int = setting(20, at_least=2, help="Articles that the reader reads.")


@dataclass(frozen=True)
class StudentConfig:
    """The distillation of an ensemble's ranking into one encoder and the vectors of its articles.

    The ensemble ranks the training questions and other texts; the student learns the softmax of its scores. The article
    vectors, which are free, begin as those of the ensemble's member.
    """

    epochs: int = setting(0, at_least=0, help="Epochs; 0 trains no student.")
    texts: int = setting(4500, at_least=0, help="Headings and citing texts drawn as further questions.")
    best: int = setting(150, at_least=2, help="Top articles of each question that the student learns.")
    batch_size: int = setting(128, at_least=1, help="Questions in a batch.")
    temperature: float = setting(2.0, above=0, help="Temperature of the softmax of the ensemble's scores.")
    lr: float = setting(2e-3, above=0, help="Learning rate of the query encoder.")
    article_lr: float = setting(1e-3, at_least=0, help="Learning rate of the article vectors.")
    smoothing: float = setting(
        0.3,
        at_least=0,
        help="Weight with which article vectors are smoothed over the law, where dev is better for it.",
    )


@dataclass(frozen=True)
class RunConfig:
    """Everything that decides a run."""

    system: str = setting("qabisar", help="The system, one of `statgraph train --system`.")
    retriever: str = setting(
        "dense",
        choices=KINDS,
        help="Kind of system: dense (encoders, and the graph where stage 2 runs), bm25, ensemble (several signals and "
        "a ranker over them), or student, which any with `student.epochs` is.",
    )
    from_law: bool = setting(
        False,
        help="Train on questions made from the law itself, its headings and the sentences that cite, in place of the "
        "corpus's.",
    )
    seed: int = setting(0, at_least=0, help="Seed of every random choice.")
    device: str = setting("auto", choices=DEVICES, help="Device to compute on.")
    select_by: str = setting(
        "quality",
        choices=SELECTORS,
        help="Metric on dev that chooses epochs and tuned settings; quality is the mean of mAP and recall at 1 % of "
        "the articles, and replaces a metric that the corpus is too small for; last keeps the last epoch.",
    )
    regime: str = setting(
        "auto",
        choices=("auto", "paper", "paper-code"),
        help="auto: what the backbone and the machine can train; paper: the recipe of the system's paper; paper-code: "
        "of G-DSR as its authors' code has it (docs/fidelity.md).",
    )
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
    def graph_layers(self) -> tuple[str, ...]:
        """Return the graph layers that it names: its own, then those of an ensemble's members."""
        of_members = (text.partition("=") for text in self.ensemble.settings)
        return (self.gnn.layer, *(value.strip() for name, _, value in of_members if name.strip() == "gnn.layer"))

    def to_dict(self) -> dict[str, object]:
        """Return the configuration as nested JSON values."""
        return asdict(self)

    def check(self) -> None:
        """Raise UsageError for a value outside its limits, or values that cannot be trained with together."""
        check_settings(self)
        stage1, stage2 = self.stage1, self.stage2
        asks_synthetic = stage2.epochs and stage2.synthetic
        trains_on_them = (stage1.epochs and stage1.synthetic) or asks_synthetic
        if (trains_on_them or self.bm25.expansion) and self.augment.round_trip:
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
    """Lists of product-quantised codes (Jégou et al., 2011), 4 bits a part; the top ones are ranked again exactly."""

    lists: int = setting(0, at_least=0, help="Number of lists; 0 is the largest power of two up to 2 * sqrt(articles).")
    probes: int = setting(0, at_least=0, help="Lists that a search reads at most; 0 is an eighth, at least 64.")
    code_bytes: int = setting(
        0, at_least=0, help="Bytes of an article's code; 0 is a quarter of the width, half a byte for two components."
    )
    rerank: int = setting(400, at_least=1, help="Candidates ranked again, at least four for each article asked for.")
    precision: str = setting(
        "float32",
        choices=("float32", "float16"),
        help="Precision of the vectors on disk; float16 halves and rounds them, and float16 input stays float16.",
    )


@dataclass(frozen=True)
class IndexConfig:
    """How a run's index searches; not part of what decides a run."""

    kind: str = setting(
        "auto",
        choices=INDEX_KINDS,
        help="flat (exact), ivf-pq, or auto: flat up to `flat_most` articles, then ivf-pq (docs/performance.md).",
    )
    flat_most: int = setting(200_000, at_least=0, help="Articles up to which auto is flat.")
    ivf_pq: IvfPqConfig = field(default_factory=IvfPqConfig)
