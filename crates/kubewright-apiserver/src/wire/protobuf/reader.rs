use super::error::WireError;

/// Reads the fields of one message.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

/// The content of one field as it stands on the wire.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Wire<'a> {
    Varint(u64),
    Fixed64(u64),
    Bytes(&'a [u8]),
    Fixed32(u32),
}

// === impl Reader ===

impl<'a> Reader<'a> {
    pub(super) fn new(message: &'a [u8]) -> Self {
        Self { rest: message }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next field that is not a group, or `None` at the end. Groups were never used by Kubernetes; they are
    /// skipped like every unknown field.
    pub(super) fn next(&mut self) -> Result<Option<(u32, Wire<'a>)>, WireError> {
        let mut open_groups = 0_usize;
        while !self.rest.is_empty() {
            let tag = self.varint()?;
            let number = u32::try_from(tag >> 3).map_err(|_| WireError::Tag(tag))?;
            if number == 0 {
                return Err(WireError::Tag(tag));
            }
            let wire = match tag & 7 {
                0 => Wire::Varint(self.varint()?),
                1 => Wire::Fixed64(u64::from_le_bytes(self.array()?)),
                2 => Wire::Bytes(self.bytes()?),
                3 => {
                    open_groups += 1;
                    continue;
                }
                4 => {
                    open_groups = open_groups.checked_sub(1).ok_or(WireError::Tag(tag))?;
                    continue;
                }
                5 => Wire::Fixed32(u32::from_le_bytes(self.array()?)),
                _ => return Err(WireError::Tag(tag)),
            };
            if open_groups == 0 {
                return Ok(Some((number, wire)));
            }
        }
        if open_groups == 0 { Ok(None) } else { Err(WireError::Truncated) }
    }

    pub(super) fn varint(&mut self) -> Result<u64, WireError> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.rest.split_first().ok_or(WireError::Truncated)?;
            self.rest = rest;
            if shift == 63 && byte > 1 {
                return Err(WireError::Overflow);
            }
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(WireError::Overflow)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], WireError> {
        let (head, rest) = self.rest.split_first_chunk::<N>().ok_or(WireError::Truncated)?;
        self.rest = rest;
        Ok(*head)
    }

    fn bytes(&mut self) -> Result<&'a [u8], WireError> {
        let length = usize::try_from(self.varint()?).map_err(|_| WireError::Truncated)?;
        let (head, rest) = self.rest.split_at_checked(length).ok_or(WireError::Truncated)?;
        self.rest = rest;
        Ok(head)
    }
}

// === impl Wire ===

impl<'a> Wire<'a> {
    /// The wire type, as error messages name it.
    pub(super) fn number(self) -> u8 {
        match self {
            Wire::Varint(_) => 0,
            Wire::Fixed64(_) => 1,
            Wire::Bytes(_) => 2,
            Wire::Fixed32(_) => 5,
        }
    }

    pub(super) fn into_bytes(self) -> Result<&'a [u8], WireError> {
        match self {
            Wire::Bytes(bytes) => Ok(bytes),
            other => Err(WireError::WireType(other.number())),
        }
    }

    pub(super) fn into_varint(self) -> Result<u64, WireError> {
        match self {
            Wire::Varint(value) => Ok(value),
            other => Err(WireError::WireType(other.number())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(message: &[u8]) -> Result<Vec<(u32, Wire<'_>)>, WireError> {
        let mut reader = Reader::new(message);
        std::iter::from_fn(|| reader.next().transpose()).collect()
    }

    #[test]
    fn reads_every_wire_type() {
        let message = [
            0x08, 0x96, 0x01, // 1: varint 150
            0x11, 1, 0, 0, 0, 0, 0, 0, 0, // 2: 64 bit
            0x1a, 2, b'h', b'i', // 3: bytes
            0x25, 7, 0, 0, 0, // 4: 32 bit
        ];
        assert_eq!(
            fields(&message),
            Ok(vec![
                (1, Wire::Varint(150)),
                (2, Wire::Fixed64(1)),
                (3, Wire::Bytes(b"hi")),
                (4, Wire::Fixed32(7)),
            ])
        );
    }

    #[test]
    fn skips_nested_groups() {
        let message = [0x0b, 0x13, 0x08, 1, 0x14, 0x0c, 0x18, 5];
        assert_eq!(fields(&message), Ok(vec![(3, Wire::Varint(5))]));
        assert_eq!(fields(&[0x0b, 0x08, 1]), Err(WireError::Truncated));
        assert_eq!(fields(&[0x0c]), Err(WireError::Tag(12)));
    }

    #[test]
    fn a_length_over_the_end_is_an_error() {
        assert_eq!(fields(&[0x0a, 3, 1, 2]), Err(WireError::Truncated));
        let huge = [0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
        assert_eq!(fields(&huge), Err(WireError::Truncated));
    }

    #[test]
    fn a_number_over_64_bits_is_an_error() {
        let mut message = vec![0x08];
        message.extend([0xff; 9]);
        message.push(0x02);
        assert_eq!(fields(&message), Err(WireError::Overflow));
    }
}
