//! What a program needs to run: read from its file, so that an image which cannot start is not built.

use bytes::Bytes;
use object::{
    Endianness,
    elf::{self, FileHeader32, FileHeader64},
    read::elf::{FileHeader, ProgramHeader},
};

use crate::platform::Platform;

/// A program for Linux.
#[derive(Clone, Debug)]
pub struct Executable {
    content: Bytes,
    platform: Platform,
    interpreter: Option<String>,
}

/// Why a file is no program for an image.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExecutableError {
    /// It has another format.
    #[error("it is no ELF program, as Linux has them")]
    NotElf,
    /// It is cut off or damaged.
    #[error("it is a damaged ELF program: {0}")]
    Damaged(String),
    /// It is for a processor that no image is made for.
    #[error("it is for a processor with the ELF number {0}, for which no images are made")]
    Processor(u16),
}

impl Executable {
    /// Looks at a program.
    ///
    /// # Errors
    ///
    /// If it is none for Linux, or for a processor that is not [known](Platform::known).
    pub fn read(content: impl Into<Bytes>) -> Result<Self, ExecutableError> {
        let content = content.into();
        // Four bytes of magic, then the class: 1 for 32 bits, 2 for 64.
        let (machine, interpreter) = match content.get(..5) {
            Some(b"\x7fELF\x02") => headers::<FileHeader64<Endianness>>(&content)?,
            Some(b"\x7fELF\x01") => headers::<FileHeader32<Endianness>>(&content)?,
            _ => return Err(ExecutableError::NotElf),
        };
        let architecture = match machine {
            elf::EM_X86_64 => "amd64",
            elf::EM_AARCH64 => "arm64",
            elf::EM_ARM => "arm",
            elf::EM_PPC64 => "ppc64le",
            elf::EM_RISCV => "riscv64",
            elf::EM_S390 => "s390x",
            other => return Err(ExecutableError::Processor(other)),
        };
        let platform = Platform::known()
            .into_iter()
            .find(|platform| platform.architecture == architecture)
            .ok_or(ExecutableError::Processor(machine))?;
        Ok(Self { content, platform, interpreter })
    }

    /// The bytes of its file.
    #[must_use]
    pub fn content(&self) -> &Bytes {
        &self.content
    }

    /// What it runs on.
    #[must_use]
    pub fn platform(&self) -> &Platform {
        &self.platform
    }

    /// The loader that must be in the image for it to start, such as `/lib64/ld-linux-x86-64.so.2`; none if it is linked statically.
    #[must_use]
    pub fn interpreter(&self) -> Option<&str> {
        self.interpreter.as_deref()
    }
}

/// The processor, and the loader.
fn headers<Elf: FileHeader<Endian = Endianness>>(
    content: &[u8],
) -> Result<(u16, Option<String>), ExecutableError> {
    let damaged = |error: object::Error| ExecutableError::Damaged(error.to_string());
    let header = Elf::parse(content).map_err(damaged)?;
    let endian = header.endian().map_err(damaged)?;
    let mut interpreter = None;
    for segment in header.program_headers(endian, content).map_err(damaged)? {
        if let Some(path) = segment.interpreter(endian, content).map_err(damaged)? {
            interpreter = Some(String::from_utf8_lossy(path).into_owned());
        }
    }
    Ok((header.e_machine(endian), interpreter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn this_program_has_this_platform() {
        let path = std::env::current_exe().expect("a path");
        let this = Executable::read(std::fs::read(path).expect("readable")).expect("a program");
        assert_eq!(this.platform().rust_architecture(), Some(std::env::consts::ARCH));
        if cfg!(all(target_env = "gnu", not(target_feature = "crt-static"))) {
            assert!(this.interpreter().is_some_and(|path| path.contains("ld-")), "{:?}", this.interpreter());
        }
    }

    #[test]
    fn what_is_no_program_is_refused() {
        assert_eq!(Executable::read("#!/bin/sh\n").expect_err("a script"), ExecutableError::NotElf);
        assert_eq!(Executable::read("").expect_err("empty"), ExecutableError::NotElf);
        let cut = Executable::read(&b"\x7fELF\x02\x01\x01"[..]).expect_err("cut off");
        assert!(matches!(cut, ExecutableError::Damaged(_)), "{cut}");
    }
}
