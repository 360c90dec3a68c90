use serde_json::{Value, json};

use super::{MOST_PER_SCHEMA, RulePart, check_rules};
use crate::{ErrorList, FieldPath, Structural};

fn texts(errors: &ErrorList) -> Vec<String> {
    errors.iter().map(ToString::to_string).collect()
}

/// A schema whose `spec` has one rule.
fn schema(rule: &Value) -> Structural {
    Structural::parse(&json!({"type": "object", "properties": {"spec": {
        "type": "object",
        "x-kubernetes-validations": [rule],
        "properties": {
            "min": {"type": "integer"}, "max": {"type": "integer"}, "name": {"type": "string"}, "namespace": {"type": "string"},
            "ratio": {"type": "number"}, "port": {"x-kubernetes-int-or-string": true},
            "since": {"type": "string", "format": "date-time"}, "a-b": {"type": "string"},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            "items": {"type": "array", "items": {"type": "object", "properties": {"v": {"type": "integer"}}}},
        },
    }}}))
    .unwrap()
}

/// What a server says about the only rule.
fn problem_of(schema: &Structural) -> Option<String> {
    let checked = check_rules(schema, &FieldPath::root());
    checked.rules[0].problems.first().map(|problem| problem.text.clone())
}

fn errors(rule: &Value, spec: &Value) -> Vec<String> {
    texts(&schema(rule).validate(&json!({"spec": spec}), None, &FieldPath::root()))
}

#[test]
fn rules_that_hold_stay_silent() {
    for rule in [
        "self.min <= self.max",
        "has(self.name) && self.name.startsWith('a')",
        "self.ratio == 2.0",
        "self.port == 80 || self.port == 'http'",
        "self.since < timestamp('2030-01-01T00:00:00Z')",
        "self.a__dash__b == 'x'",
        "'k.x/y' in self.labels && self.labels['k.x/y'] == 'v'",
        "self.labels.all(k, self.labels[k] == 'v')",
        "type(self.port) == int && type(self.name) == string && type(self.labels) == map",
        "self.namespace == 'n' && self.__namespace__ == 'n' && has(self.namespace) && self.?namespace.orValue('') == 'n'",
        "self.labels.all(k, v, k == 'k.x/y' && v == 'v') && self.items.exists(i, item, i == 1 && item.v == 2)",
        "self.items.transformList(i, item, item.v + i) == [1, 3] && self.labels.transformMap(k, v, k + v)['k.x/y'] == 'k.x/yv'",
        "self.labels.transformMapEntry(k, v, {v: k}) == {'v': 'k.x/y'} && self.items.existsOne(i, item, item.v == 2)",
        "self.items.sortBy(i, -i.v)[0].v == 2 && self.?name.optMap(n, n + 'b').orValue('') == 'abcb'",
        "self.items.exists(i, i.v == 2) && self.items.map(i, i.v).sum() == 3",
        "!has(self.labels) || size(self.labels) < 5",
        "self.?name.orValue('none') == 'abc'",
        "quantity('1Gi').isGreaterThan(quantity('1Mi'))",
    ] {
        let spec = json!({
            "min": 1, "max": 2, "name": "abc", "namespace": "n", "ratio": 2, "port": 80, "since": "2024-01-01T00:00:00Z", "a-b": "x",
            "labels": {"k.x/y": "v"}, "items": [{"v": 1}, {"v": 2}],
        });
        assert_eq!(errors(&json!({"rule": rule}), &spec), Vec::<String>::new(), "{rule}");
    }
}

