//! Match conditions of webhooks.

use kubewright_apiserver::User;
use serde_json::{Value, json};

use crate::cluster::{Answered, Cluster, MAPS, map, webhook};

async fn create_if(conditions: &[&str], policy: &str, user: User) -> (Answered, bool) {
    let cluster = Cluster::new();
    let conditions: Vec<Value> = (0..)
        .zip(conditions)
        .map(|(index, expression)| json!({"name": format!("c{index}"), "expression": expression}))
        .collect();
    let own = json!({"matchConditions": conditions, "failurePolicy": policy});
    cluster.configure("Mutating", "m", vec![webhook("m", "/m", &own)]).await;
    let answered = cluster.send_as(user, "POST", MAPS, map("a")).await;
    (answered, !cluster.asked().is_empty())
}

#[tokio::test(start_paused = true)]
async fn all_conditions_must_be_true() {
    for (conditions, is_asked) in [
        (vec!["true"], true),
        (vec!["true", "false"], false),
        (vec!["object.data.a == '1' && request.operation == 'CREATE' && request.namespace == 't'"], true),
        (vec!["oldObject == null && request.dryRun == false && request.name == 'a'"], true),
        (vec!["request.options.kind == 'CreateOptions' && request.resource.resource == 'configmaps'"], true),
        (vec!["request.userInfo.groups.exists(group, group == 'system:masters')"], true),
        (vec!["authorizer.group('').resource('pods').namespace('t').check('get').allowed()"], true),
        (vec!["authorizer.requestResource.check('get').allowed()"], true),
        // What is false settles it, whatever else is wrong.
        (vec!["object.data.b == '1'", "false"], false),
    ] {
        let (answered, asked) = create_if(&conditions, "Fail", User::admin()).await;
        assert_eq!((answered.code, asked), (201, is_asked), "{conditions:?}: {answered:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_condition_without_a_value_is_a_failure() {
    for (conditions, why) in [
        (
            vec!["object.data.b == '1'"],
            "expression 'object.data.b == '1'' resulted in error: no such key: b".to_owned(),
        ),
        (
            vec!["object.data.b == '1'", "object.data.c == '1'"],
            "[expression 'object.data.b == '1'' resulted in error: no such key: b, expression 'object.data.c == '1'' \
             resulted in error: no such key: c]"
                .to_owned(),
        ),
        (vec!["1/0 == 1"], "expression '1/0 == 1' resulted in error: division by zero".to_owned()),
        (
            vec!["object.data.a > 1"],
            "expression 'object.data.a > 1' resulted in error: no such overload".to_owned(),
        ),
    ] {
        let (refused, asked) = create_if(&conditions, "Fail", User::admin()).await;
        let message = format!("configmaps \"a\" is forbidden: {why}");
        assert_eq!((refused.refusal(), asked), ((403, message.as_str()), false));
        let (ignored, asked) = create_if(&conditions, "Ignore", User::admin()).await;
        assert_eq!((ignored.code, asked), (201, false));
    }
}
