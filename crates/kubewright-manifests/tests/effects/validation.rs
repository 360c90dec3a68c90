//! What limits values.

use std::collections::BTreeMap;

use super::entry::{Entry, Item};

pub(crate) fn entries() -> Vec<Entry> {
    let mut all = Vec::new();
    all.extend(values!(i32: "Minimum=1"));
    all.push(spec!("+kubebuilder:validation:Minimum=1").refused());
    all.extend(values!(i32: "Maximum=3"));
    all.push(spec!("+kubebuilder:validation:Maximum=3").refused());
    all.push(field!(i64: "+kubebuilder:validation:Maximum=9223372036854775807"));
    all.push(field!(i64: "+kubebuilder:validation:Minimum=-9223372036854775808"));
    all.push(field!(f64: "+kubebuilder:validation:Maximum=1.5"));
    all.push(field!(i32: "+k8s:minimum=1 # at least one"));
    all.push(field!(i32: "+k8s:maximum=3"));
    all.extend(values!(i32, ["Minimum=1"] => "ExclusiveMinimum=true"));
    all.push(spec!("+kubebuilder:validation:ExclusiveMinimum=true").refused());
    all.extend(values!(i32, ["Maximum=3"] => "ExclusiveMaximum=true"));
    all.push(spec!("+kubebuilder:validation:ExclusiveMaximum=true").refused());
    all.extend(values!(i32: "MultipleOf=5"));
    all.push(spec!("+kubebuilder:validation:MultipleOf=5").refused());
    all.extend(values!(String: "MinLength=1"));
    all.push(spec!("+kubebuilder:validation:MinLength=1").refused());
    all.extend(values!(String: "MaxLength=63"));
    all.push(spec!("+kubebuilder:validation:MaxLength=63").refused());
    all.extend(values!(String: "Pattern=`^[a-z]{1,8}$`"));
    all.push(spec!("+kubebuilder:validation:Pattern=`^[a-z]{1,8}$`").refused());
    all.extend(values!(String: "Format=date-time"));
    all.push(spec!("+kubebuilder:validation:Format=date-time"));
    all.extend(values!(String: "Enum=small;large"));
    all.push(spec!("+kubebuilder:validation:Enum={{first: \"a\"},{}}"));
    all.push(field!(i32: "+kubebuilder:validation:Enum=1;2"));
    all.extend(values!(Vec<String>: "MinItems=1"));
    all.push(spec!("+kubebuilder:validation:MinItems=1").refused());
    all.extend(values!(Vec<String>: "MaxItems=10"));
    all.push(spec!("+kubebuilder:validation:MaxItems=10").refused());
    all.push(field!(Vec<String>: "+k8s:maxItems=10"));
    all.extend(values!(Vec<String>: "UniqueItems=true"));
    all.push(spec!("+kubebuilder:validation:UniqueItems=true").refused());
    all.extend(values!(BTreeMap<String, String>: "MinProperties=1"));
    all.push(spec!("+kubebuilder:validation:MinProperties=1"));
    all.extend(values!(BTreeMap<String, String>: "MaxProperties=10"));
    all.push(spec!("+kubebuilder:validation:MaxProperties=10"));
    all.push(field!(Item: "+kubebuilder:validation:MaxProperties=1").refused_by_controller_gen());
    all.extend(rules());
    all.extend(choices());
    all.push(field!(i32: "+k8s:immutable"));
    all.push(field!(Option<i32>: "+k8s:immutable"));
    all.push(typed!(enum { Small, Large }: "+k8s:enum"));
    all.push(spec!("+k8s:enum").refused());
    all
}

fn rules() -> Vec<Entry> {
    let mut all = Vec::from(values!(i32: "XValidation:rule=\"self != 2\""));
    all.push(spec!("+kubebuilder:validation:XValidation:rule=\"has(self.first)\""));
    macro_rules! with {
        ($($argument:literal),+) => {
            [$(field!(
                i32,
                ["+kubebuilder:validation:XValidation:rule=\"self != 2\""] => [
                    concat!("+kubebuilder:validation:XValidation:rule=\"self != 2\",", $argument)
                ]
            )),+]
        };
    }
    all.extend(with!(
        "message=\"two is not allowed\"",
        "messageExpression=\"'not ' + string(self)\"",
        "reason=FieldValueForbidden",
        "optionalOldSelf=true"
    ));
    all.push(field!(
        Item,
        ["+kubebuilder:validation:XValidation:rule=\"self.name != ''\""] => [
            "+kubebuilder:validation:XValidation:rule=\"self.name != ''\",fieldPath=.name"
        ]
    ));
    all
}

fn choices() -> Vec<Entry> {
    vec![
        typed!(struct { a: Option<String>, b: Option<String> }: "+kubebuilder:validation:AtMostOneOf=a;b"),
        spec!("+kubebuilder:validation:AtMostOneOf=first;second"),
        typed!(struct { a: Option<String>, b: Option<String> }: "+kubebuilder:validation:ExactlyOneOf=a;b"),
        spec!("+kubebuilder:validation:ExactlyOneOf=first;second"),
        typed!(struct { a: Option<String>, b: Option<String> }: "+kubebuilder:validation:AtLeastOneOf=a;b"),
        spec!("+kubebuilder:validation:AtLeastOneOf=first;second"),
    ]
}