#[test]
fn broken_rules_speak_as_in_kubernetes() {
    let spec = json!({"min": 3, "max": 2});
    let cases = [
        (json!({"rule": "self.min <= self.max"}), "spec: Invalid value: failed rule: self.min <= self.max"),
        (
            json!({"rule": "self.min <= self.max", "message": " min is over max "}),
            "spec: Invalid value: min is over max",
        ),
        (
            json!({"rule": "self.min <= self.max", "message": "static", "messageExpression": "'min is ' + string(self.min)"}),
            "spec: Invalid value: min is 3",
        ),
        (
            json!({"rule": "self.min <= self.max", "message": "static", "messageExpression": "self.name"}),
            "spec: Invalid value: static",
        ),
        (
            json!({"rule": "self.min <= self.max", "message": "no", "reason": "FieldValueForbidden", "fieldPath": ".min"}),
            "spec.min: Forbidden: no",
        ),
        (
            json!({"rule": "self.min <= self.max", "message": "no", "reason": "FieldValueRequired"}),
            "spec: Required value: no",
        ),
        (json!({"rule": "self.min <= self.max", "reason": "FieldValueDuplicate"}), "spec: Duplicate value"),
        (
            json!({"rule": "self.name == 'a'"}),
            "spec: Invalid value: \"object\": no such key: name evaluating rule: self.name == 'a'",
        ),
        (
            json!({"rule": "self.min / 0 == 1"}),
            "spec: Invalid value: \"object\": division by zero evaluating rule: self.min / 0 == 1",
        ),
    ];
    for (rule, message) in cases {
        assert_eq!(errors(&rule, &spec), [message], "{rule}");
    }
    let scalar = Structural::parse(&json!({"type": "object", "properties": {
        "x": {"type": "integer", "x-kubernetes-validations": [{"rule": "self > 1", "message": "too small"}]},
    }}))
    .unwrap();
    assert_eq!(
        texts(&scalar.validate(&json!({"x": 1}), None, &FieldPath::root())),
        ["x: Invalid value: 1: too small"]
    );
}

#[test]
fn transition_rules_run_on_updates_only() {
    let schema = schema(&json!({"rule": "self.min >= oldSelf.min", "message": "min must not shrink"}));
    let new = json!({"spec": {"min": 1}});
    let old = json!({"spec": {"min": 2}});
    assert!(schema.validate(&new, None, &FieldPath::root()).is_empty());
    assert_eq!(
        texts(&schema.validate(&new, Some(&old), &FieldPath::root())),
        ["spec: Invalid value: min must not shrink"]
    );
    let optional = self::schema(
        &json!({"rule": "oldSelf.hasValue() || self.min == 0", "message": "starts at 0", "optionalOldSelf": true}),
    );
    assert_eq!(
        texts(&optional.validate(&new, None, &FieldPath::root())),
        ["spec: Invalid value: starts at 0"]
    );
    assert!(optional.validate(&new, Some(&old), &FieldPath::root()).is_empty());
}

#[test]
fn unchanged_breaches_become_warnings() {
    let schema = schema(&json!({"rule": "self.min <= self.max", "message": "no"}));
    let old = json!({"spec": {"min": 3, "max": 2}});
    let same = schema.validate_rules(&old, Some(&old), &FieldPath::root(), true);
    assert!(same.errors.is_empty());
    assert_eq!(same.warnings, ["spec: Invalid value: no"]);
    let new = json!({"spec": {"min": 4, "max": 2}});
    assert_eq!(schema.validate_rules(&new, Some(&old), &FieldPath::root(), true).errors.len(), 1);
}

#[test]
fn items_of_keyed_lists_have_an_old_self() {
    let schema = Structural::parse(&json!({"type": "object", "properties": {"list": {
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
        "items": {
            "type": "object",
            "required": ["name"],
            "properties": {"name": {"type": "string"}, "v": {"type": "integer"}},
            "x-kubernetes-validations": [{"rule": "self.v == oldSelf.v", "message": "v is fixed"}],
        },
    }}}))
    .unwrap();
    let old = json!({"list": [{"name": "a", "v": 1}, {"name": "b", "v": 2}]});
    let new = json!({"list": [{"name": "b", "v": 2}, {"name": "c", "v": 9}, {"name": "a", "v": 3}]});
    assert_eq!(
        texts(&schema.validate(&new, Some(&old), &FieldPath::root())),
        ["list[2]: Invalid value: v is fixed"]
    );
}

#[test]
fn rules_of_the_root_see_the_name() {
    let schema = Structural::parse(&json!({
        "type": "object",
        "x-kubernetes-validations": [{"rule": "self.metadata.name == 'only' && self.kind == 'K'", "message": "no"}],
    }))
    .unwrap();
    let object = |name: &str| json!({"kind": "K", "metadata": {"name": name, "labels": {"a": "b"}}});
    assert!(schema.validate(&object("only"), None, &FieldPath::root()).is_empty());
    assert_eq!(texts(&schema.validate(&object("x"), None, &FieldPath::root())), ["<nil>: Invalid value: no"]);
}

