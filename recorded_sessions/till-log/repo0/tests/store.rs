use std::fs;
use std::path::PathBuf;

use slate::record::{Fault, Record};
use slate::Store;

fn place(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("slate-{}-{name}", std::process::id()));
    let _ = fs::remove_file(&path);
    path
}

#[test]
fn what_was_set_is_there_after_reopening() {
    let path = place("reopen");
    let mut store = Store::open(&path).unwrap();
    store.set(b"till-1", b"open").unwrap();
    store.set(b"till-2", b"closed").unwrap();
    drop(store);
    let store = Store::open(&path).unwrap();
    assert_eq!(store.get(b"till-1"), Some(&b"open"[..]));
    assert_eq!(store.len(), 2);
}

#[test]
fn a_removed_key_stays_removed_after_reopening() {
    let path = place("removed");
    let mut store = Store::open(&path).unwrap();
    store.set(b"receipt-991", b"x").unwrap();
    assert!(store.remove(b"receipt-991").unwrap());
    drop(store);
    let store = Store::open(&path).unwrap();
    assert_eq!(store.get(b"receipt-991"), None);
}

#[test]
fn a_flipped_bit_is_found() {
    let mut bytes = Record { key: b"k".to_vec(), value: Some(b"value".to_vec()) }.encode();
    *bytes.last_mut().unwrap() ^= 1;
    assert_eq!(Record::decode(&bytes).unwrap_err(), Fault::Corrupt);
}

#[test]
fn a_record_survives_the_round_trip() {
    for value in [None, Some(vec![]), Some(vec![0u8; 70_000])] {
        let record = Record { key: b"key".to_vec(), value };
        let bytes = record.encode();
        assert_eq!(Record::decode(&bytes), Ok((record, bytes.len())));
    }
}

#[test]
fn a_torn_tail_is_cut_off_and_the_rest_kept() {
    let path = place("torn");
    let mut store = Store::open(&path).unwrap();
    store.set(b"a", b"1").unwrap();
    store.set(b"b", b"2").unwrap();
    drop(store);
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() - 3]).unwrap();
    let mut store = Store::open(&path).unwrap();
    assert_eq!((store.len(), store.get(b"b")), (1, None));
    store.set(b"c", b"3").unwrap();
    drop(store);
    assert_eq!(Store::open(&path).unwrap().get(b"c"), Some(&b"3"[..]));
}

#[test]
fn writes_after_a_compaction_are_not_lost() {
    let path = place("compact");
    let mut store = Store::open(&path).unwrap();
    for n in 0..20u8 {
        store.set(b"counter", &[n]).unwrap();
    }
    store.compact().unwrap();
    store.set(b"late", b"yes").unwrap();
    drop(store);
    let store = Store::open(&path).unwrap();
    assert_eq!(store.get(b"late"), Some(&b"yes"[..]));
    assert_eq!((store.len(), store.records), (2, 2));
}
