use std::path::Path;
use std::process::ExitCode;

use slate::Store;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut store = match words.first().map(|path| Store::open(Path::new(path))) {
        Some(Ok(store)) => store,
        Some(Err(problem)) => {
            eprintln!("slate: {problem}");
            return ExitCode::from(4);
        }
        None => {
            eprintln!("usage: slate FILE get|set|rm|stat|compact [KEY [VALUE]]");
            return ExitCode::from(2);
        }
    };
    match words[1..] {
        ["get", key] => match store.get(key.as_bytes()) {
            Some(value) => println!("{}", String::from_utf8_lossy(value)),
            None => return ExitCode::from(1),
        },
        ["set", key, value] => store.set(key.as_bytes(), value.as_bytes()).unwrap(),
        ["rm", key] => return ExitCode::from(u8::from(!store.remove(key.as_bytes()).unwrap())),
        ["stat"] => println!("keys {} records {}", store.len(), store.records),
        ["compact"] => store.compact().unwrap(),
        _ => return ExitCode::from(2),
    }
    ExitCode::SUCCESS
}