#[test]
fn invalid_objects_block_rules() {
    let found = errors(&json!({"rule": "self.min <= self.max"}), &json!({"min": "x", "max": 2}));
    assert_eq!(
        found,
        [
            "spec.min: Invalid value: \"string\": spec.min in body must be of type integer: \"string\"",
            "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
        ]
    );
}

#[test]
fn mistakes_are_found_before_anything_runs() {
    let problem = |rule: &str| {
        let schema = schema(&json!({"rule": rule}));
        problem_of(&schema)
    };
    assert_eq!(problem("self.min <= self.max"), None);
    assert_eq!(
        problem("self.mni <= self.max").unwrap(),
        "compilation failed: ERROR: <input>:1:5: undefined field 'mni'\n | self.mni <= self.max\n | ....^"
    );
    assert_eq!(
        problem("self.items.all(i, i.w == 1)").unwrap(),
        "compilation failed: ERROR: <input>:1:20: undefined field 'w'\n | self.items.all(i, i.w == 1)\n | ...................^"
    );
    assert!(problem("has(self.nope)").unwrap().contains("undefined field 'nope'"));
    assert!(problem("slef.min == 1").unwrap().contains("undeclared reference to 'slef' (in container '')"));
    assert!(problem("self.name.frobnicate()").unwrap().contains("undeclared reference to 'frobnicate'"));
    assert_eq!(problem("self.name").unwrap(), "cel expression must evaluate to a bool");
    for number in ["1 + 1", "self.min + 1", "size(self.name)", "self.labels"] {
        assert_eq!(problem(number).unwrap(), "cel expression must evaluate to a bool", "{number}");
    }
    assert_eq!(
        problem("self.min == 'a'").unwrap(),
        "compilation failed: ERROR: <input>:1:10: found no matching overload for '_==_' applied to '(int, string)'\n | self.min == 'a'\n | .........^"
    );
    assert_eq!(
        problem("self.min.startsWith('a')").unwrap(),
        "compilation failed: ERROR: <input>:1:20: found no matching overload for 'startsWith' applied to 'int.(string)'\n | self.min.startsWith('a')\n | ...................^"
    );
    assert_eq!(
        problem("self.name.x == 'a'").unwrap(),
        "compilation failed: ERROR: <input>:1:10: type 'string' does not support field selection\n | self.name.x == 'a'\n | .........^"
    );
    assert!(problem("has(self.nope)").unwrap().starts_with("compilation failed: ERROR: <input>:1:4: "));
    for broken in ["self.", "self.min <", "(", "Foo{a: 1}", "'", ""] {
        assert!(problem(broken).unwrap().starts_with("compilation failed: "), "{broken}");
    }
}

/// What is wrong with a rule, and with an object under it, found on half the stack of a worker.
fn on_a_small_stack(rule: String, spec: Value) -> (Vec<String>, Vec<String>) {
    let work = move || {
        let definition = schema(&json!({"rule": rule}));
        let problem = problem_of(&definition);
        (problem.into_iter().collect(), errors(&json!({"rule": rule}), &spec))
    };
    std::thread::Builder::new().stack_size(1 << 20).spawn(work).unwrap().join().unwrap()
}

#[test]
fn deep_rules_work() {
    let nest = |open: &str, inner: &str, close: &str, count: usize| {
        format!("{}{inner}{}", open.repeat(count), close.repeat(count))
    };
    let rules = [
        nest("(", "true", ")", 40),
        nest("(", "true", ")", 90),
        format!("{} == {}", nest("[", "1", "]", 40), nest("[", "1", "]", 40)),
        format!("{} > 0", vec!["1"; 200].join("+")),
        format!("{} > 0", vec!["1"; 450].join("+")),
        vec!["self.min == 1"; 1000].join(" && "),
        nest("[1].all(x, ", "true", ")", 40),
        format!("{}true", "self.min == 2 ? false : ".repeat(100)),
        format!("{}false", "!".repeat(401)),
        format!("{}true", "! !".repeat(100)),
        nest("!!(", "true", ")", 60),
        format!("{} == 1", nest("- -(", "1", ")", 60)),
        "1 - - -1 == 0 && - - 1 == 1 && 3 - -2 == 5 && '!!--' == '!' + '!' + '--'".to_owned(),
        "self.name == '((((((((((\\'((((((((((((' || true // ((((((((((((((((((((((((((((((((((((".to_owned(),
    ];
    for rule in rules {
        let found = on_a_small_stack(rule.clone(), json!({"min": 1, "name": "a"}));
        assert_eq!(found, (Vec::new(), Vec::new()), "{rule}");
    }
}

