//! The head of every collective call: which call it is, and whether a rank cannot take part.
//!
//! All ranks see all heads, so they all return the same error, and no rank waits for one that gave up.

use crate::error::{Error, TransportError};
use crate::transport::Gathered;
use crate::wire::{Malformed, Reader, put};

/// A call that all ranks make together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Call {
    Start = 1,
    Update = 2,
    Migrate = 3,
    Plan = 4,
}

impl Call {
    fn name(self) -> &'static str {
        match self {
            Self::Start => "Distributed::new",
            Self::Update => "update",
            Self::Migrate => "migrate",
            Self::Plan => "plan",
        }
    }

    fn name_of(number: u32) -> String {
        let all = [Self::Start, Self::Update, Self::Migrate, Self::Plan];
        let known = all.into_iter().find(|&call| call as u32 == number);
        known.map_or_else(|| format!("an unknown method ({number})"), |call| call.name().to_string())
    }
}

/// Starts a message of a call. A rank that cannot take part says why, and adds nothing more.
pub(crate) fn head(message: &mut Vec<u8>, call: Call, fault: Option<&str>) {
    message.clear();
    let text = fault.unwrap_or("").as_bytes();
    put(message, &[call as u32, text.len() as u32]);
    put(message, text);
}

/// Fails if a rank is in another call or has a fault; the error names the lowest such rank.
pub(crate) fn check(all: &Gathered, call: Call) -> Result<(), Error> {
    for rank in 0..all.ranks() {
        let (number, fault) =
            read_head(&mut Reader::new(all.of(rank))).map_err(|Malformed| TransportError::Malformed { rank })?;
        if number != call as u32 {
            return Err(Error::Diverged { rank, found: Call::name_of(number), expected: call.name() });
        }
        if !fault.is_empty() {
            return Err(Error::Rank { rank, reason: String::from_utf8_lossy(fault).into_owned() });
        }
    }
    Ok(())
}

/// What follows the head of a rank's message, after [`check`].
pub(crate) fn body(all: &Gathered, rank: usize) -> Result<Reader<'_>, Error> {
    let mut reader = Reader::new(all.of(rank));
    read_head(&mut reader).map_err(|Malformed| TransportError::Malformed { rank })?;
    Ok(reader)
}

fn read_head<'a>(reader: &mut Reader<'a>) -> Result<(u32, &'a [u8]), Malformed> {
    let (number, length) = (reader.one()?, reader.one::<u32>()?);
    Ok((number, reader.bytes(length as usize)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_rank_with_a_fault_or_another_call_is_named() {
        let mut heads = Gathered::default();
        let mut message = Vec::new();
        head(&mut message, Call::Update, None);
        heads.push(&message);
        assert_eq!(check(&heads, Call::Update), Ok(()));
        head(&mut message, Call::Update, Some("object 3: a corner is NaN"));
        heads.push(&message);
        head(&mut message, Call::Plan, None);
        heads.push(&message);
        assert_eq!(check(&heads, Call::Update).unwrap_err().to_string(), "rank 1: object 3: a corner is NaN");
        let error = check(&heads, Call::Plan).unwrap_err().to_string();
        assert_eq!(error, "rank 0 called update while others called plan; all ranks must make the same calls");
        heads.push(&[1, 2]);
        assert!(check(&heads, Call::Update).is_err());
    }
}
