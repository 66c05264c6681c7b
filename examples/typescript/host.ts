// A host in TypeScript asks the selector once a turn, and its search tool whenever the model searches.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

type Selected = { declared: string[]; searchable: string[]; notices: string[] };
type Found = { hits: { name: string; score: number }[]; matched: number };
type Waiting = { resolve: (result: any) => void; reject: (error: Error) => void };

class SelectorServer {
  private waiting = new Map<number, Waiting>();
  private process = spawn(process.env.TOOLKIT ?? "toolkit", ["selector-server", "--selector", "lazy", "--retriever", "lexical"],
    { stdio: ["pipe", "pipe", "inherit"] });
  private next = 1;

  constructor() {
    createInterface({ input: this.process.stdout }).on("line", (line) => {
      const { id, result, error } = JSON.parse(line);
      const asked = this.waiting.get(id);
      this.waiting.delete(id);
      error ? asked?.reject(new Error(error.message)) : asked?.resolve(result);
    });
  }

  ask<T>(method: string, params: object = {}): Promise<T> {
    const id = this.next++;
    this.process.stdin.write(JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\n");
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
  }
}

const tools = [
  { name: "builtin.read_file", description: "Reads a file." },
  { name: "mcp.github.close_issue", description: "Closes an issue." },
  { name: "mcp.github.list_issues", description: "Lists the issues of a repository." },
];
const server = new SelectorServer();
await server.ask("initialize", { version: 1, tools });
const offer = await server.ask<Selected>("select", { turn_input: "close issue 7", deadline_ms: 500 });
const found = await server.ask<Found>("search", { query: "close an issue", searchable: offer.searchable });
console.log(JSON.stringify({ declared: offer.declared, found: found.hits.map((hit) => hit.name) }));
await server.ask("shutdown");