#[test]
fn rules_at_the_edge_of_shallow_fit_a_small_stack() {
    let nest = |open: &str, inner: &str, close: &str, count: usize| {
        format!("{}{inner}{}", open.repeat(count), close.repeat(count))
    };
    for depth in 1..=24 {
        for rule in [
            format!("{} != []", nest("[", "1", "]", depth)),
            format!("{} != {{}}", nest("{1: ", "1", "}", depth)),
            format!("{} > 0", nest("size([", "1", "])", depth)),
            format!("{} > 0", nest("1 + (", "1", ")", depth)),
            format!("{} != ''", nest("('a'.replace('b', ", "'a'", "))", depth)),
            nest("[1].all(x, ", "true", ")", depth),
            format!("{} != []", nest("[1].map(x, ", "x", ")", depth)),
            nest("(1 > 2 ? false : ", "true", ")", depth),
        ] {
            let found = on_a_small_stack(rule.clone(), json!({"min": 1}));
            assert_eq!(found, (Vec::new(), Vec::new()), "{rule}");
        }
    }
}

#[test]
fn rules_that_are_too_deep_are_refused() {
    let rules = [
        format!("{}true{}", "(".repeat(100), ")".repeat(100)),
        "(".repeat(50_000),
        format!("{}1{}", "[".repeat(5000), "]".repeat(5000)),
        format!("{}true{}", "[1].all(x, ".repeat(200), ")".repeat(200)),
        vec!["1"; 5000].join("+"),
        format!("self{}", ".a".repeat(20_000)),
        format!("{}true", "true ? false : ".repeat(5000)),
        format!("1{}", " in [1]".repeat(5000)),
        format!("'\\q{}", "(".repeat(5000)),
        format!("r'\\'{}", "(".repeat(5000)),
        "self.min == 1 &&".repeat(20_000),
    ];
    for rule in rules {
        let (problems, _) = on_a_small_stack(rule, json!({}));
        assert!(
            problems[0].contains("recursion limit exceeded") || problems[0].contains("size exceeds limit"),
            "{problems:?}"
        );
    }
}

#[test]
fn rules_that_cost_too_much_are_stopped() {
    let items: Vec<Value> = (0..100).map(|v| json!({"v": v})).collect();
    let spec = json!({"items": items, "name": "n".repeat(1000)});
    let list = "self.items";
    for rule in [
        format!("{list}.all(a, {list}.all(b, {list}.all(c, {list}.all(d, true))))"),
        // Errors do not keep loops alive.
        format!(
            "{list}.all(a, {list}.all(b, {list}.all(c, {list}.all(d, 1 / (d.v - d.v) == 1) || true) || true) || true)"
        ),
        format!("[self.name]{} != []", ".map(a, a + a)".repeat(60)),
        format!("[1]{0} != [1]{0}", ".map(a, [a, a])".repeat(60)),
    ] {
        let found = errors(&json!({"rule": rule}), &spec);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("call cost exceeds limit for rule: "), "{found:?}");
    }
    let pairs = format!("{list}.all(a, {list}.exists_one(b, a.v == b.v))");
    assert_eq!(errors(&json!({"rule": pairs}), &spec), Vec::<String>::new());
}

#[test]
fn all_rules_share_a_budget() {
    let rule = json!({"rule": "self.v.all(a, self.s != 'x' + self.s)"});
    let schema =
        Structural::parse(&json!({"type": "object", "properties": {"l": {"type": "array", "items": {
            "type": "object",
            "x-kubernetes-validations": [rule],
            "properties": {"s": {"type": "string"}, "v": {"type": "array", "items": {"type": "integer"}}},
        }}}}))
        .unwrap();
    let item = json!({"v": vec![1; 30], "s": "s".repeat(100_000)});
    let object = |count: usize| json!({"l": vec![item.clone(); count]});
    assert_eq!(texts(&schema.validate(&object(2), None, &FieldPath::root())), Vec::<String>::new());
    let found = texts(&schema.validate(&object(20), None, &FieldPath::root()));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].ends_with(
            ": Invalid value: \"object\": validation failed due to running out of cost budget, no further validation \
             rules will be run"
        ),
        "{found:?}"
    );
}

