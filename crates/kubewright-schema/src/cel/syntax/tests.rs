use std::panic::catch_unwind;

use kube_cel::cel::parser::Parser;
use proptest::prelude::*;

use super::*;

/// A tree as text, with the places that errors would point at.
fn show(tree: &Tree, id: NodeId) -> String {
    let all = |ids: &[NodeId]| ids.iter().map(|id| show(tree, *id)).collect::<Vec<_>>().join(", ");
    let text = match tree.kind(id) {
        Kind::Literal(literal) => format!("{literal:?}"),
        Kind::Ident(name) => name.clone(),
        Kind::Select { operand, field, test } => {
            format!("{}.{field}{}", show(tree, *operand), if *test { "?" } else { "" })
        }
        Kind::Call { function, target, args } => {
            let target = target.map(|target| format!("{}.", show(tree, target))).unwrap_or_default();
            format!("{target}{function}({})", all(args))
        }
        Kind::List { elements, optional } => format!("[{}]{optional:?}", all(elements)),
        Kind::Map(entries) => {
            let entries: Vec<String> = entries
                .iter()
                .map(|entry| format!("{}: {}", show(tree, entry.key), show(tree, entry.value)))
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
        Kind::Message { name, fields } => {
            let field = |field: &FieldValue| format!("{}: {}", field.name, show(tree, field.value));
            let fields: Vec<String> = fields.iter().map(field).collect();
            format!("{name}{{{}}}", fields.join(", "))
        }
        Kind::Comprehension(loops) => format!(
            "fold({}, {}, {} = {}, while {}, {}, {})",
            loops.variable,
            show(tree, loops.range),
            loops.accumulator,
            show(tree, loops.initial),
            show(tree, loops.condition),
            show(tree, loops.step),
            show(tree, loops.result)
        ),
    };
    format!("{text}@{}", tree.place(id).at)
}

fn parsed(source: &str) -> String {
    let tree = parse(source).unwrap_or_else(|errors| panic!("{source}: {errors:?}"));
    show(&tree, tree.root)
}

#[test]
fn operators_bind_as_in_the_language() {
    let cases = [
        ("a.b(c)[1]", "_[_](a@0.b(c@4)@3, Int(1)@7)@6"),
        ("1 + 2 * -3", "_+_(Int(1)@0, _*_(Int(2)@4, Int(-3)@8)@6)@2"),
        ("1-1", "_-_(Int(1)@0, Int(1)@2)@1"),
        ("--1", "Int(1)@2"),
        ("-a", "-_(a@1)@0"),
        ("!!!a", "!_(a@3)@0"),
        ("a ? b : c ? d : e", "_?_:_(a@0, b@4, _?_:_(c@8, d@12, e@16)@10)@2"),
        ("a && b && c", "_&&_(_&&_(a@0, b@5)@2, c@10)@7"),
        ("a || b || c || d", "_||_(_||_(a@0, b@5)@2, _||_(c@10, d@15)@12)@7"),
        ("'a' in b == true", "_==_(@in(String(\"a\")@0, b@7)@4, Bool(true)@12)@9"),
        ("[1, ?a, ]", "[Int(1)@1, a@5][1]@0"),
        ("{'a': 1u, ?'b': .5}", "{String(\"a\")@1: Uint(1)@6, String(\"b\")@11: Double(0.5)@16}@0"),
        ("{}", "{}@0"),
        ("[,]", "[][]@0"),
        ("a.?b.c", "_?._(a@0, String(\"b\")@3)@1.c@4"),
        ("a[?0]", "_[?_](a@0, Int(0)@3)@1"),
        (".a(b)", ".a(b@3)@2"),
        ("a.b.C{d: 1}", "a.b.C{d: Int(1)@9}@5"),
        ("has(a.b)", "a@4.b?@3"),
        ("a // b\n.c", "a@0.c@7"),
        ("0x1F + 1e3", "_+_(Int(31)@0, Double(1000.0)@7)@5"),
    ];
    for (source, expected) in cases {
        assert_eq!(parsed(source), expected, "{source}");
    }
}

#[test]
fn literals_have_their_values() {
    let cases = [
        (r#""a\"b\x41\u00e9\101""#, r#"String("a\"bAéA")@0"#),
        (r"r'\d'", r#"String("\\d")@0"#),
        ("'''a\n'b'''", "String(\"a\\n'b\")@0"),
        (r"b'\xffé'", "Bytes([255, 195, 169])@0"),
        ("bR'\\x'", "Bytes([92, 120])@0"),
        ("''", "String(\"\")@0"),
        ("-9223372036854775808", "Int(-9223372036854775808)@0"),
        ("null", "Null@0"),
    ];
    for (source, expected) in cases {
        assert_eq!(parsed(source), expected, "{source}");
    }
}

#[test]
fn macros_expand() {
    assert_eq!(
        parsed("a.all(x, x)"),
        "fold(x, a@0, @result = Bool(true)@5, while @not_strictly_false(@result@5)@5, _&&_(@result@5, x@9)@5, @result@5)@5"
    );
    assert_eq!(
        parsed("a.filter(x, x)"),
        "fold(x, a@0, @result = [][]@8, while Bool(true)@8, _?_:_(x@12, _+_(@result@8, [x@9][]@8)@8, @result@8)@8, @result@8)@8"
    );
    // The same name with other arguments is a function.
    assert_eq!(parsed("a.all(x)"), "a@0.all(x@6)@5");
    assert_eq!(parsed("a.existsOne(x, x)"), "a@0.existsOne(x@12, x@15)@11");
    let errors = [
        ("has(a)", 4, "invalid argument to has() macro"),
        ("a.all(x.y, true)", 7, "argument must be a simple name"),
        ("a.map(1, true)", 6, "argument is not an identifier"),
        ("a.all(x, x, true)", 9, "duplicate variable name: x"),
        ("a || namespace.b", 5, "reserved identifier: namespace"),
        ("a.all(__result__, true)", 6, "iteration variable overwrites accumulator variable"),
    ];
    for (source, at, text) in errors {
        let Err(Unparsed::Wrong(found)) = parse(source) else { panic!("{source}") };
        assert_eq!((found[0].place.at, found[0].text.as_str()), (at, text), "{source}");
    }
}

#[test]
fn what_is_no_expression_is_refused() {
    let foreign = |source: &str| match parse(source) {
        Err(Unparsed::Foreign(errors)) => errors.len(),
        other => panic!("{source}: {other:?}"),
    };
    for source in
        ["", "a.", "(", "a b", "1 +", "[1", "'", "a ? b", "{1}", "#", "a..b", "in", "99999999999999999999"]
    {
        assert_eq!(foreign(source), 0, "{source}");
    }
    assert_eq!(foreign("if a"), 1);
}

#[test]
fn macros_that_copy_have_an_end() {
    let source = format!("a{}", ".optMap(x, x)".repeat(60));
    let Err(Unparsed::Wrong(errors)) = parse(&source) else { panic!("{source}") };
    assert!(errors[0].text.contains("too large"));
}

const WORDS: [&str; 44] = [
    "a", "b", "self", ".", ".", ".?", "(", ")", "(", ")", "[", "]", "[?", "{", "}", ",", ":", "?", "+", "-",
    "*", "/", "%", "==", "<", ">=", "&&", "||", "!", "in", "true", "null", "1", "2u", "1.5", "'s'", "b'x'",
    "r'\\d'", "has", "all", "map", "x", "if", "0x1",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    /// Both parsers take the same language.
    #[test]
    fn the_language_is_that_of_the_other_parser(
        words in prop::collection::vec((prop::sample::select(&WORDS[..]), any::<bool>()), 1..10),
    ) {
        let source: String = words.iter().flat_map(|(word, space)| [*word, if *space { " " } else { "" }]).collect();
        let ours = parse(&source);
        // It panics on some texts that are not CEL.
        let theirs = catch_unwind(|| Parser::new().enable_optional_syntax(true).parse(&source));
        let is_foreign = match &theirs {
            Ok(Ok(_)) => false,
            Ok(Err(errors)) => errors.errors.iter().any(|error| error.msg.starts_with("Syntax error")),
            Err(_) => true,
        };
        prop_assert_eq!(matches!(ours, Err(Unparsed::Foreign(_))), is_foreign, "{}: {:?}", source, ours);
    }
}
