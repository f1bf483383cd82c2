//! An append-only key-value log.

pub mod crc;
pub mod record;
pub mod store;

pub use store::Store;
