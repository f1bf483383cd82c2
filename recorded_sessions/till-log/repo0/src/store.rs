//! The store: an index in memory over the log on disk.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::record::Record;

pub struct Store {
    path: PathBuf,
    file: File,
    index: BTreeMap<Vec<u8>, Vec<u8>>,
    pub records: usize,
}

impl Store {
    pub fn open(path: &Path) -> io::Result<Store> {
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let mut index = BTreeMap::new();
        let (mut at, mut records) = (0, 0);
        while at < bytes.len() {
            let (record, size) = Record::decode(&bytes[at..]).unwrap();
            if let Some(value) = record.value {
                index.insert(record.key, value);
            }
            at += size;
            records += 1;
        }
        Ok(Store { path: path.to_path_buf(), file, index, records })
    }

    pub fn get(&self, key: &[u8]) -> Option<&[u8]> {
        self.index.get(key).map(Vec::as_slice)
    }

    pub fn set(&mut self, key: &[u8], value: &[u8]) -> io::Result<()> {
        self.append(Record { key: key.to_vec(), value: Some(value.to_vec()) })?;
        self.index.insert(key.to_vec(), value.to_vec());
        Ok(())
    }

    pub fn remove(&mut self, key: &[u8]) -> io::Result<bool> {
        if self.index.remove(key).is_none() {
            return Ok(false);
        }
        self.append(Record { key: key.to_vec(), value: None })?;
        Ok(true)
    }

    pub fn len(&self) -> usize {
        self.index.len()
    }

    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    fn append(&mut self, record: Record) -> io::Result<()> {
        self.file.write_all(&record.encode())?;
        self.records += 1;
        Ok(())
    }

    /// Write only what still holds to a new file and put it in the place of the old one.
    pub fn compact(&mut self) -> io::Result<()> {
        let beside = self.path.with_extension("tmp");
        let mut file = File::create(&beside)?;
        for (key, value) in &self.index {
            file.write_all(&Record { key: key.clone(), value: Some(value.clone()) }.encode())?;
        }
        std::fs::rename(&beside, &self.path)?;
        self.records = self.index.len();
        Ok(())
    }
}
