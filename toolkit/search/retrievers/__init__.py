"""What ranks tools for a query: each retriever, and the registry of them."""

from toolkit.search.retrievers.registry import RETRIEVERS

RETRIEVERS.built_in.update(
    {
        "lexical": "toolkit.search.retrievers.lexical:Lexical",
        "dense": "toolkit.search.retrievers.dense:Dense",
        "hybrid": "toolkit.search.retrievers.hybrid:Hybrid",
        "regex": "toolkit.search.retrievers.regex:Regex",
        "reranked": "toolkit.search.retrievers.reranked:Reranked",
    }
)
