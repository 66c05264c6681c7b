//! A host in Rust asks the selector once a turn, and its search tool whenever the model searches.
use serde_json::{json, Value};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

struct SelectorServer {
    process: Child,
    asks: ChildStdin,
    answers: BufReader<ChildStdout>,
    next: u64,
}

impl SelectorServer {
    fn start() -> std::io::Result<Self> {
        let program = std::env::var("TOOLKIT").unwrap_or("toolkit".into());
        let mut process = Command::new(program)
            .args(["selector-server", "--selector", "lazy", "--retriever", "lexical"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let asks = process.stdin.take().expect("a pipe");
        let answers = BufReader::new(process.stdout.take().expect("a pipe"));
        Ok(Self { process, asks, answers, next: 1 })
    }

    fn ask(&mut self, method: &str, params: Value) -> Result<Value, Box<dyn std::error::Error>> {
        let request = json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params});
        self.next += 1;
        writeln!(self.asks, "{request}")?;
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        let mut answer: Value = serde_json::from_str(&line)?;
        match answer.get("error") {
            Some(error) => Err(error["message"].to_string().into()),
            None => Ok(answer["result"].take()),
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let tools = json!([
        {"name": "builtin.read_file", "description": "Reads a file."},
        {"name": "mcp.github.close_issue", "description": "Closes an issue."},
        {"name": "mcp.github.list_issues", "description": "Lists the issues of a repository."}
    ]);
    let mut server = SelectorServer::start()?;
    server.ask("initialize", json!({"version": 1, "tools": tools}))?;
    let offer = server.ask("select", json!({"turn_input": "close issue 7", "deadline_ms": 500}))?;
    let asked = json!({"query": "close an issue", "searchable": offer["searchable"]});
    let answer = server.ask("search", asked)?;
    let hits = answer["hits"].as_array().expect("a list");
    let found: Vec<&Value> = hits.iter().map(|hit| &hit["name"]).collect();
    println!("{}", json!({"declared": offer["declared"], "found": found}));
    server.ask("shutdown", json!({}))?;
    server.process.wait()?;
    Ok(())
}
