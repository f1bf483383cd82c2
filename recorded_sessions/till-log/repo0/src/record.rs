//! One record of the log, as bytes and back.

use crate::crc::crc32;

pub const HEADER: usize = 10;
pub const REMOVED: u32 = 0xFFFF_FFFF;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    pub key: Vec<u8>,
    /// None where the key was removed.
    pub value: Option<Vec<u8>>,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Fault {
    /// The bytes end within the record.
    Truncated,
    /// The checksum does not fit.
    Corrupt,
}

impl Record {
    pub fn encode(&self) -> Vec<u8> {
        let length = self.value.as_ref().map_or(REMOVED, |value| value.len() as u32);
        let mut body = Vec::with_capacity(HEADER + self.key.len());
        body.extend((self.key.len() as u16).to_le_bytes());
        body.extend(length.to_le_bytes());
        body.extend(&self.key);
        if let Some(value) = &self.value {
            body.extend(value);
        }
        let mut bytes = crc32(&body).to_le_bytes().to_vec();
        bytes.extend(body);
        bytes
    }

    /// The record at the beginning of `bytes` and how many bytes it takes.
    pub fn decode(bytes: &[u8]) -> Result<(Record, usize), Fault> {
        if bytes.len() < HEADER {
            return Err(Fault::Truncated);
        }
        let _crc = u32::from_le_bytes(bytes[0..4].try_into().unwrap());
        let key_length = u16::from_le_bytes(bytes[4..6].try_into().unwrap()) as usize;
        let length = u32::from_le_bytes(bytes[6..10].try_into().unwrap());
        let value_length = length as usize;
        let end = HEADER + key_length + value_length;
        if bytes.len() < end {
            return Err(Fault::Truncated);
        }
        let key = bytes[HEADER..HEADER + key_length].to_vec();
        let value = bytes[HEADER + key_length..end].to_vec();
        Ok((Record { key, value: Some(value) }, end))
    }
}
