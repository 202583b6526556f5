/** The sections about what the agent may do: each key as it is meant, and what holds when it cannot be read. */
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Redacted from "effect/Redacted"
import { Settings, type SettingsValue } from "../../../src/services/Settings.ts"
import { settingsHome, type Home } from "../../support/SettingsHome.ts"

const valueOf = (home: Home) =>
  Effect.flatMap(Settings, ({ current }) => current).pipe(Effect.provide(settingsHome(home)))

interface Case {
  readonly config: string
  readonly value?: Partial<SettingsValue>
  readonly absent?: ReadonlyArray<keyof SettingsValue>
  readonly warnings?: ReadonlyArray<RegExp>
  /** How many of the warnings each session is told. */
  readonly lost?: number
}

const cases: Readonly<Record<string, Case>> = {
  "a sandbox profile": { config: '[sandbox]\nprofile = "strict"', value: { sandboxProfile: "strict" } },
  "a profile that is none confines all the same": {
    config: '[sandbox]\nprofile = "strickt"',
    value: { sandboxProfile: "strict" },
    warnings: [/sandbox\.profile must be one of "off", .*; the profile is "strict" until this is corrected$/]
  },
  "a misspelt profile is named": {
    config: '[sandbox]\nprofil = "off"',
    value: { sandboxProfile: "strict" },
    warnings: [/sandbox\.profil is not read; did you mean profile\? Until this is corrected, the profile is "strict"$/],
    lost: 1
  },
  "a misspelt section of the sandbox confines all the same": {
    config: '[sandbx]\nprofile = "strict"',
    value: { sandboxProfile: "strict" },
    warnings: [/sandbx is not read: .*; did you mean \[sandbox\]\? Until this is corrected, the profile is "strict"$/],
    lost: 1
  },
  "so does a key that stands where no section is": {
    config: 'sandbox_profile = "read-only"',
    value: { sandboxProfile: "strict" },
    warnings: [/sandbox_profile is not read: .*; did you mean \[sandbox\]\? Until this is corrected/],
    lost: 1
  },
  "so does a list of sections": {
    config: '[[sandbox]]\nprofile = "workspace"',
    value: { sandboxProfile: "strict" },
    warnings: [/sandbox must be a table; write \[sandbox\] and its keys below; the profile is "strict" until/]
  },
  "a profile that can be read holds, whatever else is written": {
    config: '[sandbox]\nprofile = "off"\nprofle = "strict"\nnet = 1\n[sandbx]',
    value: { sandboxProfile: "off" },
    warnings: [/did you mean \[sandbox\]\?$/, /did you mean profile\?$/, /sandbox\.net is not read; the only key/],
    lost: 3
  },
  "a key of the sandbox that means nothing changes nothing": {
    config: "[sandbox]\nnet = false",
    absent: ["sandboxProfile"],
    warnings: [/sandbox\.net is not read; the only key is profile$/],
    lost: 1
  },
  "misspelt keys are named, and told in each session where they were to confine something": {
    config: [
      "[toolset.web_fetch]",
      'allowed_domain = ["example.org"]',
      "[toolset.bash]",
      "timeout_sec = 3",
      "[toolset.bsh]",
      "[tools]",
      "respect_git = true",
      "[agent]",
      'harnes = "x"',
      "[ui]",
      'theme = "dark"',
      'permision_mode = "plan"',
      "[mcp]",
      "disabled_mcp_servers = []",
      "max_output = 3",
      "[folder_trust]",
      "enable = false",
      "[remote]",
      'execution_mode_celing = "plan"',
      "[auth]",
      "require = true",
      "[cli]",
      "colour = true"
    ].join("\n"),
    value: { folderTrust: true },
    warnings: [
      /toolset\.bsh is not read; did you mean bash\?$/,
      /toolset\.bash\.timeout_sec is not read; did you mean timeout_secs\?$/,
      /toolset\.web_fetch\.allowed_domain is not read; did you mean allowed_domains\?$/,
      /tools\.respect_git is not read; did you mean respect_gitignore\?$/,
      /agent\.harnes is not read; did you mean harness\?$/,
      /folder_trust\.enable is not read; did you mean enabled\?$/,
      /ui\.permision_mode is not read; did you mean permission_mode\?$/,
      /mcp\.disabled_mcp_servers is not read here; write it above every section$/,
      /mcp\.max_output is not read; did you mean max_output_bytes\?$/,
      /remote\.execution_mode_celing is not read; did you mean execution_mode_ceiling\?$/,
      /auth\.require is not read; did you mean required\?$/
    ],
    lost: 3
  },
  "a section that is none is told once": {
    config: 'sandbox = "off"\ntoolset = 3',
    value: { sandboxProfile: "strict" },
    warnings: [
      /toolset must be a table; .*; the value is ignored$/,
      /sandbox must be a table; write \[sandbox\] and its keys below; the profile is "strict" until this is corrected$/
    ]
  },
  "keys of a server that nobody reads": {
    config: '[mcp_servers.x]\ncommand = "x"\nheader = { A = "secret" }\ncwd = "/secret"',
    warnings: [/x\.header is not read; did you mean headers\?$/, /x\.cwd is not read; the keys are command, args, /]
  },
  "rules as tables": {
    config:
      '[permission]\nrules = [{ action = "deny", tool = "bash", pattern = "rm *" }, { action = "allow", tool = "webfetch", pattern = "domain:example.org" }, { action = "ask", tool = "edit" }]',
    value: {
      permission: { allow: ["WebFetch(domain:example.org)"], ask: ["Edit"], deny: ["Bash(rm *)"] }
    }
  },
  "a table that is no rule is told in each session, unless it only allows": {
    config: '[permission]\nrules = [{ action = "deny", tool = "shell" }, { action = "allow", tool = "shell" }]',
    warnings: [/permission\.rules\[0\] must be a rule such as/, /permission\.rules\[1\] must be a rule such as/],
    lost: 1
  },
  "tools and modes": {
    config: [
      "[toolset.bash]",
      "timeout_secs = 30",
      "process_limit = 64",
      "[toolset.web_fetch]",
      'allowed_domains = ["example.org"]',
      "allow_local = true",
      "[ui]",
      'permission_mode = "acceptEdits"',
      "remember_tool_approvals = false",
      "[tools]",
      "respect_gitignore = false",
      "[agent]",
      'harness = "super-pi-planner"',
      "[folder_trust]",
      "enabled = false",
      "[mcp]",
      "max_output_bytes = 5000"
    ].join("\n"),
    value: {
      commandTimeout: Duration.seconds(30),
      processLimit: 64,
      webFetch: { allowedDomains: ["example.org"], allowLocal: true },
      mode: "accept-edits",
      rememberApprovals: false,
      respectGitignore: false,
      harness: "super-pi-planner",
      folderTrust: false,
      mcpOutputLimit: 5000
    }
  },
  "what cannot be read errs on the safe side": {
    config: [
      "[toolset.web_fetch]",
      "allowed_domains = 5",
      "[ui]",
      'remember_tool_approvals = "yes"',
      'permission_mode = "yolo"',
      "[folder_trust]",
      'enabled = "no"'
    ].join("\n"),
    value: { webFetch: { allowedDomains: [], allowLocal: false }, rememberApprovals: false, folderTrust: true },
    warnings: [
      /ui\.permission_mode/,
      /toolset\.web_fetch\.allowed_domains/,
      /ui\.remember_tool/,
      /folder_trust\.enabled/
    ]
  },
  servers: {
    config: [
      "disabled_mcp_servers = ['off']",
      "[mcp_servers.files]",
      'command = "npx"',
      'args = ["-y", "server"]',
      'env = { TOKEN = "secret" }',
      "startup_timeout_sec = 3",
      "tool_timeout_sec = 60",
      "tool_timeouts = { slow = 900 }",
      "[mcp_servers.remote]",
      'url = "https://example.org/mcp"',
      'headers = { Authorization = "Bearer x" }',
      "[mcp_servers.old]",
      'url = "https://example.org/sse"',
      'type = "sse"',
      "[mcp_servers.off]",
      'command = "x"',
      "[mcp_servers.sleeping]",
      'command = "x"',
      "enabled = false"
    ].join("\n"),
    value: {
      mcpServers: [
        {
          spec: {
            _tag: "Stdio",
            name: "files",
            command: "npx",
            args: ["-y", "server"],
            env: [{ name: "TOKEN", value: Redacted.make("secret") }]
          },
          place: "config.toml: mcp_servers.files",
          startupTimeout: Duration.seconds(3),
          toolTimeout: Duration.seconds(60),
          toolTimeouts: { slow: Duration.seconds(900) }
        },
        {
          spec: {
            _tag: "Http",
            name: "remote",
            url: "https://example.org/mcp",
            headers: [{ name: "Authorization", value: Redacted.make("Bearer x") }]
          },
          place: "config.toml: mcp_servers.remote",
          toolTimeouts: {}
        },
        {
          spec: { _tag: "Sse", name: "old", url: "https://example.org/sse", headers: [] },
          place: "config.toml: mcp_servers.old",
          toolTimeouts: {}
        }
      ]
    }
  },
  "servers that cannot be followed are left out, without a word of their values": {
    config: [
      "[mcp_servers.nothing]",
      "[mcp_servers.both]",
      'command = "x"',
      'url = "https://example.org"',
      "[mcp_servers.odd]",
      'command = ["secret"]',
      "[mcp_servers.ftp]",
      'url = "ftp://secret"',
      '[mcp_servers."no name"]',
      'command = "x"'
    ].join("\n"),
    value: { mcpServers: [] },
    warnings: [
      /needs a command to start, or a url/,
      /can be only one/,
      /odd\.command must be/,
      /ftp\.url must be/,
      /is no name/
    ]
  },
  hooks: {
    config: [
      "[[hooks.PreToolUse]]",
      'matcher = "Bash"',
      'hooks = [{ type = "command", command = "./check", timeout = 2 }, { url = "http://127.0.0.1:1/h", advisory = true }]',
      "[[hooks.Stop]]",
      'command = "./done"',
      'env = { A = "1" }'
    ].join("\n"),
    value: {
      hooks: [
        {
          event: "PreToolUse",
          matcher: "Bash",
          action: { _tag: "Command", command: "./check" },
          timeout: Duration.seconds(2),
          advisory: false,
          environment: {},
          source: "config.toml"
        },
        {
          event: "PreToolUse",
          matcher: "Bash",
          action: { _tag: "Http", url: "http://127.0.0.1:1/h" },
          advisory: true,
          environment: {},
          source: "config.toml"
        },
        {
          event: "Stop",
          action: { _tag: "Command", command: "./done" },
          advisory: false,
          environment: { A: Redacted.make("1") },
          source: "config.toml"
        }
      ]
    }
  },
  "a hook whose matcher is no pattern hears of every tool, and that is told": {
    config: '[[hooks.PreToolUse]]\nmatcher = "("\ncommand = "x"',
    value: {
      hooks: [
        {
          event: "PreToolUse",
          action: { _tag: "Command", command: "x" },
          advisory: false,
          environment: {},
          source: "config.toml"
        }
      ]
    },
    warnings: [/matcher must be the name of a tool or a pattern of names/],
    lost: 1
  },
  "a matcher that is no pattern lets its whole list hear of every tool": {
    config: '[[hooks.PreToolUse]]\nmatcher = "["\nhooks = [{ command = "x" }]',
    value: {
      hooks: [
        {
          event: "PreToolUse",
          action: { _tag: "Command", command: "x" },
          advisory: false,
          environment: {},
          source: "config.toml"
        }
      ]
    },
    warnings: [/matcher must be .*; until then the hook hears of every tool$/],
    lost: 1
  },
  "events of other agents are no alarm, and keys that nobody reads neither": {
    config: '[[hooks.PreCompact]]\ncommand = "x"\n[[hooks.Stop]]\ncommand = "x"\ntimeot = 3\n[[hooks.Wednesday]]',
    warnings: [
      /PreCompact never happens here; the events are /,
      /Wednesday is no event; /,
      /timeot is not read; did you mean timeout\?/
    ]
  },
  "a hook with two ways to run": {
    config: '[[hooks.Stop]]\ncommand = "x"\nurl = "http://h/"',
    value: { hooks: [] },
    warnings: [/hooks\.Stop\[0\] has a command and a url, and can be only one of them; it does not run$/],
    lost: 1
  },
  "hooks that cannot be read are told in each session": {
    config: '[[hooks.PreToolUze]]\ncommand = "x"\n[[hooks.PreToolUse]]\nmatcher = "Bash"\n[[hooks.Stop]]\ncommand = 5',
    warnings: [
      /hooks\.PreToolUze is no event; did you mean PreToolUse\?/,
      /needs a command, or a url/,
      /command must be/,
      /needs a command/
    ],
    lost: 4
  }
}

