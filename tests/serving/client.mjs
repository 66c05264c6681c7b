// A client by the official SDK: lists, searches, and calls what it found.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const args = ["serve", "--config", process.argv[2], "--retriever", "lexical"];
const client = new Client({ name: "test", version: "1" });
await client.connect(new StdioClientTransport({ command: process.env.TOOLKIT, args, env: process.env, stderr: "ignore" }));
const listed = (await client.listTools()).tools.map((tool) => tool.name);
const answer = await client.callTool({ name: "tools_search", arguments: { query: "add two numbers" } });
const found = JSON.parse(answer.content[0].text.split("\n")[0]).name;
const sum = await client.callTool({ name: "tools_call", arguments: { name: found, arguments: { a: 1, b: 2 } } });
console.log(JSON.stringify({ listed, found, sum: sum.content[0].text }));
await client.close();
