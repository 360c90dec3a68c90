//! When a change was sent, and when its reconciliation began.

use std::{
    collections::HashMap,
    convert::Infallible,
    io::Write,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Client, ResourceExt,
    core::{ApiResource, DynamicObject, GroupVersionKind},
    runtime::{Controller, controller, controller::Action, reflector::ObjectRef, watcher},
};

/// The annotation in which the driver writes when it sent a change, in nanoseconds since 1970.
const SENT: &str = "bench.kubewright.dev/sent";

/// How long a reconciliation takes, as if it made calls.
const WORK: Duration = Duration::from_millis(5);

type Seen = Mutex<HashMap<String, String>>;

/// Reconciles ConfigMaps and prints both times of each change, until the process is ended.
pub(crate) async fn run(client: Client, workers: u16, gadgets: bool) {
    let mut controller = Controller::new(Api::<ConfigMap>::all(client.clone()), watcher::Config::default());
    if gadgets {
        let gadget = ApiResource::from_gvk(&GroupVersionKind::gvk("bench.kubewright.dev", "v1", "Gadget"));
        let api = Api::<DynamicObject>::all_with(client, &gadget);
        controller = controller.watches_with(api, gadget, watcher::Config::default(), |gadget| {
            Some(ObjectRef::new(&gadget.name_any()).within(&gadget.namespace()?))
        });
    }
    controller
        .with_config(controller::Config::default().concurrency(workers))
        .shutdown_on_signal()
        .run(reconcile, |_, _, _| Action::await_change(), Arc::new(Seen::default()))
        .for_each(|_| std::future::ready(()))
        .await;
}

async fn reconcile(map: Arc<ConfigMap>, seen: Arc<Seen>) -> Result<Action, Infallible> {
    let began = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    if let Some(sent) = map.annotations().get(SENT)
        && is_new(&seen, map.name_any(), sent)
    {
        // Who started this process reads it, or has ended.
        let _ = writeln!(std::io::stdout(), "{sent} {began}");
    }
    tokio::time::sleep(WORK).await;
    Ok(Action::await_change())
}

fn is_new(seen: &Seen, name: String, sent: &str) -> bool {
    let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
    seen.insert(name, sent.to_owned()).as_deref() != Some(sent)
}
