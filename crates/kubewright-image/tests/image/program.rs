//! Programs that are as small as they can be, and images of them.

use bytes::Bytes;
use kubewright_image::{Certificates, Executable, Image, Recipe, Reference};

/// The ELF numbers of processors.
pub(crate) const AMD64: u16 = 62;
pub(crate) const ARM64: u16 = 183;

/// An ELF file of 64 bits for a processor, which needs `interpreter`, and ends with `content`.
pub(crate) fn elf(machine: u16, interpreter: Option<&str>, content: &[u8]) -> Bytes {
    const HEADER: u64 = 64;
    const PROGRAM_HEADER: u64 = 56;
    let path = interpreter.map(|path| format!("{path}\0")).unwrap_or_default();
    let mut file = b"\x7fELF\x02\x01\x01".to_vec();
    file.resize(16, 0);
    for half in [2, machine] {
        file.extend(half.to_le_bytes());
    }
    file.extend(1u32.to_le_bytes());
    // Entry, program headers, section headers.
    for word in [0, HEADER, 0u64] {
        file.extend(word.to_le_bytes());
    }
    file.extend(0u32.to_le_bytes());
    let count = u16::from(interpreter.is_some());
    for half in [64, 56, count, 64, 0, 0] {
        file.extend(half.to_le_bytes());
    }
    if interpreter.is_some() {
        // PT_INTERP, readable.
        for word in [3u32, 4] {
            file.extend(word.to_le_bytes());
        }
        let length = path.len() as u64;
        for word in [HEADER + PROGRAM_HEADER, 0, 0, length, length, 1] {
            file.extend(word.to_le_bytes());
        }
        file.extend(path.bytes());
    }
    file.extend(content);
    Bytes::from(file)
}

pub(crate) fn program(machine: u16, content: &[u8]) -> Executable {
    Executable::read(elf(machine, None, content)).expect("a program")
}

/// An image for one platform, as small as it can be.
pub(crate) fn image(content: &[u8]) -> Image {
    let recipe = Recipe { certificates: Certificates::None, ..Recipe::default() };
    recipe.build(&[program(AMD64, content)], None).expect("an image")
}

/// An image with a layer of about 100 kB: noise is not compressed.
pub(crate) fn large_image() -> Image {
    let mut state: u32 = 1;
    let noise = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    });
    image(&noise.take(100_000).collect::<Vec<u8>>())
}

pub(crate) fn reference(text: &str) -> Reference {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}
