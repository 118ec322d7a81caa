"""Words that say nothing about what a text is about.

Takes nothing, gives one set of English function words: articles, pronouns, prepositions,
conjunctions, auxiliaries and what is left of contractions. Content words are not in it, however
frequent: a list of a thousand words drops "last", "name" and "number", which questions ask for.
Does not know stems.
"""

_ARTICLES_AND_POINTERS = "a an the this that these those there here"
_PRONOUNS = (
    "i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his "
    "himself she her hers herself it its itself they them their theirs themselves"
)
_QUESTION_WORDS = "what which who whom whose when where why how"
_PREPOSITIONS = (
    "about above after against as at before between by for from in into of off on onto out over "
    "through to under until up upon with within without"
)
_CONJUNCTIONS = "and but if nor or so than then because while though although"
_AUXILIARIES = (
    "am are be been being can could did do does doing done had has have having is may might must "
    "shall should was were will would"
)
_ADVERBS = "again also even ever further just not no only too very"
_CONTRACTIONS = "d ll m re s t ve don didn doesn isn aren wasn weren won wouldn couldn shouldn"

STOP_WORDS = frozenset(
    " ".join(
        (
            _ARTICLES_AND_POINTERS,
            _PRONOUNS,
            _QUESTION_WORDS,
            _PREPOSITIONS,
            _CONJUNCTIONS,
            _AUXILIARIES,
            _ADVERBS,
            _CONTRACTIONS,
        )
    ).split()
)