#[test]
fn broken_signs_do_not_make_the_parser_slow() {
    for sign in ["!#!(", "a!!(", "!&!(", "-=-(", "!'!(", "1 in --("] {
        let (problems, _) = on_a_small_stack(sign.repeat(60), json!({}));
        assert!(problems[0].starts_with("compilation failed: ERROR: <input>:"), "{problems:?}");
    }
}

#[test]
fn reports_say_where_and_how_much() {
    let schema = Structural::parse(&json!({"type": "object", "properties": {"spec": {
        "type": "object",
        "properties": {"list": {"type": "array", "maxItems": 3, "items": {
            "type": "string",
            "maxLength": 5,
            "x-kubernetes-validations": [{"rule": "self != 'a'", "messageExpression": "'no ' + self"}],
        }}},
        "x-kubernetes-validations": [
            {"rule": "self.list.all(l,\n  l.size() > self.nope || siize(l) > 1)", "messageExpression": "self.nope"},
            {"rule": "self.list.size() > 1", "messageExpression": "self.list + 1"},
        ],
    }}}))
    .unwrap();
    let checked = check_rules(&schema, &FieldPath::new("schema"));
    let paths: Vec<&str> = checked.rules.iter().map(|rule| rule.path.as_str()).collect();
    assert_eq!(
        paths,
        [
            "schema.properties[spec].properties[list].items.x-kubernetes-validations[0]",
            "schema.properties[spec].x-kubernetes-validations[0]",
            "schema.properties[spec].x-kubernetes-validations[1]",
        ]
    );
    let [item, broken, message] = checked.rules.as_slice() else { panic!("{checked:?}") };
    assert_eq!(item.problems, []);
    assert_eq!((item.rule.cost, item.rule.total_cost), (2, 6));
    assert_eq!(item.message_expression.as_ref().map(|message| message.total_cost), Some(4));
    // The server compiles no message for a rule that does not compile.
    assert_eq!(broken.message_expression, None);
    let errors: Vec<_> = broken.problems[0]
        .errors
        .iter()
        .map(|error| {
            (
                error.text.as_str(),
                &schema.properties["spec"].validations[0].rule[error.span.clone()],
                error.line,
                error.column,
            )
        })
        .collect();
    assert_eq!(
        errors,
        [
            ("undefined field 'nope'", "nope", 2, 18),
            ("undeclared reference to 'siize' (in container '')", "siize", 2, 32),
        ]
    );
    assert_eq!(message.problems[0].part, RulePart::MessageExpression);
    assert_eq!(message.problems[0].errors[0].span, 10..11);
    assert_eq!(checked.total_cost, 6 + 4 + message.rule.total_cost);
    assert_eq!(checked.total_error, None);
}

#[test]
fn reports_name_what_costs_most() {
    // About 1.6 times what one rule may cost.
    let rule = json!({"rule": format!("self.text.matches('{}')", "a".repeat(200))});
    let rules = vec![rule; 7];
    let schema = Structural::parse(&json!({"type": "object", "properties": {"spec": {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "x-kubernetes-validations": rules,
    }}}))
    .unwrap();
    let checked = check_rules(&schema, &FieldPath::root());
    let costs: Vec<usize> = checked.rules.iter().map(|rule| rule.problems.len()).collect();
    assert!(checked.rules.iter().all(|rule| rule.problems[0].is_cost), "{checked:?}");
    assert_eq!(costs, [2, 2, 2, 2, 1, 1, 1]);
    assert!(checked.total_cost > MOST_PER_SCHEMA);
    assert_eq!(
        checked.total_error.unwrap(),
        "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of \
         1.101006x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and \
         strings are declared)"
    );
}

#[test]
fn types_that_grow_have_an_end() {
    let mut rule = "optional.of(1)".to_owned();
    for _ in 0..14 {
        rule = format!("{rule}.optMap(x, {{x: x}})");
    }
    let schema = schema(&json!({"rule": format!("{rule}.hasValue()")}));
    // What matters is that there is an answer.
    let checked = check_rules(&schema, &FieldPath::root());
    assert_eq!(checked.rules.len(), 1);
}
