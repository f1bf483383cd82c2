// aider-gardener in OpenCode: what is said goes to the archive of the project, what a prompt needs comes back.
import { spawnSync } from "node:child_process"
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"

const COMMAND = ["gardener"]
const SECONDS = 10
// From so many tokens on an output is shown to the hook, which shortens it where it counts as many.
const LONG_TOKENS = Number(process.env.AIDER_GARDENER_THROTTLE_TOKENS) || 4000
const CHARS_A_TOKEN = 4
const WHOLE_BYTES = 4000000 // so much it shortens within its time

export const AiderGardener = async ({ client, directory }) => {
  const data = process.env.XDG_DATA_HOME || join(homedir(), ".local", "share")
  const folder = join(data, "aider-gardener", "opencode")

  function hook(event, session, more = {}) {
    const given = { hook_event_name: event, session_id: session, cwd: directory, host: "OpenCode", ...more }
    const [program, ...words] = [...COMMAND, "hook", event]
    const done = spawnSync(program, words, {
      cwd: directory, input: JSON.stringify(given), timeout: SECONDS * 1000, encoding: "utf8",
    })
    const unread = ["ENOENT", "ETIMEDOUT"].includes(done.error?.code)
    if (unread && more.transcript_path) rmSync(more.transcript_path, { force: true })
    try {
      return JSON.parse(done.stdout)?.hookSpecificOutput ?? {}
    } catch {
      return {}
    }
  }

  // The session as lines that the hook reads: a message each, a tool's call and its result in turn. Within a
  // `call` it ends before the message that is not complete, and has a name of its own: the hook removes it when
  // it has read it, which may be later than the next one is written.
  async function transcript(session, call = "") {
    const { data } = await client.session.messages({ path: { id: session } })
    const running = call ? data.findIndex(({ info }) => info.role === "assistant" && !info.time?.completed) : -1
    const messages = running < 0 ? data : data.slice(0, running)
    const lines = []
    const put = (role, content, info, number) =>
      lines.push(JSON.stringify({
        type: role, uuid: `${info.id}-${number}`, sessionId: session, cwd: directory,
        timestamp: new Date(info.time?.created ?? Date.now()).toISOString(), message: { role, content },
      }))
    for (const { info, parts } of messages) {
      for (const [number, part] of parts.entries()) {
        if (part.type === "text" && !part.synthetic) {
          put(info.role, [{ type: "text", text: part.text }], info, number)
        } else if (part.type === "tool" && ["completed", "error"].includes(part.state?.status)) {
          const name = part.tool === "bash" ? "Bash" : part.tool
          put("assistant", [{ type: "tool_use", id: part.callID, name, input: part.state.input }], info, number)
          const content = [{ type: "tool_result", tool_use_id: part.callID, content: part.state.output ?? part.state.error }]
          put("user", content, info, `${number}r`)
        }
      }
    }
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const path = join(folder, `${`${session}${call}`.replace(/\W/g, "_")}.jsonl`)
    writeFileSync(path, lines.map((line) => `${line}\n`).join(""), { mode: 0o600 })
    return path
  }

  // An output as a result of Claude Code's tool; of a long one OpenCode hands on the end and keeps the whole in a file.
  function resultOf({ output, metadata }) {
    if (!metadata?.truncated) return { stdout: output }
    try {
      if (statSync(metadata.outputPath).size <= WHOLE_BYTES) return { stdout: readFileSync(metadata.outputPath, "utf8") }
    } catch {} // it is not there
    return { stdout: output, persistedOutputPath: metadata.outputPath ?? "" }
  }

  return {
    event: async ({ event }) => {
      const session = event.properties?.sessionID
      if (event.type === "session.idle" && session) {
        const path = await transcript(session).catch(() => "") // a fault of ours is none of the host's
        if (path) hook("Stop", session, { transcript_path: path })
      }
    },
    "chat.message": async (input, output) => {
      const text = output.parts.filter((part) => part.type === "text").map((part) => part.text).join("\n")
      const found = text && hook("UserPromptSubmit", input.sessionID, { prompt: text }).additionalContext
      if (found) {
        const id = `prt_gardener${Date.now().toString(36)}`
        const own = { id, sessionID: input.sessionID, messageID: output.message.id }
        output.parts.push({ ...own, type: "text", text: found, synthetic: true })
      }
    },
    "tool.execute.after": async (input, output) => {
      if (input.tool !== "bash" || !(output.output?.length > CHARS_A_TOKEN * LONG_TOKENS)) return
      const path = await transcript(input.sessionID, input.callID).catch(() => "")
      if (!path) return
      const short = hook("PostToolUse", input.sessionID, {
        transcript_path: path, tool_name: "Bash", tool_input: input.args, tool_response: resultOf(output),
      }).updatedToolOutput?.stdout
      if (short) output.output = short
    },
  }
}
