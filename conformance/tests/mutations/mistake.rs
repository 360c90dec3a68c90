//! Mistakes in bytes.

use kubewright_world::Random;

/// Pieces of what servers read, to be put where they do not belong.
pub(crate) const WORDS: &[&str] = &[
    "",
    "0",
    "-1",
    "1e999",
    "9223372036854775808",
    "-9223372036854775809",
    "1.5",
    "null",
    "true",
    "[]",
    "{}",
    "\"\"",
    "\\u0000",
    "\u{feff}",
    "\u{1f600}",
    "%00",
    "%",
    "..",
    "/",
    "//",
    "~",
    "~1",
    "*",
    "a=b",
    "a in (b",
    "!a",
    ",",
    "=",
    "==",
    "k8s\0",
    "$patch",
    "$retainKeys",
    "$setElementOrder/ports",
    "$deleteFromPrimitiveList/finalizers",
    "x-kubernetes-validations",
    "self.all(x, x)",
    "has(self.a)",
    "[1,2,3].map(a, a/0)",
    "'a'.matches('(')",
    "&a *a",
    "---",
    "? : -",
    "!!binary",
    "apiVersion",
    "metadata",
    "managedFields",
    "resourceVersion",
    "2147483648",
    "1Ei",
    "1n",
    "--5",
    "0x",
    "5h-3m",
    "P1D",
];

/// A text with some of its characters changed.
pub(crate) fn text(random: &Random, text: &str) -> String {
    let mut content = text.as_bytes().to_vec();
    splice(random, &mut content);
    String::from_utf8_lossy(&content).into_owned()
}

/// Takes away, doubles, flips, cuts off or puts in a few bytes.
pub(crate) fn splice(random: &Random, content: &mut Vec<u8>) {
    let at = index(random, content.len() + 1);
    let end = at + index(random, (content.len() - at).min(16) + 1);
    match random.below(5) {
        0 => drop(content.drain(at..end)),
        1 => {
            let again = content[at..end].to_vec();
            content.splice(at..at, again);
        }
        2 => {
            if let Some(byte) = content.get_mut(at) {
                *byte ^= 1 << random.below(8);
            }
        }
        3 => content.truncate(at),
        _ => drop(content.splice(at..end, pick(random, WORDS).bytes())),
    }
}

/// One of these items.
pub(crate) fn pick<'i, T>(random: &Random, items: &'i [T]) -> &'i T {
    &items[index(random, items.len())]
}

/// A number below the length, zero if that is.
pub(crate) fn index(random: &Random, length: usize) -> usize {
    let length = u64::try_from(length).unwrap_or(u64::MAX).max(1);
    usize::try_from(random.below(length)).unwrap_or_default()
}
