//! What the server says to objects of built-in kinds that are wrong, against what a real one says.
//!
//! A file of `data/validation` is a list of requests, each with the object to send and edits of it: JSON pointers with the
//! values to put there, `null` to take away what is there. What is put is edited as it is on the server. Beside it are the answers of kube-apiserver 1.37.2: code,
//! reason, causes and warnings, and the message where there are no causes. Causes are compared in any order, for Go
//! goes through its maps in any order. Uids are `$uid`. A cause that has a diff of Go structs is compared up to that.

use std::path::Path;

use http::{Request, header};
use http_body_util::{BodyExt, Full};
use kubewright_apiserver::{ApiServer, ApiService};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tower::ServiceExt;

#[derive(Deserialize)]
struct Section {
    #[serde(default)]
    setup: Vec<Setup>,
    request: String,
    object: Option<Value>,
    edits: Vec<Map<String, Value>>,
}

#[derive(Deserialize)]
struct Setup {
    request: String,
    body: Value,
}

#[derive(Debug, Default, Deserialize, PartialEq)]
struct Answer {
    code: u16,
    #[serde(default)]
    reason: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    causes: Vec<(String, String, String)>,
    #[serde(default)]
    warnings: Vec<String>,
}

async fn send(service: &ApiService, request: &str, body: Option<&Value>) -> (Answer, Value) {
    let (method, target) = request.split_once(' ').expect("a method and a path");
    let media = if method == "PATCH" { "application/strategic-merge-patch+json" } else { "application/json" };
    let body = body.map(Value::to_string).unwrap_or_default();
    let request = Request::builder()
        .method(method)
        .uri(target)
        .header(header::CONTENT_TYPE, media)
        .body(Full::from(body))
        .expect("a request");
    let response = service.clone().oneshot(request).await.expect("an answer");
    let code = response.status().as_u16();
    let warnings = response.headers().get_all("warning").iter().filter_map(|value| {
        let text = value.to_str().ok()?.strip_prefix("299 - \"")?.strip_suffix('"')?;
        Some(text.replace("\\\"", "\"").replace("\\\\", "\\"))
    });
    let warnings = warnings.collect();
    let body = response.into_body().collect().await.expect("a body").to_bytes();
    let object: Value = serde_json::from_slice(&body).unwrap_or_default();
    if code < 300 {
        return (Answer { code, warnings, ..Answer::default() }, object);
    }
    let text = |value: &Value, field: &str| value[field].as_str().unwrap_or_default().to_owned();
    let causes: Vec<_> = object["details"]["causes"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|cause| {
            let message = text(cause, "message").lines().next().unwrap_or_default().to_owned();
            (text(cause, "field"), text(cause, "reason"), message)
        })
        .collect();
    let message = if causes.is_empty() { text(&object, "message") } else { String::new() };
    (Answer { code, reason: text(&object, "reason"), message, causes, warnings }, object)
}

fn edit(object: &mut Value, pointer: &str, new: &Value) {
    let (above, name) = pointer.rsplit_once('/').expect("a pointer");
    let name = name.replace("~1", "/");
    let mut place = object;
    for part in above.split('/').skip(1) {
        place = match place {
            Value::Array(items) => &mut items[part.parse::<usize>().expect("an index")],
            place => {
                if place[part].is_null() {
                    place[part] = json!({});
                }
                &mut place[part]
            }
        };
    }
    match place {
        Value::Array(items) => {
            let index = name.parse().expect("an index");
            match new {
                Value::Null => drop(items.remove(index)),
                new if index == items.len() => items.push(new.clone()),
                new => items[index] = new.clone(),
            }
        }
        place => match new {
            Value::Null => drop(place.as_object_mut().map(|place| place.remove(&name))),
            new => place[name] = new.clone(),
        },
    }
}

fn without_uid(answer: &mut Answer, uid: &str) {
    let texts = answer.causes.iter_mut().flat_map(|(field, _, message)| [field, message]);
    for text in texts.chain([&mut answer.message]) {
        if !uid.is_empty() {
            *text = text.replace(uid, "$uid");
        }
        // The uid of an object that is not there yet.
        while let Some(start) = find_uid(text) {
            text.replace_range(start..start + 36, "$uid");
        }
    }
    answer.causes.sort();
}

fn find_uid(text: &str) -> Option<usize> {
    let is_uid = |candidate: &[u8]| {
        candidate.iter().enumerate().all(|(index, byte)| match index {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
        })
    };
    text.as_bytes().windows(36).position(is_uid)
}

async fn compare(name: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/validation");
    let read =
        |suffix: &str| std::fs::read_to_string(folder.join(format!("{name}{suffix}"))).expect("a file");
    let sections: Vec<Section> = serde_saphyr::from_str(&read(".yaml")).expect("requests");
    let answers: Vec<Vec<Answer>> = serde_json::from_str(&read(".answers.json")).expect("answers");
    let service = ApiServer::builder().build().service();
    let mut wrong = Vec::new();
    let mut count = 0;
    for (section, answers) in sections.iter().zip(answers) {
        for setup in &section.setup {
            let (answer, _) = send(&service, &setup.request, Some(&setup.body)).await;
            assert!(answer.code < 300, "{}: {answer:?}", setup.request);
        }
        let object = match &section.object {
            Some(object) => object.clone(),
            None => {
                let path = section.request.strip_prefix("PUT ").expect("an update");
                let path = path.split('?').next().unwrap_or_default();
                send(&service, &format!("GET {path}"), None).await.1
            }
        };
        let uid = object["metadata"]["uid"].as_str().unwrap_or_default();
        assert_eq!(section.edits.len(), answers.len(), "{}", section.request);
        for (edits, mut expected) in section.edits.iter().zip(answers) {
            count += 1;
            let mut object = object.clone();
            edits.iter().for_each(|(pointer, value)| edit(&mut object, pointer, value));
            let (mut answer, _) = send(&service, &section.request, Some(&object)).await;
            without_uid(&mut answer, uid);
            without_uid(&mut expected, uid);
            if answer != expected {
                let edits = Value::from(edits.clone());
                wrong.push(format!(
                    "{} {edits}\n  expected {expected:?}\n  got      {answer:?}",
                    section.request
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[tokio::test(start_paused = true)]
async fn pods() {
    compare("pods").await;
}

#[tokio::test(start_paused = true)]
async fn workloads() {
    compare("workloads").await;
}

#[tokio::test(start_paused = true)]
async fn jobs() {
    compare("jobs").await;
}
