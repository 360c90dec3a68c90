//! Words with a plural of their own.
//!
//! The words and their plurals are facts of gobuffalo/flect 1.0.3, with its mistakes (`octupuses`): the plural is part
//! of the name of a CRD and of every URL of its objects, so a better one would be a different API.

/// A word and its plural.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word {
    pub(super) singular: &'static str,
    pub(super) plural: &'static str,
    /// Another plural, which is recognised and left alone.
    pub(super) alternative: Option<&'static str>,
    /// The plural alone does not lead back to this word, so it is not recognised as one.
    pub(super) one_way: bool,
    /// The word counts alone, not as the end of a longer one.
    pub(super) exact: bool,
}

impl Word {
    const fn or(self, alternative: &'static str) -> Self {
        Self { alternative: Some(alternative), ..self }
    }

    const fn one_way(self) -> Self {
        Self { one_way: true, ..self }
    }

    const fn exact(self) -> Self {
        Self { exact: true, ..self }
    }
}

const fn word(singular: &'static str, plural: &'static str) -> Word {
    Word { singular, plural, alternative: None, one_way: false, exact: false }
}

/// The later of two words that end a longer one counts.
#[rustfmt::skip]
pub(super) const WORDS: &[Word] = &[
    word("aircraft", "aircraft"),
    word("beef", "beef").or("beefs"),
    word("bison", "bison"),
    word("blues", "blues").one_way(),
    word("chassis", "chassis"),
    word("deer", "deer"),
    word("fish", "fish").or("fishes"),
    word("moose", "moose"),
    word("police", "police"),
    word("salmon", "salmon").or("salmons"),
    word("series", "series"),
    word("sheep", "sheep"),
    word("shrimp", "shrimp").or("shrimps"),
    word("species", "species"),
    word("swine", "swine").or("swines"),
    word("trout", "trout").or("trouts"),
    word("tuna", "tuna").or("tunas"),
    word("you", "you"),
    word("child", "children"),
    word("ox", "oxen").exact(),
    word("foot", "feet"),
    word("goose", "geese"),
    word("man", "men"),
    word("human", "humans"),
    word("louse", "lice").exact(),
    word("mouse", "mice"),
    word("tooth", "teeth"),
    word("woman", "women"),
    word("die", "dice").exact(),
    word("person", "people"),
    word("adieu", "adieux").or("adieus"),
    word("fabliau", "fabliaux"),
    word("bureau", "bureaus").or("bureaux"),
    word("criterion", "criteria"),
    word("ganglion", "ganglia").or("ganglions"),
    word("lexicon", "lexica").or("lexicons"),
    word("mitochondrion", "mitochondria").or("mitochondrions"),
    word("noumenon", "noumena"),
    word("phenomenon", "phenomena"),
    word("taxon", "taxa"),
    word("media", "media"),
    word("medium", "media").or("mediums").one_way(),
    word("stadium", "stadiums").or("stadia"),
    word("aquarium", "aquaria").or("aquariums"),
    word("auditorium", "auditoria").or("auditoriums"),
    word("symposium", "symposia").or("symposiums"),
    word("curriculum", "curriculums").or("curricula"),
    word("quota", "quotas"),
    word("alumnus", "alumni").or("alumnuses"),
    word("bacillus", "bacilli"),
    word("cactus", "cacti").or("cactuses"),
    word("coccus", "cocci"),
    word("focus", "foci").or("focuses"),
    word("locus", "loci").or("locuses"),
    word("nucleus", "nuclei").or("nucleuses"),
    word("octopus", "octupuses").or("octopi"),
    word("radius", "radii").or("radiuses"),
    word("syllabus", "syllabi"),
    word("corpus", "corpora").or("corpuses"),
    word("genus", "genera"),
    word("alumna", "alumnae"),
    word("vertebra", "vertebrae"),
    word("differentia", "differentiae"),
    word("minutia", "minutiae"),
    word("vita", "vitae"),
    word("larva", "larvae"),
    word("postcava", "postcavae"),
    word("praecava", "praecavae"),
    word("uva", "uvae"),
    word("apex", "apices").or("apexes"),
    word("codex", "codices").or("codexes"),
    word("index", "indices").or("indexes"),
    word("latex", "latices").or("latexes"),
    word("vertex", "vertices").or("vertexes"),
    word("vortex", "vortices").or("vortexes"),
    word("appendix", "appendices").or("appendixes"),
    word("radix", "radices").or("radixes"),
    word("helix", "helices").or("helixes"),
    word("axis", "axes").exact(),
    word("crisis", "crises"),
    word("ellipsis", "ellipses").one_way(),
    word("genesis", "geneses"),
    word("oasis", "oases"),
    word("thesis", "theses"),
    word("testis", "testes"),
    word("base", "bases"),
    word("basis", "bases").one_way(),
    word("alias", "aliases").exact(),
    word("vedalia", "vedalias"),
    word("use", "uses").exact(),
    word("abuse", "abuses"),
    word("cause", "causes"),
    word("clause", "clauses"),
    word("cruse", "cruses"),
    word("excuse", "excuses"),
    word("fuse", "fuses"),
    word("house", "houses"),
    word("misuse", "misuses"),
    word("muse", "muses"),
    word("pause", "pauses"),
    word("ache", "aches"),
    word("topaz", "topazes"),
    word("buffalo", "buffaloes").or("buffalos"),
    word("potato", "potatoes"),
    word("tomato", "tomatoes"),
    word("equipment", "equipment"),
    word("information", "information"),
    word("jeans", "jeans"),
    word("money", "money"),
    word("news", "news"),
    word("rice", "rice"),
    word("dwarf", "dwarfs").or("dwarves"),
    word("hoof", "hoofs").or("hooves"),
    word("thief", "thieves"),
    word("chive", "chives"),
    word("hive", "hives"),
    word("move", "moves"),
    word("movie", "movies"),
    word("cookie", "cookies"),
    word("pretorium", "pretoriums"),
    word("agenda", "agendas"),
    word("formula", "formulas").or("formulae"),
    word("shoe", "shoes"),
    word("toe", "toes").exact(),
    word("graffiti", "graffiti"),
    word("ID", "IDs").exact(),
];