describe("settings", () => {
  for (const [name, { absent = [], config, lost = 0, value = {}, warnings = [] }] of Object.entries(cases)) {
    it.effect(name, () =>
      Effect.gen(function* () {
        const found = yield* valueOf({ config })
        for (const [key, wanted] of Object.entries(value)) {
          const plain = JSON.parse(JSON.stringify(found[key as keyof SettingsValue] ?? null, hide))
          assert.deepStrictEqual(plain, JSON.parse(JSON.stringify(wanted, hide)), key)
        }
        for (const key of absent) assert.isUndefined(found[key], key)
        assert.strictEqual(found.warnings.length, warnings.length, found.warnings.join("\n"))
        warnings.forEach((warning, at) => assert.match(found.warnings[at] ?? "", warning))
        assert.strictEqual(found.lostRules.length, lost)
        assert.notMatch(found.warnings.join("\n"), /secret/)
      })
    )
  }

  it.effect("flags win over the file, and add to its rules", () =>
    Effect.gen(function* () {
      const value = yield* valueOf({
        config:
          '[sandbox]\nprofile = "off"\n[agent]\nharness = "a"\n[ui]\npermission_mode = "plan"\n[permission]\ndeny = ["Edit"]',
        flags: { sandbox: "strict", harness: "b", mode: "auto", deny: ["Bash(rm *)"], allow: ["Read"], trust: true }
      })
      assert.deepInclude(value, { sandboxProfile: "strict", harness: "b", mode: "auto", folderTrust: false })
      assert.deepStrictEqual(value.permission, { allow: ["Read"], ask: [], deny: ["Edit", "Bash(rm *)"] })
    })
  )

  it.effect("files of hooks beside it count, and are read again when they change", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const { current, home } = yield* Settings
      assert.deepStrictEqual((yield* current).hooks, [])
      yield* fs.makeDirectory(`${home}/hooks`, { recursive: true })
      const hook = { hooks: { PreToolUse: [{ matcher: "Bash", hooks: [{ type: "command", command: "./a" }] }] } }
      yield* fs.writeFileString(`${home}/hooks/a.json`, JSON.stringify(hook))
      assert.deepStrictEqual(
        (yield* current).hooks.map(({ action, source }) => [action, source]),
        [[{ _tag: "Command", command: "./a" }, `${home}/hooks/a.json`]]
      )
      yield* fs.writeFileString(`${home}/hooks/b.json`, "{")
      const broken = yield* current
      assert.strictEqual(broken.hooks.length, 1)
      assert.match(broken.lostRules.join(), /b\.json is no JSON object, so none of its hooks runs/)
      yield* fs.writeFileString(`${home}/hooks/a.json`, "{ half")
      const kept = yield* current
      assert.strictEqual(kept.hooks.length, 1, "a guard does not go away while its file is edited")
      assert.match(kept.warnings.join("\n"), /a\.json is no JSON object.*Until then its last good content holds/)
      yield* fs.remove(`${home}/hooks/a.json`)
      assert.deepStrictEqual((yield* current).hooks, [])
      yield* fs.remove(`${home}/hooks`, { recursive: true })
      yield* fs.writeFileString(`${home}/hooks`, "")
      assert.match(
        (yield* current).lostRules.join(),
        /hooks cannot be read \(ENOTDIR\); make it a folder .* no hook of it runs/
      )
    }).pipe(Effect.provide(settingsHome()))
  )
})

/** Secrets compare by their values, and the home folder is another one in each run. */
function hide(key: string, value: unknown): unknown {
  if (Redacted.isRedacted(value)) return Redacted.value(value)
  return (key === "source" || key === "place") && typeof value === "string"
    ? value.slice(value.lastIndexOf("/") + 1)
    : value
}
