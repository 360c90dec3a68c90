use std::collections::BTreeSet;

/// Reads a list of indexes such as `0,2-4`; what cannot be read is left out.
pub(super) fn parse(text: &str) -> BTreeSet<i32> {
    let number = |text: &str| text.trim().parse::<i32>().ok();
    text.split(',')
        .filter_map(|part| match part.split_once('-') {
            Some((first, last)) => Some(number(first)?..=number(last)?),
            None => number(part).map(|index| index..=index),
        })
        .flatten()
        .collect()
}

/// Writes a list of indexes, three and more in a row as a range.
pub(super) fn format(indexes: &BTreeSet<i32>) -> String {
    let mut parts: Vec<(i32, i32)> = Vec::new();
    for index in indexes {
        match parts.last_mut() {
            Some((_, last)) if *last + 1 == *index => *last = *index,
            _ => parts.push((*index, *index)),
        }
    }
    let parts: Vec<_> = parts
        .into_iter()
        .map(|(first, last)| match last - first {
            0 => first.to_string(),
            1 => format!("{first},{last}"),
            _ => format!("{first}-{last}"),
        })
        .collect();
    parts.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_written_as_they_are_read() {
        for text in ["", "0", "0,1", "0-2", "1,3-5,7,8", "2-4,9"] {
            assert_eq!(format(&parse(text)), text);
        }
        assert_eq!(parse("x,1"), BTreeSet::from([1]));
    }
}
