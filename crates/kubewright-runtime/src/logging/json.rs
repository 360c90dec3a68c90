use std::fmt;

use kubewright_world::Clock;
use serde_json::{Map, Value};
use tracing::{
    Event, Level, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::{
    Layer,
    fmt::{
        FmtContext, FormatEvent, FormatFields, FormattedFields, MakeWriter,
        format::{JsonFields, Writer},
    },
    registry::LookupSpan,
};

/// Writes one JSON object a line: `level`, `ts`, `logger`, `msg`, then the fields of the enclosing spans and
/// of the event, without nesting. These are the keys that controller-runtime's zap logger writes and that log
/// pipelines look for.
pub(super) fn layer<S, W>(writer: W) -> impl Layer<S>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    tracing_subscriber::fmt::layer()
        .fmt_fields(JsonFields::new())
        .event_format(JsonLine { clock: Clock::system() })
        .with_writer(writer)
}

struct JsonLine {
    clock: Clock,
}

struct Collect<'a>(&'a mut Map<String, Value>);

// === impl JsonLine ===

impl<S, N> FormatEvent<S, N> for JsonLine
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut fields = Map::new();
        for span in context.event_scope().into_iter().flat_map(tracing_subscriber::registry::Scope::from_root)
        {
            let extensions = span.extensions();
            let Some(formatted) = extensions.get::<FormattedFields<N>>() else { continue };
            if let Ok(Value::Object(of_span)) = serde_json::from_str(formatted) {
                fields.extend(of_span);
            }
        }
        event.record(&mut Collect(&mut fields));
        let message = match fields.remove("message") {
            Some(Value::String(message)) => message,
            Some(other) => other.to_string(),
            None => String::new(),
        };
        // Written by hand up to here, because a map would sort the keys, and people read them in this order.
        let head = [
            ("level", level(*event.metadata().level()).to_owned()),
            ("ts", format!("{:.3}", self.clock.now())),
            ("logger", event.metadata().target().to_owned()),
            ("msg", message),
        ];
        let mut first = true;
        for (key, value) in head {
            write!(writer, "{}{}:{}", if first { "{" } else { "," }, quoted(key), quoted(&value))?;
            fields.remove(key);
            first = false;
        }
        for (key, value) in &fields {
            write!(writer, ",{}:{value}", quoted(key))?;
        }
        writeln!(writer, "}}")
    }
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

fn level(level: Level) -> &'static str {
    match level {
        Level::ERROR => "error",
        Level::WARN => "warn",
        Level::INFO => "info",
        Level::DEBUG => "debug",
        Level::TRACE => "trace",
    }
}

// === impl Collect ===

impl Visit for Collect<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}").into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.0.insert(field.name().to_owned(), value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.0.insert(field.name().to_owned(), value.into());
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.0.insert(field.name().to_owned(), value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.0.insert(field.name().to_owned(), value.into());
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io,
        sync::{Arc, Mutex},
    };

    use tracing_subscriber::layer::SubscriberExt;

    use super::*;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("no panic under the lock").extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_line_has_the_keys_of_controller_runtime_and_the_fields_of_its_spans() {
        let lines = Lines::default();
        let writer = lines.clone();
        let subscriber = tracing_subscriber::registry().with(layer(move || writer.clone()));
        tracing::subscriber::with_default(subscriber, || {
            let span =
                tracing::info_span!("reconcile", controller = "memcached", namespace = "shop", name = "cart");
            span.in_scope(|| tracing::warn!(replicas = 3, ready = true, "scaled \"up\""));
        });
        let line =
            String::from_utf8(lines.0.lock().expect("no panic under the lock").clone()).expect("utf-8");
        assert!(line.starts_with("{\"level\":\"warn\",\"ts\":\""), "{line}");
        assert!(line.ends_with("}\n"), "{line}");
        let mut read: Map<String, Value> = serde_json::from_str(&line).expect("json");
        assert!(read.remove("ts").is_some());
        let expected = serde_json::json!({
            "level": "warn", "logger": "kubewright_runtime::logging::json::tests", "msg": "scaled \"up\"",
            "controller": "memcached", "namespace": "shop", "name": "cart", "replicas": 3, "ready": true,
        });
        assert_eq!(Value::Object(read), expected);
    }
}
